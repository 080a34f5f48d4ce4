"""What the kernels of selective synchronization attention do with one tile.

A tile is BLOCK_M own oscillators by BLOCK_N others of one head. Two ways lead to their mismatch
u = c_i |omega_i - omega_j|^2: *plain*, one matrix product of centred, scaled frequencies (ssa_operands.py),
and *careful*, differences channel by channel. What depends on the row lies in ``table`` (fused_table.py), one
entry per row or per head. Operands are stored as the sum of one to three parts of 16 bits.
"""

# pyright: reportGeneralTypeIssues=false, reportOperatorIssue=false
# (what a jit function returns and what static_range yields exist only inside a kernel)

import triton
import triton.language as tl

# The columns of the table, and how many there are; ops/fused_table.py fills it.
TABLE_WIDTH: tl.constexpr = tl.constexpr(16)
ROW_FACTOR: tl.constexpr = tl.constexpr(0)
NORM_WEIGHT: tl.constexpr = tl.constexpr(1)
NORM_FACTOR: tl.constexpr = tl.constexpr(2)
LIMIT: tl.constexpr = tl.constexpr(3)
FORM: tl.constexpr = tl.constexpr(4)
EXPONENT: tl.constexpr = tl.constexpr(5)
DECAY: tl.constexpr = tl.constexpr(6)
PULL: tl.constexpr = tl.constexpr(7)
STEEPNESS: tl.constexpr = tl.constexpr(8)
COUPLED: tl.constexpr = tl.constexpr(9)
COEFFICIENTS: tl.constexpr = tl.constexpr(10)

# The plain product gives z = 1 - u in this unit: 16^2, so that the low halves of fp16 operands stay normal.
UNIT: tl.constexpr = tl.constexpr(256.0)
HALF_LOG_2: tl.constexpr = tl.constexpr(0.34657359027997264)

# dropout.py: MurmurHash3 finaliser and the words that rows and columns step by
STEP_ROW: tl.constexpr = tl.constexpr(0x85EBCA77)
STEP_COLUMN: tl.constexpr = tl.constexpr(0xC2B2AE3D)
MIX_1: tl.constexpr = tl.constexpr(0x85EBCA6B)
MIX_2: tl.constexpr = tl.constexpr(0xC2B2AE35)


@triton.jit
def parameter(table, entry, COLUMN: tl.constexpr, PER_ROW: tl.constexpr, AXIS: tl.constexpr):
    """One column of the table: a scalar per head, or a vector along AXIS of the tile when PER_ROW.

    entry : number of the entry times TABLE_WIDTH.
    """
    value = tl.load(table + entry + COLUMN)
    if PER_ROW:
        value = tl.expand_dims(value, 1 - AXIS)
    return value


@triton.jit
def any_of(mask):
    """Whether a vector of bool has a true one."""
    return tl.reduce(mask.to(tl.int32), 0, tl.standard._sum_combine) > 0


@triton.jit
def rounded(x, dtype: tl.constexpr, INTERPRETED: tl.constexpr):
    """Float32 ``x`` in ``dtype``, to nearest even; the interpreter would truncate to bfloat16."""
    if INTERPRETED and dtype == tl.bfloat16:
        bits = x.to(tl.uint32, bitcast=True)
        bits = (bits + 0x7FFF + ((bits >> 16) & 1)) & 0xFFFF0000
        x = bits.to(tl.float32, bitcast=True)
    return x.to(dtype)


@triton.jit
def product(a, b, total, PRECISION: tl.constexpr, INTERPRETED: tl.constexpr):
    """``total + a b``, products exact and sums float32; numpy multiplies 16-bit types wrongly or slowly."""
    if INTERPRETED:
        a = a.to(tl.float32)
        b = b.to(tl.float32)
    return tl.dot(a, b, total, input_precision=PRECISION)


@triton.jit
def operand(base, rows, wide, WIDTH: tl.constexpr):
    """(rows, WIDTH) of an array whose rows are padded to WIDTH and to whole tiles: no mask."""
    return tl.load(base + (rows[:, None] * WIDTH + wide[None, :]))


@triton.jit
def masked_operand(base, rows, wide, n, USED: tl.constexpr, WIDTH: tl.constexpr):
    """(rows, WIDTH) of an (n, USED) array, 0 outside."""
    inside = rows[:, None] < n
    if USED < WIDTH:
        inside = inside & (wide[None, :] < USED)
    return tl.load(base + (rows[:, None] * USED + wide[None, :]), mask=inside, other=0.0)


@triton.jit
def load_parts(base, stride, rows, wide, WIDTH: tl.constexpr, PARTS: tl.constexpr):
    """Rows of an operand that is stored as the sum of one to three parts, ``stride`` numbers apart."""
    first = operand(base, rows, wide, WIDTH)
    second = first
    third = first
    if PARTS > 1:
        second = operand(base + stride, rows, wide, WIDTH)
    if PARTS > 2:
        third = operand(base + 2 * stride, rows, wide, WIDTH)
    return first, second, third


