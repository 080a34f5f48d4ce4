"""How close is close enough: the only file with tolerance numbers, each with its derivation.

An error in the pair law (rounding, quantisation, finite settling) reaches S through
``S = |J| sqrt(1 - rho^2)``, ``rho = d/|a|``, so ``|dS| <= |J| condition |d rho|`` with
``condition = 1/sqrt|1 - rho^2|``. A target therefore states one *epsilon*, the error at condition 1,
and every cell is allowed ``epsilon * condition``; cells so close to the edge that the target cannot
tell locked from unlocked are left out, counted, and their share is capped (docs/spec.md section 6).
"""

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

# A condition above this is not compared: it would turn a small epsilon into a tolerance that any
# answer passes (1e-2 of the coupling for a float32 kernel already at 1e3).
CONDITION_CAP = 100.0

# |1 - rho^2| < 1/cap^2 is, to first order, |rho - 1| < 1/(2 cap^2): the cells whose condition is capped.
EDGE_BAND = 0.5 / CONDITION_CAP**2

# A clamped start this close (rad) to its unstable point may fall either way, or stay: the sine of a
# 16-bit payload rounds to zero below 2^-16 = 1.5e-5, and a 24-bit phase adds several times 3.7e-7.
UNSTABLE_BAND = 2e-5

# Simulated lock: |<exp(i psi)>| of an unlocked cell is (rho - sqrt(rho^2 - 1)), which reaches 0.99 only
# for rho < 1.00005 = 1 + EDGE_BAND; so outside the band this threshold decides without error.
LOCK_THRESHOLD = 0.99

# Promises wider than these could not reject an answer that is a few percent wrong, or let too many cells
# go without a verdict; the comparer refuses them, so no result can set its own tolerance.
LARGEST_EPSILON = 0.05
LARGEST_BAND = 0.5
LARGEST_AVERAGING_ERROR = 0.06

# The allowed error of a cell is relative to its own |J|, but not below this share of the largest of its
# row: float32 cannot hold exp(-alpha d^2) below 1e-38, and no sum of a row can tell.
NEGLIGIBLE_COUPLING = 1e-9

# Float64 circuit or process: what is left when the run stops, not rounding, is the error.
# A run stops when its residual |d psi / d tau| (own clock) is below SETTLE_RESIDUAL; the distance to
# the fixed point is residual * condition, so the read-out error is at most SETTLE_RESIDUAL * condition.
SETTLE_RESIDUAL = 1e-8
FLOAT64_EPSILON = 1e-6

# Float32 kernel: d, J and a carry a few roundings each (2^-24), amplified by alpha d^2 <= 30 before J
# is negligible: 30 * 2^-24 * 4 = 7e-6.
FLOAT32_EPSILON = 1e-5

# Closed form and oracle ODE against each other, both in float64 with solver tolerance 1e-10.
ORACLE_EPSILON = 1e-8

# A drifting network is averaged over a smooth window; the average counts as converged when the later
# half of the window (whose error is far larger) agrees with the whole to the residual. Quasi-periodic
# motion gets there; a chaotic network converges only like 1/sqrt(T), and its average is reported with
# the estimated error as long as that stays below the cap.
AVERAGING_RESIDUAL = 1e-6
AVERAGING_CAP = 0.05

# Default fixed-point format (24-bit phase, 16-bit sine payload, 8-bit weights): half a least
# significant bit of an 8-bit signed weight is 2^-8 of full scale, doubled for phase, sine and step.
FIXED_POINT_EPSILON = 2.0**-7

# Share of off-diagonal unmasked cells a target may leave undecided.
EXCLUDED_SHARE = 0.02
EXCLUDED_SHARE_FIXED_POINT = 0.10


@dataclass(frozen=True)
class Accuracy:
    """What a run promises about its numbers.

    Parameters
    ----------
    epsilon : error of S per unit of condition and of |J|; also rad per unit of phase condition.
    band : cells with ``|d/|a| - 1| <= band`` are not compared.
    averaging_error : extra error of the mean of unlocked cells, a fraction of |J| (see euler_bias).
    excluded_share : largest share of cells that may be inside the band.
    """

    epsilon: float
    band: float = EDGE_BAND
    averaging_error: float = 0.0
    excluded_share: float = EXCLUDED_SHARE


