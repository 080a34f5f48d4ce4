"""Time steps of the network law (docs/spec.md section 4)."""

# pyright: reportGeneralTypeIssues=false
# (what a jit function returns and what static_range yields exist only inside a kernel)

import triton
import triton.language as tl


@triton.jit
def network_steps(
    heads, phase, carry, frequency, matrix, samples, velocity, steps, step,
    COUNT: tl.constexpr, WIDTH: tl.constexpr, LANES: tl.constexpr,
):  # fmt: skip
    """Classical Runge-Kutta steps of ``theta_i' = omega_i + sum_j M_ij sin(theta_j - theta_i)``.

    One program holds all COUNT oscillators of one head and LANES channels, so the whole run stays on
    chip; ``sum_j M_ij sin(theta_j - theta_i) = cos(theta_i) (M sin theta)_i - sin(theta_i) (M cos theta)_i``.
    Phases stay in [-pi, pi); carry holds what rounding took from their sum (Kahan), or a small velocity
    would be lost in it. Writes the phases after every step to samples (heads, steps, COUNT, WIDTH) and
    the velocity at the end; phase, carry, frequency, velocity (H, COUNT, WIDTH), matrix (H, COUNT, COUNT).
    """
    slot = tl.program_id(0)
    head = tl.load(heads + slot).to(tl.int64)
    rows = tl.arange(0, COUNT)[:, None]
    lanes = (tl.program_id(1) * LANES + tl.arange(0, LANES))[None, :]
    m = tl.load(matrix + head * COUNT * COUNT + rows * COUNT + tl.arange(0, COUNT)[None, :])
    local = rows * WIDTH + lanes
    at = head * COUNT * WIDTH + local
    omega = tl.load(frequency + at)
    theta = tl.load(phase + at)
    lost = tl.load(carry + at)
    cell = samples + slot.to(tl.int64) * steps * COUNT * WIDTH + local
    half, sixth = step * 0.5, step / 6.0
    for _ in range(steps):
        point = theta
        ends = omega
        middle = omega
        for stage in tl.static_range(4):
            sine = tl.sin(point)
            cosine = tl.cos(point)
            pull = cosine * tl.dot(m, sine, input_precision="ieee")
            rate = omega + (pull - sine * tl.dot(m, cosine, input_precision="ieee"))
            if stage == 0:
                ends = rate
                point = theta + half * rate
            elif stage == 1:
                middle = rate
                point = theta + half * rate
            elif stage == 2:
                middle += rate
                point = theta + step * rate
            else:
                ends += rate
        increment = sixth * (ends + 2.0 * middle) - lost
        moved = theta + increment
        lost = (moved - theta) - increment
        theta = moved - 6.283185307179586 * tl.floor(moved * 0.15915494309189535 + 0.5)
        tl.store(cell, theta)
        cell += COUNT * WIDTH
    sine = tl.sin(theta)
    cosine = tl.cos(theta)
    pull = cosine * tl.dot(m, sine, input_precision="ieee")
    rate = omega + (pull - sine * tl.dot(m, cosine, input_precision="ieee"))
    tl.store(phase + at, theta)
    tl.store(carry + at, lost)
    tl.store(velocity + at, rate)
