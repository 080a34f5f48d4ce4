"""Prefix order parameter: chunks of tokens in parallel, joined by sums of whole chunks."""

# pyright: reportGeneralTypeIssues=false
# (what a jit function returns and what static_range yields exist only inside a kernel)

import triton
import triton.language as tl

HALF_PI_HIGH: tl.constexpr = tl.constexpr(1.57079632673412561417)
HALF_PI_LOW: tl.constexpr = tl.constexpr(6.07710050650619224932e-11)
TWO_OVER_PI: tl.constexpr = tl.constexpr(0.63661977236758134308)


@triton.jit
def cosine_sine(x):
    """Cosine and sine of x float32, to about 1e-7, without a branch.

    x = k pi/2 + y in float64: the high part of pi/2 has 33 bits, so k times it is exact up to |x| = 10^6.
    Polynomials on |y| <= pi/4: S. L. Moshier, Cephes mathematical library (sinf, cosf).
    """
    wide = x.to(tl.float64)
    k = tl.floor(wide * TWO_OVER_PI + 0.5)
    y = ((wide - k * HALF_PI_HIGH) - k * HALF_PI_LOW).to(tl.float32)
    # beyond 10^15 neighbouring float32 are whole turns apart
    y = tl.where(tl.abs(y) > 0.8, 0.0, y)
    quarter = k.to(tl.int64) & 3
    z = y * y
    sine = y + y * z * (-1.6666654611e-1 + z * (8.3321608736e-3 - z * 1.9515295891e-4))
    tail = 4.166664568298827e-2 + z * (-1.388731625493765e-3 + z * 2.443315711809948e-5)
    cosine = (1.0 - 0.5 * z) + z * z * tail
    odd = (quarter & 1) != 0
    first = tl.where(odd, sine, cosine)
    second = tl.where(odd, cosine, sine)
    return tl.where(((quarter + 1) & 2) != 0, -first, first), tl.where((quarter & 2) != 0, -second, second)


