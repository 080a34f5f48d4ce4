"""Operands of the plain product: centred, scaled, split, with norms and the level of every row."""

# pyright: reportGeneralTypeIssues=false
# (what a jit function returns exists only inside a kernel)

import triton
import triton.language as tl

from .ssa_tile import (
    FORM,
    LIMIT,
    NORM_FACTOR,
    ROW_FACTOR,
    TABLE_WIDTH,
    UNIT,
    masked_operand,
    rounded,
)

# Levels of a row: polynomial, exponential form, careful; padded rows belong to nobody.
CAREFUL: tl.constexpr = tl.constexpr(2)
NOBODY: tl.constexpr = tl.constexpr(3)
# norm of a column that locks to no row of the plain product
FAR: tl.constexpr = tl.constexpr(1e9)


@triton.jit
def split_store(target, stride, cell, x, PARTS: tl.constexpr, INTERPRETED: tl.constexpr):
    """Store x as the sum of one to three parts; returns the squared norms of what was stored."""
    kept = x * 0.0
    for part in tl.static_range(PARTS):
        stored = rounded(x - kept, target.dtype.element_ty, INTERPRETED)
        tl.store(target + part * stride + cell, stored)
        kept = kept + stored.to(tl.float32)
    return tl.reduce(kept * kept, 1, tl.standard._sum_combine)


@triton.jit
def ssa_operands(
    omega, centre, valid, table, scale, row, column, moved, row_bias, column_norm, level, careful,
    n, padded, first_plain, far,
    CHANNELS: tl.constexpr, WIDTH: tl.constexpr, PER_ROW: tl.constexpr, PARTS: tl.constexpr,
    VALID: tl.constexpr, MOVED: tl.constexpr, INTERPRETED: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """Fill operands and levels of one tile of rows of one head; grid (padded / BLOCK, B H).

    With x = omega - centre the column operand is b = scale x and the row operand p = row_factor x (the same
    with one strength per head), so that p.b = 2 UNIT c_i x_i.x_j. Norms are those of the rounded operands:
    then 1 - u is exact for slightly moved frequencies, and u_ii is 0. A row is plain where the rounding of
    the product is small enough (LIMIT, fused_table.py); a column beyond ``far`` is unlocked for all of those
    and gets a zero operand and a norm that says so. MOVED: in how many parts to store b once more, for the
    backward pass.
    """
    head = tl.program_id(1).to(tl.int64)
    rows = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    wide = tl.arange(0, WIDTH)
    inside = rows < n
    if VALID:
        inside = inside & (tl.load(valid + head * n + rows, mask=inside, other=0) != 0)
    x = masked_operand(omega + head * n * CHANNELS, rows, wide, n, CHANNELS, WIDTH)
    middle = tl.load(centre + head * WIDTH + wide)
    x = tl.where(inside[:, None] & (wide[None, :] < CHANNELS), (x - middle[None, :]).to(tl.float32), 0.0)
    entry = ((head * padded + rows) if PER_ROW else (head + rows * 0)) * TABLE_WIDTH
    b = x * tl.load(scale + head * 2)
    norm = tl.reduce(b * b, 1, tl.standard._sum_combine)
    near = inside & (norm < far)
    b = tl.where(near[:, None], b, 0.0)
    cell = head * padded * WIDTH + (rows[:, None] * WIDTH + wide[None, :])
    stride = tl.num_programs(1).to(tl.int64) * padded * WIDTH
    norm = split_store(column, stride, cell, b, PARTS, INTERPRETED)
    if MOVED > 0:
        split_store(moved, stride, cell, b, MOVED, INTERPRETED)
    p = x * tl.load(table + entry + ROW_FACTOR)[:, None]
    factor = tl.load(table + entry + NORM_FACTOR)
    length = tl.reduce(p * p, 1, tl.standard._sum_combine) * factor
    plain = near & (length <= tl.load(table + entry + LIMIT)) & (rows >= first_plain)
    if PER_ROW:
        p = tl.where(plain[:, None], p, 0.0)
        length = split_store(row, stride, cell, p, PARTS, INTERPRETED) * factor
    else:
        norm = norm * 0.5
        length = norm
    tl.store(row_bias + head * padded + rows, tl.where(plain, UNIT - length, -FAR))
    tl.store(column_norm + head * padded + rows, tl.where(near, norm, FAR))
    form = tl.load(table + entry + FORM).to(tl.int32)
    form = tl.where(inside, tl.where(plain, form, CAREFUL), NOBODY)
    tl.store(level + head * padded + rows, form)
    slow = tl.reduce((form == CAREFUL).to(tl.int32), 0, tl.standard._sum_combine)
    tl.store(careful + head * (padded // BLOCK) + tl.program_id(0), slow)


@triton.jit
def ssa_slopes(
    output, d_output, total, weight, shift, n, padded,
    USED: tl.constexpr, WIDTH: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """Per row 1/total and g.y/total, so that dL/dS_ij = (g_i.V_j) weight_i - shift_i; 0 for padded rows."""
    head = tl.program_id(1).to(tl.int64)
    rows = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    wide = tl.arange(0, WIDTH)
    y = masked_operand(output + head * n * USED, rows, wide, n, USED, WIDTH).to(tl.float32)
    g = masked_operand(d_output + head * n * USED, rows, wide, n, USED, WIDTH).to(tl.float32)
    sums = tl.load(total + head * n + rows, mask=rows < n, other=0.0)
    inverse = tl.where(sums > 0.0, 1.0 / tl.where(sums > 0.0, sums, 1.0), 0.0)
    tl.store(weight + head * padded + rows, inverse)
    tl.store(shift + head * padded + rows, tl.reduce(y * g, 1, tl.standard._sum_combine) * inverse)


@triton.jit
def ssa_pack(
    rows_of, valid, packed, n, padded,
    USED: tl.constexpr, WIDTH: tl.constexpr, PARTS: tl.constexpr, VALID: tl.constexpr,
    INTERPRETED: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """Values or gradients, padded to whole tiles, in parts; 0 for padded tokens, whatever is there."""
    head = tl.program_id(1).to(tl.int64)
    rows = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    wide = tl.arange(0, WIDTH)
    x = masked_operand(rows_of + head * n * USED, rows, wide, n, USED, WIDTH).to(tl.float32)
    if VALID:
        valid_row = tl.load(valid + head * n + rows, mask=rows < n, other=0) != 0
        x = tl.where(valid_row[:, None], x, 0.0)
    cell = head * padded * WIDTH + (rows[:, None] * WIDTH + wide[None, :])
    split_store(packed, tl.num_programs(1).to(tl.int64) * padded * WIDTH, cell, x, PARTS, INTERPRETED)
