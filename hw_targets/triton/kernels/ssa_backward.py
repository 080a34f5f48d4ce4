"""Backward pass of selective synchronization attention, plain rows, where S is symmetric.

One program owns a block of oscillators in both roles, as rows (targets) and as columns (sources), so every
gradient has one writer: no atomics, the same bits on every run.
"""

# pyright: reportGeneralTypeIssues=false
# (what a jit function returns and what static_range yields exist only inside a kernel)

import triton
import triton.language as tl

from .ssa_forward import step_tile, tile_range
from .ssa_slope import WEIGHT_UNIT, by_weight_tile, plain_slopes, row_slopes, row_sum, slope_form
from .ssa_tile import (
    PULL,
    TABLE_WIDTH,
    UNIT,
    inner_products,
    joined,
    load_parts,
    rounded,
    split,
    weighted_sum,
)


@triton.jit
def attract(
    pull, moved, stride, columns, wide, pulled, attracted,
    WIDTH: tl.constexpr, MOVED: tl.constexpr, PRECISION: tl.constexpr, INTERPRETED: tl.constexpr,
):  # fmt: skip
    """Add ``sum_j M`` and ``sum_j M b_j``, both of the rounded M: what is lost moves no pair's difference."""
    other = load_parts(moved, stride, columns, wide, WIDTH, MOVED)
    pull = split(pull, moved.dtype.element_ty, MOVED, INTERPRETED)
    pulled = pulled + row_sum(joined(pull, MOVED))
    return pulled, weighted_sum(pull, other, attracted, MOVED, PRECISION, INTERPRETED)


@triton.jit
def store_vectors(
    pulled, attracted, by_value, moved, d_omega, d_values, head, rows, n, padded,
    CHANNELS: tl.constexpr, WIDTH: tl.constexpr, MOVED: tl.constexpr,
    VALUES: tl.constexpr, VALUE_WIDTH: tl.constexpr, INTERPRETED: tl.constexpr,
):  # fmt: skip
    """``d omega = sum_j M (b_own - b_other)`` and ``d V``."""
    wide = tl.arange(0, WIDTH)
    size = padded * WIDTH
    stride = tl.num_programs(1).to(tl.int64) * size
    own = joined(load_parts(moved + head * size, stride, rows, wide, WIDTH, MOVED), MOVED)
    inside = (rows < n)[:, None] & (wide[None, :] < CHANNELS)
    cell = (head * n + rows[:, None]) * CHANNELS + wide[None, :]
    tl.store(d_omega + cell, pulled[:, None] * own - attracted, mask=inside)
    wide = tl.arange(0, VALUE_WIDTH)
    inside = (rows < n)[:, None] & (wide[None, :] < VALUES)
    cell = (head * n + rows[:, None]) * VALUES + wide[None, :]
    by_value = rounded(by_value * (1.0 / WEIGHT_UNIT), d_values.dtype.element_ty, INTERPRETED)
    tl.store(d_values + cell, by_value, mask=inside)


@triton.jit
def store_sums(
    both, decayed, form, table, entry, by_radius, by_selectivity, head, rows, n, SHARE: tl.constexpr
):
    """Gradients by log c and w from ``sum_j q u`` and ``sum_j q u e^{-wu}``, q = dL/dS / S (fused.py)."""
    _, decay, steep, flat = form
    pull = tl.load(table + entry + PULL)
    safe = tl.where(pull < 0.0, pull, -1.0)
    both = both * SHARE
    decayed = decayed * SHARE
    radius = tl.where(pull < 0.0, -(steep * decayed + flat * both) / safe, 0.0)
    tl.store(by_radius + head * n + rows, radius, mask=rows < n)
    tl.store(by_selectivity + head * n + rows, 0.5 * (decay * both - decayed), mask=rows < n)


