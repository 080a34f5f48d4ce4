"""Forward pass of Kuramoto attention: scores, softmax, circular mean and its read-out in one pass."""

# pyright: reportGeneralTypeIssues=false
# (what a jit function returns exists only inside a kernel)

import triton
import triton.language as tl

from .kuramoto_angle import cosine_sine
from .kuramoto_tile import deinterleave, exponent_of, load_operand, product, rest_of


@triton.jit
def attend(
    query, query_rest, row_factor, rows, biggest, total, mean, key, value, column_factor, start, size,
    PARTS: tl.constexpr, EDGE: tl.constexpr, WIDTH: tl.constexpr,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
):  # fmt: skip
    """One tile of the online softmax (Milakov and Gimelshein, arXiv 1805.02867); EDGE masks u > t.

    Weights are kept 2^14 times too large: float16 parts of the small ones then lose nothing. The 14 joins
    the difference of two scores, never one score: a large one would swallow it.
    """
    local = tl.arange(0, BLOCK_N)
    at = local[:, None] * WIDTH + tl.arange(0, WIDTH)[None, :]
    key_part, key_rest = load_operand(key, at, size, PARTS)
    score = tl.full((BLOCK_M, BLOCK_N), 0.0, tl.float32)
    score = product(query, query_rest, tl.trans(key_part), tl.trans(key_rest), score, PARTS)
    score = exponent_of(score, row_factor[:, None], tl.load(column_factor + local)[None, :])
    if EDGE:
        score = tl.where((start + local)[None, :] <= rows[:, None], score, -3.4e38)
    now = tl.maximum(biggest, tl.reduce(score, 1, tl.standard._elementwise_max))
    weight = tl.exp2(score - now[:, None] + 14.0)
    kept = tl.exp2(biggest - now)
    part = weight.to(query.dtype)
    value_part, value_rest = load_operand(value, at, size, PARTS)
    mean = mean * kept[:, None]
    mean = product(part, rest_of(weight, part, PARTS), value_part, value_rest, mean, PARTS)
    return now, total * kept + tl.reduce(weight, 1, tl.standard._sum_combine), mean


@triton.jit
def kuramoto_forward(
    query, key, value, row_factor, key_factor, theta, increment, radial, logsumexp, n, padded,
    CHANNELS: tl.constexpr, WIDTH: tl.constexpr, PARTS: tl.constexpr, CAUSAL: tl.constexpr,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
):  # fmt: skip
    """Tangent and radial part of ``G_t = sum_u A_tu e^{i theta_u}`` at theta_t, and log sum_u e^{s_tu}.

    One program per row tile and batch-head, longest rows first; operands as kuramoto_features writes them.
    """
    one = tl.program_id(1).to(tl.int64)
    first = (tl.num_programs(0) - 1 - tl.program_id(0)) * BLOCK_M
    local = tl.arange(0, BLOCK_M)
    rows = first + local
    size = tl.num_programs(1).to(tl.int64) * padded * WIDTH
    at = (one * padded + first) * WIDTH + (local[:, None] * WIDTH + tl.arange(0, WIDTH)[None, :])
    own, own_rest = load_operand(query, at, size, PARTS)
    scale = tl.load(row_factor + one * padded + rows)
    biggest = tl.full((BLOCK_M,), -3.4e38, tl.float32)
    total = tl.full((BLOCK_M,), 0.0, tl.float32)
    mean = tl.full((BLOCK_M, WIDTH), 0.0, tl.float32)
    columns = key_factor + one * padded
    edge = n
    if CAUSAL:
        edge = first // BLOCK_N * BLOCK_N
    for start in range(0, edge, BLOCK_N):
        skipped = (one * padded + start) * WIDTH
        biggest, total, mean = attend(
            own, own_rest, scale, rows, biggest, total, mean, key + skipped, value + skipped, columns + start,
            start, size, PARTS, False, WIDTH, BLOCK_M, BLOCK_N,
        )  # fmt: skip
    if CAUSAL:
        for start in range(edge, tl.minimum(first + BLOCK_M, n), BLOCK_N):
            skipped = (one * padded + start) * WIDTH
            biggest, total, mean = attend(
                own, own_rest, scale, rows, biggest, total, mean, key + skipped, value + skipped,
                columns + start, start, size, PARTS, True, WIDTH, BLOCK_M, BLOCK_N,
            )  # fmt: skip
    taking = tl.load(columns + rows) != 0.0
    logarithm = (biggest + (tl.log2(total) - 14.0)) * 0.6931471805599453
    tl.store(logsumexp + one * n + rows, tl.where(taking, logarithm, 0.0), mask=rows < n)
    real, imaginary = deinterleave(mean / total[:, None], BLOCK_M, WIDTH)
    lanes = tl.arange(0, WIDTH // 2)[None, :]
    at = (one * n + first) * CHANNELS + (local[:, None] * CHANNELS + lanes)
    inside = (rows < n)[:, None] & (lanes < CHANNELS)
    phase = tl.load(theta + at, mask=inside & taking[:, None], other=0.0).to(tl.float32)
    cosine, sine = cosine_sine(phase)
    tangent = tl.where(taking[:, None], cosine * imaginary - sine * real, 0.0)
    tl.store(increment + at, tangent, mask=inside)
    tl.store(radial + at, tl.where(taking[:, None], cosine * real + sine * imaginary, 0.0), mask=inside)
