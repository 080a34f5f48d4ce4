"""Backward pass of selective synchronization attention, what rows outside the rounding threshold add."""

# pyright: reportGeneralTypeIssues=false
# (what a jit function returns and what static_range yields exist only inside a kernel)

import triton
import triton.language as tl

from .ssa_forward import step_tile, tile_range
from .ssa_forward_careful import careful_square, valid_columns
from .ssa_operands import CAREFUL
from .ssa_slope import WEIGHT_UNIT, by_weight_tile, keep_tile, row_slopes, row_sum, sync_and_inverse
from .ssa_tile import (
    COUPLED,
    DECAY,
    EXPONENT,
    HALF_LOG_2,
    STEEPNESS,
    TABLE_WIDTH,
    direct_mismatch,
    load_parts,
    parameter,
    rounded,
    split,
    weighted_sum,
)


@triton.jit
def careful_slopes(
    squared, largest, table, entry, eps, EDGE: tl.constexpr, PER_ROW: tl.constexpr, AXIS: tl.constexpr
):
    """u, S, (1/2)(w e^{-wu} + e^{-w})/S and (e^{-w} - e^{-wu})/S; uncoupled rows have no slope."""
    mismatch, coupling, square = careful_square(squared, largest, table, entry, PER_ROW, AXIS)
    s, inverse = sync_and_inverse(square, eps, EDGE)
    coupled = parameter(table, entry, COUPLED, PER_ROW, AXIS) > 0.0
    inverse = tl.where(coupled, inverse, 0.0)
    decay = parameter(table, entry, DECAY, PER_ROW, AXIS)
    exponent = parameter(table, entry, EXPONENT, PER_ROW, AXIS)
    steep = inverse * (HALF_LOG_2 * exponent * coupling + 0.5 * decay)
    return mismatch, s, steep, inverse * (decay - coupling)


@triton.jit
def add_attraction(
    pull, omega, d_omega, scale, rows, columns, n,
    CHANNELS: tl.constexpr,
):  # fmt: skip
    """Add ``sum_j M_ij scale (omega_i - omega_j)`` to the own rows of d_omega, channel by channel.

    The block is the only writer of its rows; the barrier orders one tile's sums before the next one's.
    """
    for channel in range(CHANNELS):
        own = tl.load(omega + (rows * CHANNELS + channel), mask=rows < n, other=0.0)
        other = tl.load(omega + (columns * CHANNELS + channel), mask=columns < n, other=0.0)
        delta = ((own[:, None] - other[None, :]) * scale).to(tl.float32)
        added = row_sum(tl.where(pull != 0.0, pull * delta, 0.0))
        cell = d_omega + (rows * CHANNELS + channel)
        tl.store(cell, tl.load(cell, mask=rows < n, other=0.0) + added, mask=rows < n)
    tl.debug_barrier()


@triton.jit
def add_row_sums(total, added, head, rows, n):
    """Add to a (B H, N) array; only this program writes these rows."""
    cell = total + head * n + rows
    tl.store(cell, tl.load(cell, mask=rows < n, other=0.0) + added, mask=rows < n)


