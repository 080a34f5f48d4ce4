"""Forward pass of selective synchronization attention, rows inside the rounding threshold."""

# pyright: reportGeneralTypeIssues=false
# (what a jit function returns and what static_range yields exist only inside a kernel)

import triton
import triton.language as tl

from .ssa_tile import (
    COEFFICIENTS,
    EXPONENT,
    NORM_WEIGHT,
    TABLE_WIDTH,
    any_of,
    inner_products,
    kept,
    load_parts,
    mismatch_of,
    parameter,
    polynomial_sync,
    rounded,
    split,
    sync_square,
    weighted_sum,
)


@triton.jit
def plain_bias(own_bias, norms, weight, PER_ROW: tl.constexpr):
    """UNIT (1 - both squared norms), the start of the product's sum."""
    return own_bias - (weight * norms if PER_ROW else norms)


@triton.jit
def row_form(table, entry, LEVEL: tl.constexpr, PER_ROW: tl.constexpr, DEGREE: tl.constexpr):
    """Parameters of S along axis 0: coefficients of the polynomial, or exponent and e^{-w}; always five."""
    FIRST: tl.constexpr = COEFFICIENTS if LEVEL == 0 else EXPONENT
    q0 = parameter(table, entry, FIRST, PER_ROW, 0)
    q1 = parameter(table, entry, FIRST + 1, PER_ROW, 0)
    q2 = q1
    q3 = q1
    q4 = q1
    if LEVEL == 0:
        q2 = parameter(table, entry, COEFFICIENTS + 2, PER_ROW, 0)
        q3 = parameter(table, entry, COEFFICIENTS + 3, PER_ROW, 0)
        if DEGREE == 4:
            q4 = parameter(table, entry, COEFFICIENTS + 4, PER_ROW, 0)
    return q0, q1, q2, q3, q4


@triton.jit
def plain_sync(level, form, LEVEL: tl.constexpr, DEGREE: tl.constexpr):
    """S of a tile by the form that its rows take."""
    if LEVEL == 0:
        s = polynomial_sync(level, form, DEGREE)
    else:
        mismatch = mismatch_of(level)
        s = tl.sqrt(sync_square(mismatch, tl.math.exp2(-(form[0] * mismatch)), form[1]))
    return s


@triton.jit
def tile_range(row_start, tile, stop, SPARSE: tl.constexpr, RATIO: tl.constexpr, BLOCK: tl.constexpr):
    """Which steps of BLOCK oscillators to go through, [begin, end); a listed tile holds RATIO steps.

    Without a list all steps up to ``stop``. ``tile`` counts listed tiles over all heads.
    """
    if SPARSE:
        begin = tl.load(row_start + tile) * RATIO
        end = tl.load(row_start + tile + 1) * RATIO
    else:
        begin = 0
        end = (stop + BLOCK - 1) // BLOCK
    return begin, end


