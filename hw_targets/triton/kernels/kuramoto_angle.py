"""Cosine and sine together, of phases up to 1e8 rad, without the slow path of a library's sine.

That path (Payne and Hanek) keeps a table in local memory, which every kernel that calls it pays for.
"""

# pyright: reportGeneralTypeIssues=false
# (what a jit function returns exists only inside a kernel)

import triton
import triton.language as tl


@triton.jit
def cosine_sine(phase):
    """Cosine and sine of float32 phases, rad, to about 1e-7.

    The quarter turn is taken out in float64, right for phases up to 1e8; the polynomials on
    [-pi/4, pi/4] are those of the Cephes library (S. L. Moshier, 1984-1992).
    """
    wide = phase.to(tl.float64)
    quarters = tl.floor(wide * 0.6366197723675814 + 0.5)
    x = (wide - quarters * 1.5707963267948966).to(tl.float32)
    quarter = quarters.to(tl.int64)
    z = x * x
    sine = x + x * z * (-1.6666654611e-1 + z * (8.3321608736e-3 - z * 1.9515295891e-4))
    cosine = 4.166664568298827e-2 + z * (-1.388731625493765e-3 + z * 2.443315711809948e-5)
    cosine = 1.0 - 0.5 * z + z * z * cosine
    swapped = (quarter & 1) != 0
    first = tl.where(swapped, sine, cosine)
    second = tl.where(swapped, cosine, sine)
    first = tl.where(((quarter + 1) & 2) != 0, -first, first)
    return first, tl.where((quarter & 2) != 0, -second, second)


@triton.jit
def turned(cosine, sine, angle):
    """``e^{i angle}`` times a unit vector."""
    turn_cos, turn_sin = cosine_sine(angle)
    return cosine * turn_cos - sine * turn_sin, sine * turn_cos + cosine * turn_sin
