"""Flow map and read-out of the clamped law (docs/spec.md section 5)."""

# pyright: reportGeneralTypeIssues=false
# (what a jit function returns and what static_range yields exist only inside a kernel)

import triton
import triton.language as tl

from .tile import allowed_tile, squared_mismatch


@triton.jit
def half_advance(u_cos, u_sin, x):
    """Cosine and sine of half of ``phi(T) - phi(0)``, both unnormalised: the exact flow map.

    With u = phi(0) - Psi, x = rho R T, E = e^{-|x|} and c, s the cosine and sine of u/2,
    ``tan((phi(T) - phi(0))/2) = -(1 - E) c s / (c^2 + E s^2)``; for x < 0 the sign turns and c, s swap.
    Overflows for no x; x = 0 stays exactly, and so does a start exactly on the unstable point.
    """
    # the smaller of c^2 and s^2 comes from sin(u) = 2 c s, which does not cancel
    large = 0.5 * (1.0 + tl.abs(u_cos))
    small = u_sin * u_sin / (4.0 * large)
    ahead = (u_cos >= 0.0) == (x >= 0.0)
    kept = tl.exp(-tl.abs(x))
    p = tl.where(ahead, large, small) + kept * tl.where(ahead, small, large)
    q = tl.where(x >= 0.0, -0.5, 0.5) * (1.0 - kept) * u_sin
    moves = (x != 0.0) & (p + tl.abs(q) > 0.0)
    p = tl.where(moves, p, 1.0)
    q = tl.where(moves, q, 0.0)
    size = tl.maximum(p, tl.abs(q))  # both can be tiny: their squares must not vanish
    return p / size, q / size


@triton.jit
def frequency_coupling(
    frequency, alpha, active, matrix, n,
    CHANNELS: tl.constexpr, PARTS: tl.constexpr, CAUSAL: tl.constexpr,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
):  # fmt: skip
    """Write ``J_ij = exp(-alpha d_ij^2)``, 0 where masked, to matrix (H, N, N); one program per tile."""
    head = tl.program_id(2).to(tl.int64)
    first = tl.program_id(0) * BLOCK_M
    local = tl.arange(0, BLOCK_M)
    rows = first + local
    columns = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    squared = squared_mismatch(frequency, head, rows, columns, n, CHANNELS, PARTS, BLOCK_M, BLOCK_N)
    j = tl.exp(-(squared * tl.load(alpha + head)))
    j = tl.where(allowed_tile(active, rows, columns, n, CAUSAL), j, 0.0)
    cell = local[:, None] * n + columns[None, :]
    tl.store(matrix + (head * n + first) * n + cell, j, mask=(rows < n)[:, None] & (columns < n)[None, :])


@triton.jit
def clamped_flow(
    matrix, source_cos, source_sin, start_cos, start_sin, exponent,
    half_cos, half_sin, end_cos, end_sin, n, width,
    CAUSAL: tl.constexpr, LANES: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
):  # fmt: skip
    """Move free phases by their flow map under ``G = R e^{i Psi} = sum_j J_ij e^{i theta_j}``.

    exponent is rho K T, so x = exponent R. Writes half of the advance (its arctangent is taken outside)
    and the end point e^{i phi}. One program per row tile, head and LANES channels; arrays (H, N, width).
    """
    head = tl.program_id(1).to(tl.int64)
    first = tl.program_id(0) * BLOCK_M
    local = tl.arange(0, BLOCK_M)
    free = (first + local < n)[:, None]
    lanes = (tl.program_id(2) * LANES + tl.arange(0, LANES))[None, :]
    stop = n
    if CAUSAL:
        stop = tl.minimum(n, first + BLOCK_M)
    real = tl.full((BLOCK_M, LANES), 0.0, tl.float32)
    imaginary = tl.full((BLOCK_M, LANES), 0.0, tl.float32)
    for start in range(0, stop, BLOCK_N):
        columns = start + tl.arange(0, BLOCK_N)
        held = (columns < n)[:, None]
        cell = local[:, None] * n + columns[None, :]
        j = tl.load(matrix + (head * n + first) * n + cell, mask=free & (columns < n)[None, :], other=0.0)
        at = (head * n + start) * width + (tl.arange(0, BLOCK_N)[:, None] * width + lanes)
        theta = tl.load(source_cos + at, mask=held, other=0.0)
        real = tl.dot(j, theta, real, input_precision="ieee")
        theta = tl.load(source_sin + at, mask=held, other=0.0)
        imaginary = tl.dot(j, theta, imaginary, input_precision="ieee")
    at = (head * n + first) * width + (local[:, None] * width + lanes)
    cosine = tl.load(start_cos + at, mask=free, other=1.0)
    sine = tl.load(start_sin + at, mask=free, other=0.0)
    strength = tl.sqrt(real * real + imaginary * imaginary)
    x = tl.load(exponent + at, mask=free, other=0.0) * strength
    safe = tl.where(strength > 0.0, strength, 1.0)
    u_cos = (cosine * real + sine * imaginary) / safe
    u_sin = (sine * real - cosine * imaginary) / safe
    p, q = half_advance(u_cos, u_sin, x)
    norm = p * p + q * q
    turn_cos = (p - q) * (p + q) / norm
    turn_sin = 2.0 * p * q / norm
    tl.store(half_cos + at, p, mask=free)
    tl.store(half_sin + at, q, mask=free)
    tl.store(end_cos + at, cosine * turn_cos - sine * turn_sin, mask=free)
    tl.store(end_sin + at, sine * turn_cos + cosine * turn_sin, mask=free)