@triton.jit
def ssa_backward_symmetric(
    column, moved, column_norm, level, table, values, gradient, weight, shift, row_start, row_columns,
    d_omega, d_values, by_radius, by_selectivity, n, padded, eps,
    PARTS: tl.constexpr, PRECISION: tl.constexpr, PRODUCT: tl.constexpr, MOVED: tl.constexpr,
    EDGE: tl.constexpr, SPARSE: tl.constexpr, CHANNELS: tl.constexpr, WIDTH: tl.constexpr,
    VALUE_PARTS: tl.constexpr, VALUES: tl.constexpr, VALUE_WIDTH: tl.constexpr, INTERPRETED: tl.constexpr,
    MAP_M: tl.constexpr, MAP_N: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
):  # fmt: skip
    """Full mask, one strength per head, no dropout: one pass serves both roles. Grid (blocks, B H).

    Five products a step: z, g V', V g', S g, M b. Sums by radius and selectivity take half of each pair's
    two terms, which adds up to the head's sum. A row that is not plain takes part as a source.
    """
    head = tl.program_id(1).to(tl.int64)
    tile = tl.program_id(0)
    rows = tile * BLOCK_M + tl.arange(0, BLOCK_M)
    wide = tl.arange(0, WIDTH)
    value_wide = tl.arange(0, VALUE_WIDTH)
    stat = head * padded
    tokens = tl.num_programs(1).to(tl.int64) * padded
    base = stat * WIDTH
    value_base = stat * VALUE_WIDTH
    form = slope_form(table, head * TABLE_WIDTH, False, 0)
    own_weight, own_shift = row_slopes(weight, shift, level, stat + rows, 0, 1)
    own_bias = UNIT - tl.load(column_norm + stat + rows)[:, None]
    own = load_parts(column + base, tokens * WIDTH, rows, wide, WIDTH, PARTS)
    v = load_parts(values + value_base, tokens * VALUE_WIDTH, rows, value_wide, VALUE_WIDTH, VALUE_PARTS)
    g = load_parts(gradient + value_base, tokens * VALUE_WIDTH, rows, value_wide, VALUE_WIDTH, VALUE_PARTS)
    pulled = tl.full((BLOCK_M,), 0.0, tl.float32)
    both = tl.full((BLOCK_M,), 0.0, tl.float32)
    decayed = tl.full((BLOCK_M,), 0.0, tl.float32)
    attracted = tl.full((BLOCK_M, WIDTH), 0.0, tl.float32)
    by_value = tl.full((BLOCK_M, VALUE_WIDTH), 0.0, tl.float32)
    listed = head * ((n + MAP_M - 1) // MAP_M) + tile // (MAP_M // BLOCK_M)
    begin, end = tile_range(row_start, listed, n, SPARSE, MAP_N // BLOCK_N, BLOCK_N)
    for k in range(begin, end):
        columns = step_tile(row_columns, k, SPARSE, MAP_N // BLOCK_N) * BLOCK_N + tl.arange(0, BLOCK_N)
        far = load_parts(column + base, tokens * WIDTH, columns, wide, WIDTH, PARTS)
        bias = own_bias - tl.load(column_norm + stat + columns)[None, :]
        z = inner_products(own, far, bias, PARTS, PRECISION, INTERPRETED)
        mismatch, coupling, s, inverse = plain_slopes(z, form, eps, EDGE)
        far_v = load_parts(
            values + value_base, tokens * VALUE_WIDTH, columns, value_wide, VALUE_WIDTH, VALUE_PARTS
        )
        far_g = load_parts(
            gradient + value_base, tokens * VALUE_WIDTH, columns, value_wide, VALUE_WIDTH, VALUE_PARTS
        )
        far_weight, far_shift = row_slopes(weight, shift, level, stat + columns, 0, 1)
        q = by_weight_tile(
            g, far_v, own_weight[:, None], own_shift[:, None], True, 1.0,
            BLOCK_M, BLOCK_N, False, VALUE_PARTS, PRODUCT, INTERPRETED,
        )  # fmt: skip
        q += by_weight_tile(
            v, far_g, far_weight[None, :], far_shift[None, :], True, 1.0,
            BLOCK_M, BLOCK_N, False, VALUE_PARTS, PRODUCT, INTERPRETED,
        )  # fmt: skip
        q = q * inverse
        pulled, attracted = attract(
            q * (form[2] * coupling + form[3]), moved + base, tokens * WIDTH, columns, wide,
            pulled, attracted, WIDTH, MOVED, PRECISION, INTERPRETED,
        )  # fmt: skip
        q = q * mismatch
        both += row_sum(q)
        decayed += row_sum(q * coupling)
        s = split(
            s * (far_weight * WEIGHT_UNIT)[None, :], gradient.dtype.element_ty, VALUE_PARTS, INTERPRETED
        )
        by_value = weighted_sum(s, far_g, by_value, VALUE_PARTS, PRODUCT, INTERPRETED)
    store_vectors(
        pulled, attracted, by_value, moved, d_omega, d_values, head, rows, n, padded,
        CHANNELS, WIDTH, MOVED, VALUES, VALUE_WIDTH, INTERPRETED,
    )  # fmt: skip
    store_sums(both, decayed, form, table, head * TABLE_WIDTH, by_radius, by_selectivity, head, rows, n, 0.5)