@triton.jit
def careful_target(
    omega, factor, level, table, values, gradient, weight, shift, words, row_start, row_columns,
    d_omega, by_radius, by_selectivity, head, tile, n, padded, eps, keep_scale,
    PER_ROW: tl.constexpr, PRODUCT: tl.constexpr, EDGE: tl.constexpr, CAUSAL: tl.constexpr,
    SPARSE: tl.constexpr, DROPOUT: tl.constexpr, CHANNELS: tl.constexpr, VALUE_PARTS: tl.constexpr,
    VALUE_WIDTH: tl.constexpr, INTERPRETED: tl.constexpr, MAP_M: tl.constexpr, MAP_N: tl.constexpr,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
):  # fmt: skip
    """The block's careful rows as targets, over all their sources."""
    rows = tile * BLOCK_M + tl.arange(0, BLOCK_M)
    value_wide = tl.arange(0, VALUE_WIDTH)
    stat = head * padded
    entry = ((stat + rows) if PER_ROW else head) * TABLE_WIDTH
    own_weight, own_shift = row_slopes(weight, shift, level, stat + rows, CAREFUL, CAREFUL)
    base = stat * VALUE_WIDTH
    stride = tl.num_programs(1).to(tl.int64) * padded * VALUE_WIDTH
    g = load_parts(gradient + base, stride, rows, value_wide, VALUE_WIDTH, VALUE_PARTS)
    radius = tl.full((BLOCK_M,), 0.0, tl.float32)
    sharpness = tl.full((BLOCK_M,), 0.0, tl.float32)
    pull_of_row = (-2.0 * factor) * parameter(table, entry, STEEPNESS, PER_ROW, 0)
    stop = tl.minimum(n, tile * BLOCK_M + BLOCK_M) if CAUSAL else n
    listed = head * ((n + MAP_M - 1) // MAP_M) + tile // (MAP_M // BLOCK_M)
    begin, end = tile_range(row_start, listed, stop, SPARSE, MAP_N // BLOCK_N, BLOCK_N)
    for k in range(begin, end):
        columns = step_tile(row_columns, k, SPARSE, MAP_N // BLOCK_N) * BLOCK_N + tl.arange(0, BLOCK_N)
        squared, largest = direct_mismatch(omega, factor, rows, columns, n, CHANNELS, BLOCK_M, BLOCK_N)
        mismatch, _, steep, sharp = careful_slopes(squared, largest, table, entry, eps, EDGE, PER_ROW, 0)
        v = load_parts(values + base, stride, columns, value_wide, VALUE_WIDTH, VALUE_PARTS)
        keep = keep_tile(words, head, rows[:, None], columns[None, :], DROPOUT)
        by_s = by_weight_tile(
            g, v, own_weight[:, None], own_shift[:, None], keep, keep_scale,
            BLOCK_M, BLOCK_N, DROPOUT, VALUE_PARTS, PRODUCT, INTERPRETED,
        )  # fmt: skip
        allowed = valid_columns(level + stat, columns, padded)[None, :]
        if CAUSAL:
            allowed = allowed & (columns[None, :] <= rows[:, None])
        by_s = tl.where(allowed & (own_weight[:, None] > 0.0), by_s, 0.0)
        pull = tl.where(by_s != 0.0, by_s * steep, 0.0)
        radius += row_sum(tl.where(pull != 0.0, pull * mismatch, 0.0))
        sharpness += row_sum(tl.where(pull != 0.0, by_s * mismatch * sharp, 0.0))
        add_attraction(pull * pull_of_row, omega, d_omega, factor, rows, columns, n, CHANNELS)
    add_row_sums(by_radius, -radius, head, rows, n)
    add_row_sums(by_selectivity, 0.5 * sharpness, head, rows, n)


@triton.jit
def careful_source(
    omega, factor, level, careful, table, values, gradient, weight, shift, words, column_start, column_rows,
    d_omega, d_values, head, tile, n, padded, eps, keep_scale,
    PER_ROW: tl.constexpr, PRODUCT: tl.constexpr, EDGE: tl.constexpr, CAUSAL: tl.constexpr,
    SPARSE: tl.constexpr, DROPOUT: tl.constexpr, CHANNELS: tl.constexpr, VALUE_PARTS: tl.constexpr,
    VALUES: tl.constexpr, VALUE_WIDTH: tl.constexpr, INTERPRETED: tl.constexpr,
    MAP_M: tl.constexpr, MAP_N: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
    LEVEL_BLOCK: tl.constexpr,
):  # fmt: skip
    """The block as source of all careful rows; steps without one are passed over."""
    rows = tile * BLOCK_M + tl.arange(0, BLOCK_M)
    value_wide = tl.arange(0, VALUE_WIDTH)
    stat = head * padded
    base = stat * VALUE_WIDTH
    stride = tl.num_programs(1).to(tl.int64) * padded * VALUE_WIDTH
    v = load_parts(values + base, stride, rows, value_wide, VALUE_WIDTH, VALUE_PARTS)
    by_value = tl.full((BLOCK_M, VALUE_WIDTH), 0.0, tl.float32)
    own = valid_columns(level + stat, rows, padded)[:, None]
    listed = head * ((n + MAP_N - 1) // MAP_N) + tile // (MAP_N // BLOCK_M)
    begin, end = tile_range(column_start, listed, n, SPARSE, MAP_M // BLOCK_N, BLOCK_N)
    if CAUSAL and not SPARSE:
        begin = tile * BLOCK_M // BLOCK_N
    for k in range(begin, end):
        step = step_tile(column_rows, k, SPARSE, MAP_M // BLOCK_N)
        flag = step // (LEVEL_BLOCK // BLOCK_N)
        if tl.load(careful + head * (padded // LEVEL_BLOCK) + flag) > 0:
            columns = step * BLOCK_N + tl.arange(0, BLOCK_N)
            entry = ((stat + columns) if PER_ROW else head) * TABLE_WIDTH
            squared, largest = direct_mismatch(omega, factor, rows, columns, n, CHANNELS, BLOCK_M, BLOCK_N)
            _, s, steep, _ = careful_slopes(squared, largest, table, entry, eps, EDGE, PER_ROW, 1)
            far_weight, far_shift = row_slopes(weight, shift, level, stat + columns, CAREFUL, CAREFUL)
            g = load_parts(gradient + base, stride, columns, value_wide, VALUE_WIDTH, VALUE_PARTS)
            keep = keep_tile(words, head, columns[None, :], rows[:, None], DROPOUT)
            by_s = by_weight_tile(
                v, g, far_weight[None, :], far_shift[None, :], keep, keep_scale,
                BLOCK_M, BLOCK_N, DROPOUT, VALUE_PARTS, PRODUCT, INTERPRETED,
            )  # fmt: skip
            allowed = own & (far_weight[None, :] > 0.0)
            if CAUSAL:
                allowed = allowed & (rows[:, None] <= columns[None, :])
            s = tl.where(allowed, s * (far_weight * WEIGHT_UNIT)[None, :], 0.0)
            if DROPOUT:
                s = tl.where(keep, s * keep_scale, 0.0)
            s = split(s, gradient.dtype.element_ty, VALUE_PARTS, INTERPRETED)
            by_value = weighted_sum(s, g, by_value, VALUE_PARTS, PRODUCT, INTERPRETED)
            pull = tl.where(allowed & (by_s != 0.0), by_s * steep, 0.0)
            pull *= (-2.0 * factor) * parameter(table, entry, STEEPNESS, PER_ROW, 1)
            add_attraction(pull, omega, d_omega, factor, rows, columns, n, CHANNELS)
    inside = (rows < n)[:, None] & (value_wide[None, :] < VALUES)
    cell = d_values + ((head * n + rows[:, None]) * VALUES + value_wide[None, :])
    by_value = by_value * (1.0 / WEIGHT_UNIT) + tl.load(cell, mask=inside, other=0.0).to(tl.float32)
    tl.store(cell, rounded(by_value, d_values.dtype.element_ty, INTERPRETED), mask=inside)


@triton.jit
def ssa_backward_careful(
    omega, scale, level, careful, careful_in_head, table, values, gradient, weight, shift, words,
    row_start, row_columns, column_start, column_rows, d_omega, d_values, by_radius, by_selectivity,
    n, padded, eps, keep_scale,
    PER_ROW: tl.constexpr, PRODUCT: tl.constexpr, EDGE: tl.constexpr, CAUSAL: tl.constexpr,
    SPARSE: tl.constexpr, DROPOUT: tl.constexpr, CHANNELS: tl.constexpr, VALUE_PARTS: tl.constexpr,
    VALUES: tl.constexpr, VALUE_WIDTH: tl.constexpr, INTERPRETED: tl.constexpr,
    MAP_M: tl.constexpr, MAP_N: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
    LEVEL_BLOCK: tl.constexpr,
):  # fmt: skip
    """Add what careful rows contribute to the results of the plain kernel, launched before. Grid as there."""
    head = tl.program_id(1).to(tl.int64)
    tile = tl.program_id(0)
    if tl.load(careful_in_head + head) > 0:
        factor = tl.load(scale + head * 2 + 1)
        block = tile // (LEVEL_BLOCK // BLOCK_M)
        if tl.load(careful + head * (padded // LEVEL_BLOCK) + block) > 0:
            careful_target(
                omega + head * n * CHANNELS, factor, level, table, values, gradient, weight, shift, words,
                row_start, row_columns, d_omega + head * n * CHANNELS, by_radius, by_selectivity,
                head, tile, n, padded, eps, keep_scale,
                PER_ROW, PRODUCT, EDGE, CAUSAL, SPARSE, DROPOUT, CHANNELS, VALUE_PARTS, VALUE_WIDTH,
                INTERPRETED, MAP_M, MAP_N, BLOCK_M, BLOCK_N,
            )  # fmt: skip
        careful_source(
            omega + head * n * CHANNELS, factor, level, careful, table, values, gradient, weight, shift,
            words, column_start, column_rows, d_omega + head * n * CHANNELS, d_values,
            head, tile, n, padded, eps, keep_scale,
            PER_ROW, PRODUCT, EDGE, CAUSAL, SPARSE, DROPOUT, CHANNELS, VALUE_PARTS, VALUES, VALUE_WIDTH,
            INTERPRETED, MAP_M, MAP_N, BLOCK_M, BLOCK_N, LEVEL_BLOCK,
        )  # fmt: skip