@triton.jit
def inner_products(
    own, other, total, PARTS: tl.constexpr, PRECISION: tl.constexpr, INTERPRETED: tl.constexpr
):
    """``total + own other'`` of operands in parts, without what is below the last one; small terms first."""
    if PARTS > 2:
        total = product(own[2], tl.trans(other[0]), total, PRECISION, INTERPRETED)
        total = product(own[1], tl.trans(other[1]), total, PRECISION, INTERPRETED)
        total = product(own[0], tl.trans(other[2]), total, PRECISION, INTERPRETED)
    if PARTS > 1:
        total = product(own[0], tl.trans(other[1]), total, PRECISION, INTERPRETED)
        total = product(own[1], tl.trans(other[0]), total, PRECISION, INTERPRETED)
    return product(own[0], tl.trans(other[0]), total, PRECISION, INTERPRETED)


@triton.jit
def split(x, dtype: tl.constexpr, PARTS: tl.constexpr, INTERPRETED: tl.constexpr):
    """Float32 x as the sum of one to three numbers of a type."""
    first = rounded(x, dtype, INTERPRETED)
    second = first
    third = first
    if PARTS > 1:
        rest = x - first.to(tl.float32)
        second = rounded(rest, dtype, INTERPRETED)
        if PARTS > 2:
            third = rounded(rest - second.to(tl.float32), dtype, INTERPRETED)
    return first, second, third


@triton.jit
def joined(x, PARTS: tl.constexpr):
    """The float32 number that one or two parts hold."""
    whole = x[0].to(tl.float32)
    if PARTS > 1:
        whole = whole + x[1].to(tl.float32)
    return whole


@triton.jit
def weighted_sum(x, other, total, PARTS: tl.constexpr, PRECISION: tl.constexpr, INTERPRETED: tl.constexpr):
    """``total + x other``, both in parts, as in inner_products."""
    if PARTS > 2:
        total = product(x[2], other[0], total, PRECISION, INTERPRETED)
        total = product(x[1], other[1], total, PRECISION, INTERPRETED)
        total = product(x[0], other[2], total, PRECISION, INTERPRETED)
    if PARTS > 1:
        total = product(x[0], other[1], total, PRECISION, INTERPRETED)
        total = product(x[1], other[0], total, PRECISION, INTERPRETED)
    return product(x[0], other[0], total, PRECISION, INTERPRETED)


@triton.jit
def mismatch_of(level):
    """u from a product in UNITs of 1 - u; a rounding below 0 does no harm."""
    return 1.0 - level * (1.0 / UNIT)


@triton.jit
def polynomial_sync(level, form, DEGREE: tl.constexpr):
    """S = sqrt(z) Q_w(z), exactly 0 for z <= 0; the coefficients take UNIT out."""
    level = tl.maximum(level, 0.0)
    high = form[3]
    if DEGREE == 4:
        high = form[3] + level * form[4]
    return tl.sqrt(level) * (form[0] + level * (form[1] + level * (form[2] + level * high)))


@triton.jit
def sync_square(mismatch, coupling, decay):
    """S^2 = e^{-w u} - u e^{-w}, exactly 0 for u >= 1, also where e^{-w} has underflowed."""
    return tl.where(mismatch < 1.0, tl.maximum(coupling - mismatch * decay, 0.0), 0.0)


@triton.jit
def direct_mismatch(
    omega, scale, rows, columns, n,
    CHANNELS: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
):  # fmt: skip
    """``scale^2 |omega_i - omega_j|^2`` and the largest |difference|, which alone tells identical tokens.

    Differences are formed in the type of omega, (n, CHANNELS) of one head.
    """
    squared = tl.full((BLOCK_M, BLOCK_N), 0.0, tl.float32)
    largest = tl.full((BLOCK_M, BLOCK_N), 0.0, tl.float32)
    row_inside = rows < n
    column_inside = columns < n
    for channel in range(CHANNELS):
        own = tl.load(omega + (rows * CHANNELS + channel), mask=row_inside, other=0.0)
        other = tl.load(omega + (columns * CHANNELS + channel), mask=column_inside, other=0.0)
        delta = own[:, None] - other[None, :]
        scaled = (delta * scale).to(tl.float32)
        squared += scaled * scaled
        largest = tl.maximum(largest, tl.abs(delta).to(tl.float32))
    return squared, largest


@triton.jit
def mix(x):
    """Spread a 32-bit word over all its bits (dropout.py)."""
    x = x ^ (x >> 16)
    x = x * MIX_1
    x = x ^ (x >> 13)
    x = x * MIX_2
    return x ^ (x >> 16)


@triton.jit
def kept(words, head, row, column):
    """Which weights dropout keeps; row and column may each lie along either axis of the tile.

    words (B H, 2): the head's first word, and the smallest word that is kept.
    """
    word = tl.load(words + 2 * head).to(tl.uint32)
    word = mix(word + row.to(tl.uint32) * STEP_ROW)
    word = mix(word + column.to(tl.uint32) * STEP_COLUMN)
    return word >= tl.load(words + 2 * head + 1).to(tl.uint32)