def empty_promise(promise: Accuracy) -> str | None:
    """Why a promise could reject nothing, or None if it is one.

    >>> empty_promise(Accuracy(1e-6, excluded_share=1.0))
    'excluded_share 1 is outside [0, 0.1]: it could reject nothing'
    """
    limits = {
        "epsilon": LARGEST_EPSILON,
        "band": LARGEST_BAND,
        "averaging_error": LARGEST_AVERAGING_ERROR,
        "excluded_share": EXCLUDED_SHARE_FIXED_POINT,
    }
    for name, limit in limits.items():
        value = getattr(promise, name)
        if not 0 <= value <= limit or (name == "epsilon" and value == 0):
            return f"{name} {value:g} is outside [0, {limit:g}]: it could reject nothing"
    return None


FLOAT64 = Accuracy(FLOAT64_EPSILON)
FLOAT32 = Accuracy(FLOAT32_EPSILON)

# Frequencies rounded to float16 (2^-11 of their distance from the centre, at most sqrt(8/max(1, w)) lock
# radii d*): both ends of a pair move d by at most 2 * 2^-11 * sqrt(8) d*, and rho = d exp(alpha d^2)/(K r) by
# (1 + w) times that at the edge, largest near w = 1: 5.5e-3, doubled for the rounding of S and V to bfloat16
# (2^-9 each) and then rounded up to 2^-6. Cells closer to the edge than that are undecided.
SIXTEEN_BIT_EPSILON = 2.0**-6
SIXTEEN_BIT = Accuracy(
    SIXTEEN_BIT_EPSILON, band=SIXTEEN_BIT_EPSILON, excluded_share=EXCLUDED_SHARE_FIXED_POINT
)
ORACLE = Accuracy(ORACLE_EPSILON)


def with_average(promise: Accuracy, estimate: float) -> Accuracy:
    """The promise of a drifting network: the estimated error of its time average comes on top.

    >>> with_average(FLOAT64, 1e-4).averaging_error
    0.0001
    """
    error = promise.averaging_error + max(estimate, AVERAGING_RESIDUAL)
    return replace(promise, averaging_error=error if estimate > 0 else promise.averaging_error)


def condition_of_ratio(rho: float | Array) -> Array:
    """``max(1, 1/sqrt|1 - rho^2|)``: growth of a relative error of d/a into S; infinite at the edge.

    >>> condition_of_ratio(np.array([0.0, 0.8, 1.0, np.inf])).round(6).tolist()
    [1.0, 1.666667, inf, 1.0]
    """
    with np.errstate(divide="ignore", over="ignore"):
        return np.maximum(1.0, 1.0 / np.sqrt(np.abs((1.0 - rho) * (1.0 + rho))))


def euler_bias(rho: float, step: float) -> float:
    """Shift of ``<cos psi>`` of an unlocked cell under explicit Euler, as a positive number.

    ``(h a/2)(1 - d (d - Omega)/a^2)`` with ``Omega = sqrt(d^2 - a^2)``, for a cell on its own clock:
    ``step = h max(a, d)``, dimensionless, so ``h a = step/rho`` (docs/spec.md section 3).

    >>> round(euler_bias(1.3, 1 / 32), 4)
    0.0047
    """
    if rho <= 1.0 or math.isinf(rho):
        return 0.0
    omega = math.sqrt((rho - 1.0) * (rho + 1.0))
    return step / (2.0 * rho) * (1.0 - rho * (rho - omega))


def rk4_epsilon(step: float) -> float:
    """Epsilon of a fourth-order Runge-Kutta run with this own-clock step; FLOAT64_EPSILON up to 0.1.

    Resting points are exact; what a step changes are the mean of an unlocked cell and the phase at a
    finite time. With the leading term ``step^4 / 120`` per unit of time over a swing of about one unit,
    measured worst cases per condition are 4e-3 step^4 (unlocked mean, every ratio and start) and 6.2e-3
    step^4 (clamped phase, every duration and start); 1e-2 step^4 = 1e-6 (step / 0.1)^4 covers both.

    >>> rk4_epsilon(0.05), round(rk4_epsilon(0.5), 6)
    (1e-06, 0.000625)
    """
    return FLOAT64_EPSILON * max(1.0, (step / 0.1) ** 4)


