"""What Kuramoto attention does once per token: trigonometry before the tile kernels, chain rule after them.

Doing it here and not per tile saves most of the instructions of a tile: a source is read by every row tile.
"""

# pyright: reportGeneralTypeIssues=false
# (what a jit function returns exists only inside a kernel)

import triton
import triton.language as tl

from .kuramoto_angle import cosine_sine, turned
from .kuramoto_tile import deinterleave, interleave, power_of_two, store_operand


@triton.jit
def kuramoto_features(
    theta, gate_q, gate_k, angle, valid, query, key, value, query_factor, key_factor,
    n, padded, heads, CHANNELS: tl.constexpr, WIDTH: tl.constexpr, PARTS: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """Write query ``g^q [cos phi, sin phi]``, key ``g^k [cos phi, sin phi]``, value ``e^{i theta}``.

    phi = theta + angle; query and key divided by their factors. theta, gates (B H, N, k); angle (H, N, k)
    rad; valid (B, N); operands (PARTS, B H, padded, WIDTH); factors (B H, padded), key factor 0 for tokens
    that take no part. One program per block of tokens and batch-head.
    """
    one = tl.program_id(1).to(tl.int64)
    first = tl.program_id(0) * BLOCK
    tokens = first + tl.arange(0, BLOCK)
    lanes = tl.arange(0, WIDTH // 2)[None, :]
    taking = tl.load(valid + one // heads * n + tokens, mask=tokens < n, other=0) != 0
    inside = taking[:, None] & (lanes < CHANNELS)
    cell = tokens[:, None].to(tl.int64) * CHANNELS + lanes
    at = one * n * CHANNELS + cell
    phase = tl.load(theta + at, mask=inside, other=0.0).to(tl.float32)
    cosine, sine = cosine_sine(phase)
    turn = tl.load(angle + one % heads * n * CHANNELS + cell, mask=inside, other=0.0)
    phi_cos, phi_sin = turned(cosine, sine, turn)
    to = (one * padded + tokens[:, None]) * WIDTH + tl.arange(0, WIDTH)[None, :]
    size = tl.num_programs(1).to(tl.int64) * padded * WIDTH
    store_operand(value, to, size, interleave(cosine, sine, BLOCK, WIDTH), PARTS)
    gate = tl.load(gate_q + at, mask=inside, other=0.0).to(tl.float32)
    factor, inverse = power_of_two(tl.reduce(tl.abs(gate), 1, tl.standard._elementwise_max))
    gate = gate * inverse[:, None]
    store_operand(query, to, size, interleave(gate * phi_cos, gate * phi_sin, BLOCK, WIDTH), PARTS)
    tl.store(query_factor + one * padded + tokens, factor)
    gate = tl.load(gate_k + at, mask=inside, other=0.0).to(tl.float32)
    factor, inverse = power_of_two(tl.reduce(tl.abs(gate), 1, tl.standard._elementwise_max))
    gate = gate * inverse[:, None]
    store_operand(key, to, size, interleave(gate * phi_cos, gate * phi_sin, BLOCK, WIDTH), PARTS)
    tl.store(key_factor + one * padded + tokens, tl.where(taking, factor, 0.0))


@triton.jit
def kuramoto_upstream(
    theta, increment, d_increment, valid, d_mean, factor, own, n, padded, heads,
    CHANNELS: tl.constexpr, WIDTH: tl.constexpr, PARTS: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """Write the gradient by the mean, ``g [-sin theta, cos theta]``, and ``own = g . a``, both over factor.

    g is d_increment, a the increment (B H, N, k); d_mean (PARTS, B H, padded, WIDTH); factor and own
    (B H, padded).
    """
    one = tl.program_id(1).to(tl.int64)
    first = tl.program_id(0) * BLOCK
    tokens = first + tl.arange(0, BLOCK)
    lanes = tl.arange(0, WIDTH // 2)[None, :]
    taking = tl.load(valid + one // heads * n + tokens, mask=tokens < n, other=0) != 0
    inside = taking[:, None] & (lanes < CHANNELS)
    at = one * n * CHANNELS + tokens[:, None].to(tl.int64) * CHANNELS + lanes
    phase = tl.load(theta + at, mask=inside, other=0.0).to(tl.float32)
    g = tl.load(d_increment + at, mask=inside, other=0.0).to(tl.float32)
    biggest, inverse = power_of_two(tl.reduce(tl.abs(g), 1, tl.standard._elementwise_max))
    g = g * inverse[:, None]
    to = (one * padded + tokens[:, None]) * WIDTH + tl.arange(0, WIDTH)[None, :]
    size = tl.num_programs(1).to(tl.int64) * padded * WIDTH
    cosine, sine = cosine_sine(phase)
    store_operand(d_mean, to, size, interleave(-g * sine, g * cosine, BLOCK, WIDTH), PARTS)
    a = tl.load(increment + at, mask=inside, other=0.0).to(tl.float32)
    tl.store(factor + one * padded + tokens, biggest)
    tl.store(own + one * padded + tokens, tl.reduce(g * a, 1, tl.standard._sum_combine))


@triton.jit
def kuramoto_pull_back(
    theta, gate_q, gate_k, angle, valid, tau, radial, d_increment, d_query, d_key, d_value,
    d_theta, d_gate_q, d_gate_k, d_phi, d_tau,
    n, padded, heads, CHANNELS: tl.constexpr, WIDTH: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """From gradients by ``[cos, sin]`` features to those by theta, gates, phi (B H, N, k) and tau (B H, N).

    d_query is by g^q [cos phi, sin phi] before tau, d_key includes tau; they and d_value
    (B H, padded, WIDTH).
    """
    one = tl.program_id(1).to(tl.int64)
    tokens = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    lanes = tl.arange(0, WIDTH // 2)[None, :]
    taking = tl.load(valid + one // heads * n + tokens, mask=tokens < n, other=0) != 0
    inside = taking[:, None] & (lanes < CHANNELS)
    written = (tokens < n)[:, None] & (lanes < CHANNELS)
    cell = tokens[:, None].to(tl.int64) * CHANNELS + lanes
    at = one * n * CHANNELS + cell
    phase = tl.load(theta + at, mask=inside, other=0.0).to(tl.float32)
    cosine, sine = cosine_sine(phase)
    turn = tl.load(angle + one % heads * n * CHANNELS + cell, mask=inside, other=0.0)
    phi_cos, phi_sin = turned(cosine, sine, turn)
    source = (one * padded + tokens[:, None]) * WIDTH + tl.arange(0, WIDTH)[None, :]
    rows = (tokens < n)[:, None]
    real, imaginary = deinterleave(tl.load(d_query + source, mask=rows, other=0.0), BLOCK, WIDTH)
    gate = tl.load(gate_q + at, mask=inside, other=0.0).to(tl.float32)
    scale = tl.load(tau + one % heads)
    along = phi_cos * real + phi_sin * imaginary
    by_phi = scale * gate * (phi_cos * imaginary - phi_sin * real)
    tl.store(d_gate_q + at, tl.where(inside, scale * along, 0.0), mask=written)
    by_tau = tl.reduce(gate * along, 1, tl.standard._sum_combine)
    tl.store(d_tau + one * n + tokens, by_tau, mask=tokens < n)
    real, imaginary = deinterleave(tl.load(d_key + source, mask=rows, other=0.0), BLOCK, WIDTH)
    gate = tl.load(gate_k + at, mask=inside, other=0.0).to(tl.float32)
    tl.store(d_gate_k + at, tl.where(inside, phi_cos * real + phi_sin * imaginary, 0.0), mask=written)
    by_phi += gate * (phi_cos * imaginary - phi_sin * real)
    tl.store(d_phi + at, tl.where(inside, by_phi, 0.0), mask=written)
    real, imaginary = deinterleave(tl.load(d_value + source, mask=rows, other=0.0), BLOCK, WIDTH)
    g = tl.load(d_increment + at, mask=inside, other=0.0).to(tl.float32)
    g = g * tl.load(radial + at, mask=inside, other=0.0)
    by_theta = by_phi - g + (cosine * imaginary - sine * real)
    tl.store(d_theta + at, tl.where(inside, by_theta, 0.0), mask=written)