@triton.jit
def phasors(
    theta, valid, channel, head, heads, n, CHANNELS: tl.constexpr, LANES: tl.constexpr, BLOCK: tl.constexpr
):
    """Cosine and sine of a chunk of phases, (BLOCK, LANES), 0 where padded or outside."""
    token = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    lanes = channel + tl.arange(0, LANES)
    taken = tl.load(valid + head // heads * n + token, mask=token < n, other=0) != 0
    inside = taken[:, None] & (lanes < CHANNELS)[None, :]
    at = (head * n + token)[:, None] * CHANNELS + lanes[None, :]
    phase = tl.load(theta + at, mask=inside, other=0.0)
    cosine, sine = cosine_sine(phase)
    return tl.where(inside, cosine, 0.0), tl.where(inside, sine, 0.0)


@triton.jit
def order_sums(
    theta, valid, sums, heads, n, CHANNELS: tl.constexpr, LANES: tl.constexpr, BLOCK: tl.constexpr
):
    """Sum of the phasors of one chunk, to sums (B H, chunks, 2, CHANNELS)."""
    head = tl.program_id(1).to(tl.int64)
    to = sums + (head * tl.num_programs(0) + tl.program_id(0)) * 2 * CHANNELS
    for channel in range(0, CHANNELS, LANES):
        cosine, sine = phasors(theta, valid, channel, head, heads, n, CHANNELS, LANES, BLOCK)
        lanes = channel + tl.arange(0, LANES)
        tl.store(to + lanes, tl.reduce(cosine, 0, tl.standard._sum_combine), mask=lanes < CHANNELS)
        sine = tl.reduce(sine, 0, tl.standard._sum_combine)
        tl.store(to + CHANNELS + lanes, sine, mask=lanes < CHANNELS)


@triton.jit
def order_carry(
    sums, carry, chunks,
    REVERSE: tl.constexpr, WIDTH: tl.constexpr, LANES: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """Sum, in float64, of all chunks before each one (after it, with REVERSE), (B H, chunks, WIDTH)."""
    head = tl.program_id(1).to(tl.int64)
    lanes = tl.program_id(0) * LANES + tl.arange(0, LANES)
    sums += head * chunks * WIDTH
    carry += head * chunks * WIDTH
    total = tl.full((LANES,), 0.0, tl.float64)
    start = chunks - 1 if REVERSE else 0
    tl.store(carry + start * WIDTH + lanes, total.to(tl.float32), mask=lanes < WIDTH)
    for first in range(0, chunks, BLOCK):
        step = first + tl.arange(0, BLOCK)
        chunk = chunks - 1 - step if REVERSE else step
        inside = (step < chunks)[:, None] & (lanes < WIDTH)[None, :]
        x = tl.load(sums + (chunk[:, None] * WIDTH + lanes[None, :]), mask=inside, other=0.0).to(tl.float64)
        upto = total[None, :] + tl.associative_scan(x, 0, tl.standard._sum_combine)
        following = chunk - 1 if REVERSE else chunk + 1
        to = carry + (following[:, None] * WIDTH + lanes[None, :])
        tl.store(to, upto.to(tl.float32), mask=inside & (step + 1 < chunks)[:, None])
        total += tl.reduce(x, 0, tl.standard._sum_combine)


@triton.jit
def order_prefix(
    theta, valid, count, carry, order, heads, n,
    CHANNELS: tl.constexpr, LANES: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """r_i to order (B H, n); carry (B H, chunks, 2, CHANNELS): the sums before a chunk; count (B, n): n_i."""
    head = tl.program_id(1).to(tl.int64)
    token = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    before = carry + (head * tl.num_programs(0) + tl.program_id(0)) * 2 * CHANNELS
    total = tl.full((BLOCK,), 0.0, tl.float32)
    for channel in range(0, CHANNELS, LANES):
        cosine, sine = phasors(theta, valid, channel, head, heads, n, CHANNELS, LANES, BLOCK)
        lanes = channel + tl.arange(0, LANES)
        real = tl.load(before + lanes, mask=lanes < CHANNELS, other=0.0)[None, :]
        real += tl.associative_scan(cosine, 0, tl.standard._sum_combine)
        imaginary = tl.load(before + CHANNELS + lanes, mask=lanes < CHANNELS, other=0.0)[None, :]
        imaginary += tl.associative_scan(sine, 0, tl.standard._sum_combine)
        size = tl.sqrt(real * real + imaginary * imaginary)
        # a token after the last valid one would repeat its sums, a lane outside holds 0
        total += tl.reduce(size, 1, tl.standard._sum_combine)
    seen = tl.load(count + head // heads * n + token, mask=token < n, other=1.0)
    tl.store(order + head * n + token, total / (seen * CHANNELS), mask=token < n)


@triton.jit
def order_pull(
    theta, valid, count, carry, d_order, after, written, heads, n, vanishing,
    SUMS: tl.constexpr, CHANNELS: tl.constexpr, LANES: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """Backward pass, run twice: pull_i = g_i/(D n_i) Z_i/|Z_i| with Z_i the sum of phasors up to i.

    With SUMS, write sum_i pull_i of a chunk (B H, chunks, 2, CHANNELS); then, with what later chunks add in
    ``after``, d theta_j = cos(theta_j) Im P_j - sin(theta_j) Re P_j, P_j = sum_{i >= j} pull_i.
    """
    head = tl.program_id(1).to(tl.int64)
    token = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    chunk = (head * tl.num_programs(0) + tl.program_id(0)) * 2 * CHANNELS
    seen = tl.load(count + head // heads * n + token, mask=token < n, other=1.0)
    weight = tl.load(d_order + head * n + token, mask=token < n, other=0.0) / (seen * CHANNELS)
    for channel in range(0, CHANNELS, LANES):
        cosine, sine = phasors(theta, valid, channel, head, heads, n, CHANNELS, LANES, BLOCK)
        lanes = channel + tl.arange(0, LANES)
        inside = lanes < CHANNELS
        real = tl.load(carry + chunk + lanes, mask=inside, other=0.0)[None, :]
        real += tl.associative_scan(cosine, 0, tl.standard._sum_combine)
        imaginary = tl.load(carry + chunk + CHANNELS + lanes, mask=inside, other=0.0)[None, :]
        imaginary += tl.associative_scan(sine, 0, tl.standard._sum_combine)
        size = tl.sqrt(real * real + imaginary * imaginary)
        found = size > vanishing * seen[:, None]
        pull = tl.where(found, weight[:, None] / tl.where(found, size, 1.0), 0.0)
        real *= pull
        imaginary *= pull
        if SUMS:
            tl.store(written + chunk + lanes, tl.reduce(real, 0, tl.standard._sum_combine), mask=inside)
            imaginary = tl.reduce(imaginary, 0, tl.standard._sum_combine)
            tl.store(written + chunk + CHANNELS + lanes, imaginary, mask=inside)
        else:
            real = tl.associative_scan(real, 0, tl.standard._sum_combine, reverse=True)
            real += tl.load(after + chunk + lanes, mask=inside, other=0.0)[None, :]
            imaginary = tl.associative_scan(imaginary, 0, tl.standard._sum_combine, reverse=True)
            imaginary += tl.load(after + chunk + CHANNELS + lanes, mask=inside, other=0.0)[None, :]
            at = (head * n + token)[:, None] * CHANNELS + lanes[None, :]
            turn = cosine * imaginary - sine * real
            tl.store(written + at, turn, mask=(token < n)[:, None] & inside[None, :])