def sine_table_error(
    sine_bits: int, payload_bits: int, *, interpolated: bool = True, to_nearest: bool = True
) -> float:
    """Largest error of a tabulated sine.

    Interpolating sin over ``delta = 2 pi / 2^sine_bits`` errs by at most ``delta^2 / 8``; the entry is
    rounded to half of ``2^-(payload_bits - 1)``, and the interpolated value to half of it again, or cut off
    by up to the whole of it. The nearest entry alone is half an interval away: ``delta / 2``.

    >>> sine_table_error(10, 16) < 4e-5, sine_table_error(10, 16, interpolated=False) < 3.1e-3
    (True, True)
    """
    half = 2.0**-payload_bits
    if not interpolated:
        return math.pi / 2**sine_bits + half
    return (math.pi / 2**sine_bits) ** 2 / 2 + (2.0 if to_nearest else 3.0) * half


def lost_bits(to_nearest: bool) -> float:
    """Least significant bits of phase per step that roundings take from a rate.

    Half of one when the rate is rounded to nearest, a whole one when it is cut off; half of one more when
    the weighted sum of a Runge-Kutta step is divided.
    """
    return 1.0 if to_nearest else 1.5


def fixed_point_epsilon(
    coefficient_bits: int,
    phase_bits: int,
    sine_bits: int,
    payload_bits: int,
    steps_per_turn: int,
    *,
    interpolated: bool = True,
    to_nearest: bool = True,
) -> float:
    """Epsilon of phase oscillators in integer arithmetic, doubled from the larger of two errors.

    One is the rounding of a coefficient, at most ``2^-coefficient_bits`` of full scale. The other is that
    of the state: a sine error moves the resting phase and is read out once more (twice
    ``sine_table_error``), and a rate of ``lost_bits`` least significant bits of phase per step is lost
    (``steps_per_turn 2^-phase_bits`` on the own clock each), for up to four units of time.

    The default network format, 8-bit signed weights, gives FIXED_POINT_EPSILON.

    >>> fixed_point_epsilon(8, 24, 10, 16, 64) == FIXED_POINT_EPSILON
    True
    """
    sine = sine_table_error(sine_bits, payload_bits, interpolated=interpolated, to_nearest=to_nearest)
    state = 2.0 * sine + 4.0 * lost_bits(to_nearest) * steps_per_turn * 2.0**-phase_bits
    return 2.0 * max(2.0**-coefficient_bits, state)


# Float32 network at rest: a rate is a sum of terms whose magnitudes add up to the row's own rate, each
# rounded a few times (2^-24 = 6e-8), so a residual of 1e-6 of that rate is the smallest that rounding
# cannot hide; the distance to the fixed point is residual * condition, a tenth of FLOAT32_EPSILON.
FLOAT32_SETTLE_RESIDUAL = 1e-6

# One factor of a product in 16 bits. A bfloat16 operand is off by 2^-9 of itself; two operands, an
# intermediate of a chain of two products, and the result make four such roundings.
SIXTEEN_BIT_OPERAND = 2.0**-9
SIXTEEN_BIT_PRODUCT = 4 * SIXTEEN_BIT_OPERAND

# Frequencies in 16 bits (the opt-in "fast" mode): each operand of a pair moves by 2^-9 of its distance
# from the centre, at most the lock radius d* for frequencies of which a sizeable share locks, so d moves
# by at most 2 * 2^-9 d*.
SIXTEEN_BIT_SYNC = 2 * SIXTEEN_BIT_OPERAND

# Order parameter of a prefix, float32: phasors rounded to 2^-24 (2 roundings), sums of at most 64 of them
# whose roundings are independent (sqrt(64) = 8, relative to their number), the running total and the size
# rounded once each (4); 14 roundings, 16 taken. It does not grow with the length.
PREFIX_ORDER_ERROR = 16 * 2.0**-24

# A float32-class factor: float32 keeps 24 bits, two float16 parts 23 (the second has a sign of its own).
FLOAT32_OPERAND = 2.0**-23


def kuramoto_error(score_size: float, operand: float = FLOAT32_OPERAND) -> float:
    """Error of a Kuramoto attention increment, and of its gradients relative to the size of their terms.

    A score is a sum of terms whose magnitudes add up to at most ``score_size``; two factors, their products
    and the sum round it by 4 ``operand`` of that. An increment then errs by as much through its weights, and
    by 4 ``operand`` through the mean and its read-out; a gradient passes the weights twice: double.

    >>> kuramoto_error(4.0) < 1e-5
    True
    """
    return 2.0 * 4.0 * operand * (1.0 + score_size)