@triton.jit
def step_tile(tile_list, k, SPARSE: tl.constexpr, RATIO: tl.constexpr):
    """Where the k-th step lies, in units of BLOCK oscillators."""
    if SPARSE:
        k = tl.load(tile_list + k // RATIO) * RATIO + k % RATIO
    return k


@triton.jit
def add_values(
    s, values, words, head, rows, columns, wide, padded, keep_scale, summed,
    PRODUCT: tl.constexpr, DROPOUT: tl.constexpr, VALUE_WIDTH: tl.constexpr, VALUE_PARTS: tl.constexpr,
    INTERPRETED: tl.constexpr,
):  # fmt: skip
    """``summed + S V`` with what dropout keeps."""
    if DROPOUT:
        keep = kept(words, head, rows[:, None], columns[None, :])
        s = tl.where(keep, s * keep_scale, 0.0)
    size = padded * VALUE_WIDTH
    stride = tl.num_programs(1).to(tl.int64) * size
    v = load_parts(values + head * size, stride, columns, wide, VALUE_WIDTH, VALUE_PARTS)
    s = split(s, values.dtype.element_ty, VALUE_PARTS, INTERPRETED)
    return weighted_sum(s, v, summed, VALUE_PARTS, PRODUCT, INTERPRETED)


@triton.jit
def store_mean(
    summed, total_sum, output, total, head, rows, wide, mine, n, first_row,
    VALUES: tl.constexpr, VALUE_WIDTH: tl.constexpr, INTERPRETED: tl.constexpr,
):  # fmt: skip
    """Divide by the row sums; rows of the output start at first_row."""
    mean = summed / tl.where(total_sum > 0.0, total_sum, 1.0)[:, None]
    stored = head * (n - first_row) + (rows - first_row)
    tl.store(total + stored, total_sum, mask=mine)
    inside = mine[:, None]
    if VALUES < VALUE_WIDTH:
        inside = inside & (wide[None, :] < VALUES)
    cell = stored[:, None] * VALUES + wide[None, :]
    tl.store(output + cell, rounded(mean, output.dtype.element_ty, INTERPRETED), mask=inside)


@triton.jit
def ssa_forward_plain(
    row, column, row_bias, column_norm, level, table, values, words,
    row_start, row_columns, output, total, n, padded, first_row, keep_scale,
    LEVEL: tl.constexpr, DEGREE: tl.constexpr, PER_ROW: tl.constexpr, PARTS: tl.constexpr,
    PRECISION: tl.constexpr, PRODUCT: tl.constexpr, CAUSAL: tl.constexpr, SPARSE: tl.constexpr,
    DROPOUT: tl.constexpr, WIDTH: tl.constexpr, VALUE_PARTS: tl.constexpr, VALUES: tl.constexpr,
    VALUE_WIDTH: tl.constexpr, INTERPRETED: tl.constexpr, MAP_M: tl.constexpr, MAP_N: tl.constexpr,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
):  # fmt: skip
    """Rows of one LEVEL: 0 takes the polynomial form of S, 1 the exponential one.

    Grid (row tiles from first_row on, B H); later tiles, the long ones when causal, start first. A program
    without rows of its level does nothing. Without SPARSE every column tile is gone through.
    """
    LAST: tl.constexpr = (MAP_N if SPARSE else (BLOCK_M if BLOCK_M > BLOCK_N else BLOCK_N)) // BLOCK_N
    head = tl.program_id(1).to(tl.int64)
    tiles = (n + BLOCK_M - 1) // BLOCK_M
    tile = tiles - 1 - tl.program_id(0)
    rows = tile * BLOCK_M + tl.arange(0, BLOCK_M)
    wide = tl.arange(0, WIDTH)
    value_wide = tl.arange(0, VALUE_WIDTH)
    mine = (tl.load(level + head * padded + rows) == LEVEL) & (rows >= first_row) & (rows < n)
    if any_of(mine):
        entry = ((head * padded + rows) if PER_ROW else head) * TABLE_WIDTH
        form = row_form(table, entry, LEVEL, PER_ROW, DEGREE)
        weight = parameter(table, entry, NORM_WEIGHT, PER_ROW, 0)
        own_bias = tl.load(row_bias + head * padded + rows)[:, None]
        base = head * padded * WIDTH
        stride = tl.num_programs(1).to(tl.int64) * padded * WIDTH
        own = load_parts(row + base, stride, rows, wide, WIDTH, PARTS)
        total_sum = tl.full((BLOCK_M,), 0.0, tl.float32)
        summed = tl.full((BLOCK_M, VALUE_WIDTH), 0.0, tl.float32)
        stop = tl.minimum(n, tile * BLOCK_M + BLOCK_M) if CAUSAL else n
        listed = head * ((n + MAP_M - 1) // MAP_M) + tile // (MAP_M // BLOCK_M)
        begin, end = tile_range(row_start, listed, stop, SPARSE, MAP_N // BLOCK_N, BLOCK_N)
        # only the last steps of a causal row touch the diagonal
        middle = tl.maximum(begin, end - LAST) if CAUSAL else end
        for masked in tl.static_range(2 if CAUSAL else 1):
            first = begin if masked == 0 else middle
            last = middle if masked == 0 else end
            for k in range(first, last):
                step = step_tile(row_columns, k, SPARSE, MAP_N // BLOCK_N)
                columns = step * BLOCK_N + tl.arange(0, BLOCK_N)
                far = load_parts(column + base, stride, columns, wide, WIDTH, PARTS)
                norms = tl.load(column_norm + head * padded + columns)[None, :]
                bias = plain_bias(own_bias, norms, weight, PER_ROW)
                z = inner_products(own, far, bias, PARTS, PRECISION, INTERPRETED)
                s = plain_sync(z, form, LEVEL, DEGREE)
                if masked:
                    s = tl.where(columns[None, :] <= rows[:, None], s, 0.0)
                total_sum += tl.reduce(s, 1, tl.standard._sum_combine)
                summed = add_values(
                    s, values, words, head, rows, columns, value_wide, padded, keep_scale, summed,
                    PRODUCT, DROPOUT, VALUE_WIDTH, VALUE_PARTS, INTERPRETED,
                )  # fmt: skip
        store_mean(
            summed, total_sum, output, total, head, rows, value_wide, mine, n, first_row,
            VALUES, VALUE_WIDTH, INTERPRETED,
        )  # fmt: skip
