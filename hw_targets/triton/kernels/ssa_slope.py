"""Slopes of S that both backward kernels of selective synchronization attention take."""

# pyright: reportGeneralTypeIssues=false
# (what a jit function returns exists only inside a kernel)

import triton
import triton.language as tl

from .ssa_tile import (
    DECAY,
    EXPONENT,
    HALF_LOG_2,
    PULL,
    inner_products,
    kept,
    mismatch_of,
    parameter,
    sync_square,
)

# What stands for 1/S at the locking edge.
EXACT: tl.constexpr = tl.constexpr(0)
SMOOTH: tl.constexpr = tl.constexpr(1)

# 1/total of long rows is small: this factor keeps S/total inside float16.
WEIGHT_UNIT: tl.constexpr = tl.constexpr(1024.0)


@triton.jit
def sync_and_inverse(square, eps, EDGE: tl.constexpr):
    """S, and 1/S, S/(S^2 + eps^2) or 1/max(S, eps), which is 0 where S = 0."""
    if EDGE == SMOOTH:
        s = tl.sqrt(square)
        inverse = tl.math.rsqrt(square + eps * eps)
        inverse = s * inverse * inverse
    else:
        inverse = tl.where(square > 0.0, tl.math.rsqrt(tl.where(square > 0.0, square, 1.0)), 0.0)
        s = square * inverse
        if EDGE != EXACT:
            inverse = tl.minimum(inverse, 1.0 / eps)
    return s, inverse


@triton.jit
def slope_form(table, entry, PER_ROW: tl.constexpr, AXIS: tl.constexpr):
    """w log2(e), e^{-w}, and both factors of (pull/2)(w e^{-wu} + e^{-w}), which is pull dS^2/d(-u) / 2."""
    exponent = parameter(table, entry, EXPONENT, PER_ROW, AXIS)
    decay = parameter(table, entry, DECAY, PER_ROW, AXIS)
    pull = parameter(table, entry, PULL, PER_ROW, AXIS)
    return exponent, decay, HALF_LOG_2 * exponent * pull, 0.5 * decay * pull


@triton.jit
def plain_slopes(z, form, eps, EDGE: tl.constexpr):
    """u, e^{-wu}, S and 1/S of a tile from its product in UNITs of 1 - u."""
    mismatch = mismatch_of(z)
    coupling = tl.math.exp2(-(form[0] * mismatch))
    s, inverse = sync_and_inverse(sync_square(mismatch, coupling, form[1]), eps, EDGE)
    return mismatch, coupling, s, inverse


@triton.jit
def by_weight_tile(
    own, other, weight, shift, keep, keep_scale,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, DROPOUT: tl.constexpr, PARTS: tl.constexpr,
    PRODUCT: tl.constexpr, INTERPRETED: tl.constexpr,
):  # fmt: skip
    """dL/dS_ij = (keep_ij g_i.V_j - g_i.y_i) / total_i; own and other are g and V, in either order."""
    zero = tl.full((BLOCK_M, BLOCK_N), 0.0, tl.float32)
    by_weight = inner_products(own, other, zero, PARTS, PRODUCT, INTERPRETED)
    if DROPOUT:
        by_weight = tl.where(keep, by_weight * keep_scale, 0.0)
    return by_weight * weight - shift


@triton.jit
def keep_tile(words, head, row, column, DROPOUT: tl.constexpr):
    """dropout.py's mask of a tile, or a scalar that nobody looks at."""
    return kept(words, head, row, column) if DROPOUT else True


@triton.jit
def row_slopes(weight, shift, level, at, FIRST: tl.constexpr, LAST: tl.constexpr):
    """weight and shift of rows whose level is FIRST to LAST, 0 for the others: those add nothing."""
    form = tl.load(level + at)
    mine = (form >= FIRST) & (form <= LAST)
    return tl.where(mine, tl.load(weight + at), 0.0), tl.where(mine, tl.load(shift + at), 0.0)


@triton.jit
def row_sum(x):
    """Sum along axis 1."""
    return tl.reduce(x, 1, tl.standard._sum_combine)
