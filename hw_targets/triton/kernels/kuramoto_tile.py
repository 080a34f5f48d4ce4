"""What the kernels of Kuramoto attention share: operands in parts, products of parts, pairs of lanes.

Tokens are vectors of WIDTH = 2K lanes, interleaved (cos, sin) pairs of K >= k coordinates, K a power of two.
An operand is stored as PARTS tensors whose sum it is: one of float32 or float16, or two of float16, which
together hold 23 bits; two parts cost three products. Float16 has little range, so every token's vector is
divided by a power of two, its *factor*, and the factor is applied to the product. Arrays of operands have
their token axis padded to whole tiles; what takes no part has key factor 0.
"""

# pyright: reportGeneralTypeIssues=false
# (what a jit function returns exists only inside a kernel)

import triton
import triton.language as tl


@triton.jit
def power_of_two(x):
    """Largest power of two <= x (x >= 0, float32) and its inverse, both kept within the normal numbers."""
    exponent = x.to(tl.int32, bitcast=True) & 0x7F800000
    exponent = tl.minimum(tl.maximum(exponent, 0x00800000), 0x7E800000)
    return exponent.to(tl.float32, bitcast=True), (0x7F000000 - exponent).to(tl.float32, bitcast=True)


@triton.jit
def product(a, a_rest, b, b_rest, total, PARTS: tl.constexpr):
    """``total + a b`` of operands in parts; the product of both rests is below float32 rounding."""
    if PARTS == 2:
        total = tl.dot(a_rest, b, total, input_precision="ieee")
        total = tl.dot(a, b_rest, total, input_precision="ieee")
    return tl.dot(a, b, total, input_precision="ieee")


@triton.jit
def rest_of(x, part, PARTS: tl.constexpr):
    """What rounding x to its first part left over."""
    rest = part
    if PARTS == 2:
        rest = (x - part.to(tl.float32)).to(part.dtype)
    return rest


@triton.jit
def load_operand(pointer, at, size, PARTS: tl.constexpr):
    """Both parts of an operand (the first twice if there is one); ``size`` is the offset between parts."""
    part = tl.load(pointer + at)
    rest = part
    if PARTS == 2:
        rest = tl.load(pointer + size + at)
    return part, rest


@triton.jit
def store_operand(pointer, at, size, x, PARTS: tl.constexpr):
    """Write x in parts."""
    part = x.to(pointer.dtype.element_ty)
    tl.store(pointer + at, part)
    if PARTS == 2:
        tl.store(pointer + size + at, rest_of(x, part, PARTS))


@triton.jit
def interleave(cosine, sine, ROWS: tl.constexpr, WIDTH: tl.constexpr):
    """(ROWS, K) and (ROWS, K) to (ROWS, 2K) pairs of lanes."""
    return tl.reshape(tl.join(cosine, sine), (ROWS, WIDTH))


@triton.jit
def deinterleave(x, ROWS: tl.constexpr, WIDTH: tl.constexpr):
    """(ROWS, 2K) pairs of lanes to (ROWS, K) and (ROWS, K)."""
    return tl.split(tl.reshape(x, (ROWS, WIDTH // 2, 2)))


@triton.jit
def exponent_of(score, row_factor, column_factor):
    """log2 of a weight before normalisation; the lowest number where the source takes no part.

    The factors are multiplied first: one alone may be large where the score is not.
    """
    bias = tl.where(column_factor == 0.0, -3.4e38, 0.0)
    return score * (row_factor * column_factor) + bias