# Regime map: fourth-order steps on a network's own clock, where no rate exceeds 1. A step of size h solves
# equations whose rates are off by C h^4, C the sum of the coefficients of the fifth-order terms (below 1/20
# for rates and derivatives of at most 1): 8e-5 of the largest rate. Fixed points have no such error.
REGIME_STEP = 0.2
REGIME_STEP_ERROR = REGIME_STEP**4 / 20.0

# A mean |S error| is given to two decimals. Averages over a window and over its later half differ by about
# as much as the whole is wrong, and the mean over pairs of that difference bounds the change of the mean
# error (triangle inequality): a run ends when it is a tenth of the last decimal, and is settled below one.
REGIME_RESIDUAL = 1e-3
REGIME_CAP = 1e-2

# Oscillator circuits deviate from their own phase reduction in proportion to the locking strength epsilon.
# A coupling that also shifts the frequency (lag) changes amplitude and strength with the phase difference:
# at most 1.2 epsilon tan|lag| per condition over LC, ring and Stuart-Landau pairs (docs/circuits.md). What
# is driven by many has not even the symmetry of a pair: at rest at most 0.1 epsilon/contraction. At a given
# moment amplitudes that follow their drive with a delay of 1/contraction have moved phases by at most 0.35
# epsilon/contraction.
# A pair of rings behind inverters that does not lock keeps a mean S of up to 1.04 epsilon |J| (three stages
# of gain 3; 0.15 with five); in other families the terms above cover it.
CIRCUIT_LAG_FACTOR = 1.3
CIRCUIT_TURNING_FACTOR = 1.1
CIRCUIT_PAIR_FACTOR = 0.005
CIRCUIT_DRIVEN_FACTOR = 0.15
CIRCUIT_MOMENT_FACTOR = 0.5


def circuit_epsilon(floor: float, strength: float, lag: float, followed: float, accuracy: float) -> float:
    """Error of S per condition of an oscillator circuit against the closed form.

    A coupling function that deviates from ``a sin psi`` by a relative ``floor`` moves a resting phase by
    ``floor/cos(psi)`` and cos(psi) by at most ``floor condition``; to that come the terms of first order in
    the locking strength, and twice the phase accuracy of the run.

    Parameters
    ----------
    lag : rad, of the coupling's fundamental. followed : strength over contraction, times a factor above.

    >>> round(circuit_epsilon(5e-4, 0.03, 0.025, 0.0015, 1e-4), 6)
    0.003175
    """
    return floor + CIRCUIT_LAG_FACTOR * strength * math.tan(min(abs(lag), 1.5)) + followed + 2.0 * accuracy


def largest_euler_bias(step: float) -> float:
    """Largest :func:`euler_bias` over all ratios, at ``rho^2`` = the golden ratio g: ``step g^(-5/2) / 2``.

    >>> round(largest_euler_bias(0.1), 5) == round(euler_bias(1.27202, 0.1), 5) == 0.01501
    True
    """
    return step * ((1.0 + math.sqrt(5.0)) / 2.0) ** -2.5 / 2.0


def euler_mean_epsilon(step: float) -> float:
    """Epsilon of pair cells under explicit Euler, beside the bias of an unlocked mean.

    Resting points are exact, and the bias has no term of second order: measured over every ratio and start,
    the rest is at most 7e-3 step^3 per condition; 1e-2 step^3 covers it.

    >>> euler_mean_epsilon(0.01), round(euler_mean_epsilon(0.1), 9)
    (1e-06, 1e-05)
    """
    return max(FLOAT64_EPSILON, 1e-2 * step**3)


def euler_moment_epsilon(step: float) -> float:
    """Epsilon of the phase of a clamped oscillator at a given moment under explicit Euler.

    Euler steps of ``phi' = -sin phi`` follow ``-sin phi (1 + (h/2) cos phi)`` to second order in h, so that
    the phase is off by ``(h/2) sin phi_T ln g``, with ``g = sin phi_T / sin phi_0`` its growth: per
    condition max(1, g) at most ``h/(2e)``, for g = 1/e and e. The next order adds up to a quarter of h times
    that (measured 0.22, every duration and start).

    >>> round(euler_moment_epsilon(0.1), 4)
    0.0189
    """
    return step / (2.0 * math.e) * (1.0 + step / 4.0)
