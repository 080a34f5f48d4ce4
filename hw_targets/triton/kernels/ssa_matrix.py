"""The matrix S itself, for read-outs: same tile functions and levels as the attention kernels."""

# pyright: reportGeneralTypeIssues=false
# (what a jit function returns and what static_range yields exist only inside a kernel)

import triton
import triton.language as tl

from .ssa_forward import plain_bias, plain_sync, row_form
from .ssa_forward_careful import careful_square, valid_columns
from .ssa_operands import CAREFUL
from .ssa_tile import NORM_WEIGHT, TABLE_WIDTH, any_of, direct_mismatch, inner_products, load_parts, parameter


@triton.jit
def ssa_matrix(
    omega, scale, row, column, row_bias, column_norm, level, table, matrix,
    n, padded,
    LEVEL: tl.constexpr, DEGREE: tl.constexpr, PER_ROW: tl.constexpr, PARTS: tl.constexpr,
    PRECISION: tl.constexpr, CAUSAL: tl.constexpr, CHANNELS: tl.constexpr, WIDTH: tl.constexpr,
    INTERPRETED: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
):  # fmt: skip
    """Write the rows of one LEVEL (0, 1, 2) to matrix (B H, N, N) float32, 0 where masked.

    Grid (row tiles, column tiles, B H). Rows of padded tokens belong to no level and stay as they were.
    """
    head = tl.program_id(2).to(tl.int64)
    rows = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    columns = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    mine = (tl.load(level + head * padded + rows) == LEVEL) & (rows < n)
    if any_of(mine):
        entry = ((head * padded + rows) if PER_ROW else head) * TABLE_WIDTH
        if LEVEL == CAREFUL:
            squared, largest = direct_mismatch(
                omega + head * n * CHANNELS, tl.load(scale + head * 2 + 1), rows, columns, n,
                CHANNELS, BLOCK_M, BLOCK_N,
            )  # fmt: skip
            _, _, square = careful_square(squared, largest, table, entry, PER_ROW, 0)
            s = tl.where(valid_columns(level + head * padded, columns, padded)[None, :], tl.sqrt(square), 0.0)
        else:
            wide = tl.arange(0, WIDTH)
            base = head * padded * WIDTH
            norms = tl.load(column_norm + head * padded + columns)[None, :]
            own_bias = tl.load(row_bias + head * padded + rows)[:, None]
            bias = plain_bias(own_bias, norms, parameter(table, entry, NORM_WEIGHT, PER_ROW, 0), PER_ROW)
            stride = tl.num_programs(2).to(tl.int64) * padded * WIDTH
            own = load_parts(row + base, stride, rows, wide, WIDTH, PARTS)
            far = load_parts(column + base, stride, columns, wide, WIDTH, PARTS)
            z = inner_products(own, far, bias, PARTS, PRECISION, INTERPRETED)
            s = plain_sync(z, row_form(table, entry, LEVEL, PER_ROW, DEGREE), LEVEL, DEGREE)
        if CAUSAL:
            s = tl.where(columns[None, :] <= rows[:, None], s, 0.0)
        cell = (head * n + rows[:, None]) * n + columns[None, :]
        tl.store(matrix + cell, s, mask=mine[:, None] & (columns < n)[None, :])