@triton.jit
def clamped_readout(
    matrix, source_cos, source_sin, end_cos, end_sin, values, sync, output, n, width,
    CHANNELS: tl.constexpr, VALUES: tl.constexpr, LANES: tl.constexpr,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
):  # fmt: skip
    """``S_ij = J_ij (1/D) sum_l cos(phi_i^l - theta_j^l)`` and the output from its positive part."""
    head = tl.program_id(1).to(tl.int64)
    first = tl.program_id(0) * BLOCK_M
    local = tl.arange(0, BLOCK_M)
    free = (first + local < n)[:, None]
    if VALUES > 0:
        wide = tl.arange(0, VALUES)[None, :]
        total = tl.full((BLOCK_M,), 0.0, tl.float32)
        summed = tl.full((BLOCK_M, VALUES), 0.0, tl.float32)
    for start in range(0, n, BLOCK_N):
        columns = start + tl.arange(0, BLOCK_N)
        held = (columns < n)[:, None]
        score = tl.full((BLOCK_M, BLOCK_N), 0.0, tl.float32)
        for lane in range(0, width, LANES):
            lanes = (lane + tl.arange(0, LANES))[None, :]
            at = (head * n + first) * width + (local[:, None] * width + lanes)
            to = (head * n + start) * width + (tl.arange(0, BLOCK_N)[:, None] * width + lanes)
            phi = tl.load(end_cos + at, mask=free, other=0.0)
            theta = tl.load(source_cos + to, mask=held, other=0.0)
            score = tl.dot(phi, tl.trans(theta), score, input_precision="ieee")
            phi = tl.load(end_sin + at, mask=free, other=0.0)
            theta = tl.load(source_sin + to, mask=held, other=0.0)
            score = tl.dot(phi, tl.trans(theta), score, input_precision="ieee")
        cell = (head * n + first) * n + (local[:, None] * n + columns[None, :])
        inside = free & (columns < n)[None, :]
        s = tl.load(matrix + cell, mask=inside, other=0.0) * (score * (1.0 / CHANNELS))
        tl.store(sync + cell, s, mask=inside)
        if VALUES > 0:
            s = tl.maximum(s, 0.0)
            at = (head * n + start) * VALUES + (tl.arange(0, BLOCK_N)[:, None] * VALUES + wide)
            v = tl.load(values + at, mask=held, other=0.0)
            summed = tl.dot(s, v, summed, input_precision="ieee")
            total += tl.reduce(s, 1, tl.standard._sum_combine)
    if VALUES > 0:
        mean = summed / tl.where(total > 0.0, total, 1.0)[:, None]
        at = (head * n + first) * VALUES + (local[:, None] * VALUES + wide)
        tl.store(output + at, mean, mask=free)
