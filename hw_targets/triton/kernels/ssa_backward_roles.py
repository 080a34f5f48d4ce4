"""Backward pass of selective synchronization attention, plain rows, for any mask and any strengths."""

# pyright: reportGeneralTypeIssues=false
# (what a jit function returns and what static_range yields exist only inside a kernel)

import triton
import triton.language as tl

from .ssa_backward import attract, store_sums, store_vectors
from .ssa_forward import plain_bias, step_tile, tile_range
from .ssa_slope import WEIGHT_UNIT, by_weight_tile, keep_tile, plain_slopes, row_slopes, row_sum, slope_form
from .ssa_tile import NORM_WEIGHT, TABLE_WIDTH, inner_products, load_parts, parameter, split, weighted_sum


@triton.jit
def as_target(
    row, column, moved, row_bias, column_norm, level, table, values, gradient, weight, shift, words,
    row_start, row_columns, head, tile, n, padded, eps, keep_scale,
    PER_ROW: tl.constexpr, PARTS: tl.constexpr, PRECISION: tl.constexpr, PRODUCT: tl.constexpr,
    MOVED: tl.constexpr, EDGE: tl.constexpr, CAUSAL: tl.constexpr, SPARSE: tl.constexpr,
    DROPOUT: tl.constexpr, WIDTH: tl.constexpr, VALUE_PARTS: tl.constexpr, VALUE_WIDTH: tl.constexpr,
    INTERPRETED: tl.constexpr, MAP_M: tl.constexpr, MAP_N: tl.constexpr,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
):  # fmt: skip
    """The block as rows, over its sources: sums of M, M b, q u and q u e^{-wu}; three products a step."""
    rows = tile * BLOCK_M + tl.arange(0, BLOCK_M)
    wide = tl.arange(0, WIDTH)
    value_wide = tl.arange(0, VALUE_WIDTH)
    stat = head * padded
    stride = tl.num_programs(1).to(tl.int64) * padded
    value_base = stat * VALUE_WIDTH
    entry = ((stat + rows) if PER_ROW else head) * TABLE_WIDTH
    form = slope_form(table, entry, PER_ROW, 0)
    own_weight, own_shift = row_slopes(weight, shift, level, stat + rows, 0, 1)
    own_bias = tl.load(row_bias + stat + rows)[:, None]
    norm_weight = parameter(table, entry, NORM_WEIGHT, PER_ROW, 0)
    own = load_parts(row + stat * WIDTH, stride * WIDTH, rows, wide, WIDTH, PARTS)
    g = load_parts(gradient + value_base, stride * VALUE_WIDTH, rows, value_wide, VALUE_WIDTH, VALUE_PARTS)
    pulled = tl.full((BLOCK_M,), 0.0, tl.float32)
    both = tl.full((BLOCK_M,), 0.0, tl.float32)
    decayed = tl.full((BLOCK_M,), 0.0, tl.float32)
    attracted = tl.full((BLOCK_M, WIDTH), 0.0, tl.float32)
    stop = tl.minimum(n, tile * BLOCK_M + BLOCK_M) if CAUSAL else n
    listed = head * ((n + MAP_M - 1) // MAP_M) + tile // (MAP_M // BLOCK_M)
    begin, end = tile_range(row_start, listed, stop, SPARSE, MAP_N // BLOCK_N, BLOCK_N)
    for k in range(begin, end):
        columns = step_tile(row_columns, k, SPARSE, MAP_N // BLOCK_N) * BLOCK_N + tl.arange(0, BLOCK_N)
        far = load_parts(column + stat * WIDTH, stride * WIDTH, columns, wide, WIDTH, PARTS)
        norms = tl.load(column_norm + stat + columns)[None, :]
        bias = plain_bias(own_bias, norms, norm_weight, PER_ROW)
        z = inner_products(own, far, bias, PARTS, PRECISION, INTERPRETED)
        mismatch, coupling, _, inverse = plain_slopes(z, form, eps, EDGE)
        v = load_parts(
            values + value_base, stride * VALUE_WIDTH, columns, value_wide, VALUE_WIDTH, VALUE_PARTS
        )
        keep = keep_tile(words, head, rows[:, None], columns[None, :], DROPOUT)
        q = inverse * by_weight_tile(
            g, v, own_weight[:, None], own_shift[:, None], keep, keep_scale,
            BLOCK_M, BLOCK_N, DROPOUT, VALUE_PARTS, PRODUCT, INTERPRETED,
        )  # fmt: skip
        if CAUSAL:
            q = tl.where(columns[None, :] <= rows[:, None], q, 0.0)
        pulled, attracted = attract(
            q * (form[2] * coupling + form[3]), moved + stat * WIDTH, stride * WIDTH, columns, wide,
            pulled, attracted, WIDTH, MOVED, PRECISION, INTERPRETED,
        )  # fmt: skip
        q = q * mismatch
        both += row_sum(q)
        decayed += row_sum(q * coupling)
    return pulled, attracted, both, decayed


@triton.jit
def as_source(
    row, column, moved, row_bias, column_norm, level, table, values, gradient, weight, shift, words,
    column_start, column_rows, pulled, attracted, head, tile, n, padded, eps, keep_scale,
    PER_ROW: tl.constexpr, PARTS: tl.constexpr, PRECISION: tl.constexpr, PRODUCT: tl.constexpr,
    MOVED: tl.constexpr, EDGE: tl.constexpr, CAUSAL: tl.constexpr, SPARSE: tl.constexpr,
    DROPOUT: tl.constexpr, WIDTH: tl.constexpr, VALUE_PARTS: tl.constexpr, VALUE_WIDTH: tl.constexpr,
    INTERPRETED: tl.constexpr, MAP_M: tl.constexpr, MAP_N: tl.constexpr,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
):  # fmt: skip
    """The block as columns, over its targets: sums of M, M b and S g; four products a step."""
    rows = tile * BLOCK_M + tl.arange(0, BLOCK_M)
    wide = tl.arange(0, WIDTH)
    value_wide = tl.arange(0, VALUE_WIDTH)
    stat = head * padded
    stride = tl.num_programs(1).to(tl.int64) * padded
    value_base = stat * VALUE_WIDTH
    own = load_parts(column + stat * WIDTH, stride * WIDTH, rows, wide, WIDTH, PARTS)
    v = load_parts(values + value_base, stride * VALUE_WIDTH, rows, value_wide, VALUE_WIDTH, VALUE_PARTS)
    own_norm = tl.load(column_norm + stat + rows)[:, None]
    by_value = tl.full((BLOCK_M, VALUE_WIDTH), 0.0, tl.float32)
    listed = head * ((n + MAP_N - 1) // MAP_N) + tile // (MAP_N // BLOCK_M)
    begin, end = tile_range(column_start, listed, n, SPARSE, MAP_M // BLOCK_N, BLOCK_N)
    if CAUSAL and not SPARSE:
        begin = tile * BLOCK_M // BLOCK_N
    for k in range(begin, end):
        columns = step_tile(column_rows, k, SPARSE, MAP_M // BLOCK_N) * BLOCK_N + tl.arange(0, BLOCK_N)
        far = load_parts(row + stat * WIDTH, stride * WIDTH, columns, wide, WIDTH, PARTS)
        entry = ((stat + columns) if PER_ROW else head) * TABLE_WIDTH
        bias = tl.load(row_bias + stat + columns)[None, :]
        bias = plain_bias(bias, own_norm, parameter(table, entry, NORM_WEIGHT, PER_ROW, 1), PER_ROW)
        z = inner_products(own, far, bias, PARTS, PRECISION, INTERPRETED)
        form = slope_form(table, entry, PER_ROW, 1)
        _, coupling, s, inverse = plain_slopes(z, form, eps, EDGE)
        g = load_parts(
            gradient + value_base, stride * VALUE_WIDTH, columns, value_wide, VALUE_WIDTH, VALUE_PARTS
        )
        far_weight, far_shift = row_slopes(weight, shift, level, stat + columns, 0, 1)
        keep = keep_tile(words, head, columns[None, :], rows[:, None], DROPOUT)
        q = inverse * by_weight_tile(
            v, g, far_weight[None, :], far_shift[None, :], keep, keep_scale,
            BLOCK_M, BLOCK_N, DROPOUT, VALUE_PARTS, PRODUCT, INTERPRETED,
        )  # fmt: skip
        s = s * (far_weight * WEIGHT_UNIT)[None, :]
        if DROPOUT:
            s = tl.where(keep, s * keep_scale, 0.0)
        if CAUSAL:
            q = tl.where(rows[:, None] <= columns[None, :], q, 0.0)
            s = tl.where(rows[:, None] <= columns[None, :], s, 0.0)
        pulled, attracted = attract(
            q * (form[2] * coupling + form[3]), moved + stat * WIDTH, stride * WIDTH, columns, wide,
            pulled, attracted, WIDTH, MOVED, PRECISION, INTERPRETED,
        )  # fmt: skip
        s = split(s, gradient.dtype.element_ty, VALUE_PARTS, INTERPRETED)
        by_value = weighted_sum(s, g, by_value, VALUE_PARTS, PRODUCT, INTERPRETED)
    return pulled, attracted, by_value


@triton.jit
def ssa_backward_plain(
    row, column, moved, row_bias, column_norm, level, table, values, gradient, weight, shift, words,
    row_start, row_columns, column_start, column_rows,
    d_omega, d_values, by_radius, by_selectivity, n, padded, eps, keep_scale,
    PER_ROW: tl.constexpr, PARTS: tl.constexpr, PRECISION: tl.constexpr, PRODUCT: tl.constexpr,
    MOVED: tl.constexpr, EDGE: tl.constexpr, CAUSAL: tl.constexpr, SPARSE: tl.constexpr,
    DROPOUT: tl.constexpr, CHANNELS: tl.constexpr, WIDTH: tl.constexpr, VALUE_PARTS: tl.constexpr,
    VALUES: tl.constexpr, VALUE_WIDTH: tl.constexpr, INTERPRETED: tl.constexpr,
    MAP_M: tl.constexpr, MAP_N: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
):  # fmt: skip
    """The block in both roles, one after the other; one writer per number. Grid (blocks, B H)."""
    head = tl.program_id(1).to(tl.int64)
    tile = tl.program_id(0)
    pulled, attracted, both, decayed = as_target(
        row, column, moved, row_bias, column_norm, level, table, values, gradient, weight, shift, words,
        row_start, row_columns, head, tile, n, padded, eps, keep_scale,
        PER_ROW, PARTS, PRECISION, PRODUCT, MOVED, EDGE, CAUSAL, SPARSE, DROPOUT, WIDTH, VALUE_PARTS,
        VALUE_WIDTH, INTERPRETED, MAP_M, MAP_N, BLOCK_M, BLOCK_N,
    )  # fmt: skip
    rows = tile * BLOCK_M + tl.arange(0, BLOCK_M)
    entry = ((head * padded + rows) if PER_ROW else head) * TABLE_WIDTH
    store_sums(
        both[:, None], decayed[:, None], slope_form(table, entry, PER_ROW, 0), table,
        tl.expand_dims(entry, 1) if PER_ROW else entry,
        by_radius, by_selectivity, head, rows[:, None], n, 1.0,
    )  # fmt: skip
    pulled, attracted, by_value = as_source(
        row, column, moved, row_bias, column_norm, level, table, values, gradient, weight, shift, words,
        column_start, column_rows, pulled, attracted, head, tile, n, padded, eps, keep_scale,
        PER_ROW, PARTS, PRECISION, PRODUCT, MOVED, EDGE, CAUSAL, SPARSE, DROPOUT, WIDTH, VALUE_PARTS,
        VALUE_WIDTH, INTERPRETED, MAP_M, MAP_N, BLOCK_M, BLOCK_N,
    )  # fmt: skip
    store_vectors(
        pulled, attracted, by_value, moved, d_omega, d_values, head, rows, n, padded,
        CHANNELS, WIDTH, MOVED, VALUES, VALUE_WIDTH, INTERPRETED,
    )  # fmt: skip
