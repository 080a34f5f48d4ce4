"""Forward pass of selective synchronization attention, rows outside the rounding threshold."""

# pyright: reportGeneralTypeIssues=false
# (what a jit function returns and what static_range yields exist only inside a kernel)

import triton
import triton.language as tl

from .ssa_forward import add_values, step_tile, store_mean, tile_range
from .ssa_operands import CAREFUL
from .ssa_tile import (
    COUPLED,
    DECAY,
    EXPONENT,
    STEEPNESS,
    TABLE_WIDTH,
    any_of,
    direct_mismatch,
    parameter,
    sync_square,
)


@triton.jit
def careful_square(squared, largest, table, entry, PER_ROW: tl.constexpr, AXIS: tl.constexpr):
    """u, e^{-w u} and S^2 of a tile whose rows lie along AXIS; uncoupled rows lock to identical tokens."""
    # beyond u = 1 nothing is locked; the limit keeps infinity out of the products
    mismatch = tl.minimum(squared * parameter(table, entry, STEEPNESS, PER_ROW, AXIS), 4.0)
    exponent = parameter(table, entry, EXPONENT, PER_ROW, AXIS)
    coupling = tl.math.exp2(-(exponent * mismatch))
    square = sync_square(mismatch, coupling, parameter(table, entry, DECAY, PER_ROW, AXIS))
    coupled = parameter(table, entry, COUPLED, PER_ROW, AXIS) > 0.0
    return mismatch, coupling, tl.where(coupled, square, tl.where(largest == 0.0, 1.0, 0.0))


@triton.jit
def valid_columns(level, columns, padded):
    """Which oscillators take part: padded ones have level 3, and beyond the array there are none."""
    return tl.load(level + columns, mask=columns < padded, other=CAREFUL + 1) <= CAREFUL


@triton.jit
def ssa_forward_careful(
    omega, scale, level, table, values, words, row_start, row_columns, output, total,
    n, padded, first_row, keep_scale,
    PER_ROW: tl.constexpr, PRODUCT: tl.constexpr, CAUSAL: tl.constexpr, SPARSE: tl.constexpr,
    DROPOUT: tl.constexpr, CHANNELS: tl.constexpr, VALUE_PARTS: tl.constexpr, VALUES: tl.constexpr,
    VALUE_WIDTH: tl.constexpr, INTERPRETED: tl.constexpr, MAP_M: tl.constexpr, MAP_N: tl.constexpr,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
):  # fmt: skip
    """Rows of level 2: differences channel by channel. Grid and tile lists as ssa_forward_plain."""
    head = tl.program_id(1).to(tl.int64)
    tiles = (n + BLOCK_M - 1) // BLOCK_M
    tile = tiles - 1 - tl.program_id(0)
    rows = tile * BLOCK_M + tl.arange(0, BLOCK_M)
    value_wide = tl.arange(0, VALUE_WIDTH)
    mine = (tl.load(level + head * padded + rows) == CAREFUL) & (rows >= first_row) & (rows < n)
    if any_of(mine):
        entry = ((head * padded + rows) if PER_ROW else head) * TABLE_WIDTH
        total_sum = tl.full((BLOCK_M,), 0.0, tl.float32)
        summed = tl.full((BLOCK_M, VALUE_WIDTH), 0.0, tl.float32)
        stop = tl.minimum(n, tile * BLOCK_M + BLOCK_M) if CAUSAL else n
        listed = head * ((n + MAP_M - 1) // MAP_M) + tile // (MAP_M // BLOCK_M)
        begin, end = tile_range(row_start, listed, stop, SPARSE, MAP_N // BLOCK_N, BLOCK_N)
        factor = tl.load(scale + head * 2 + 1)
        for k in range(begin, end):
            step = step_tile(row_columns, k, SPARSE, MAP_N // BLOCK_N)
            columns = step * BLOCK_N + tl.arange(0, BLOCK_N)
            squared, largest = direct_mismatch(
                omega + head * n * CHANNELS, factor, rows, columns, n, CHANNELS, BLOCK_M, BLOCK_N
            )
            _, _, square = careful_square(squared, largest, table, entry, PER_ROW, 0)
            allowed = valid_columns(level + head * padded, columns, padded)[None, :]
            if CAUSAL:
                allowed = allowed & (columns[None, :] <= rows[:, None])
            s = tl.where(allowed, tl.sqrt(square), 0.0)
            total_sum += tl.reduce(s, 1, tl.standard._sum_combine)
            summed = add_values(
                s, values, words, head, rows, columns, value_wide, padded, keep_scale, summed,
                PRODUCT, DROPOUT, VALUE_WIDTH, VALUE_PARTS, INTERPRETED,
            )  # fmt: skip
        store_mean(
            summed, total_sum, output, total, head, rows, value_wide, mine, n, first_row,
            VALUES, VALUE_WIDTH, INTERPRETED,
        )  # fmt: skip
