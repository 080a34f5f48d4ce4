"""How long a cell needs, on its own clock: relaxation, beats, steps, and the edge band that follows.

Own clock: ``tau = max(|a|, d) t``, so that the fastest term of every cell has rate one. Durations come
from the relaxation rate and the residual to reach (docs/spec.md section 3), never from a constant; they
only plan the run, which itself decides from its data.
"""

import math

import numpy as np
from numpy.typing import NDArray

from oscsim.tolerance import EDGE_BAND, SETTLE_RESIDUAL

Array = NDArray[np.float64]

# RK4 stays accurate and well inside its stability limit (2.78 for a relaxation of rate one).
LARGEST_STEP = 0.5
# A cell far from the edge needs ln(2 / SETTLE_RESIDUAL) = 19 to come to rest; twice that is the least
# for which running makes sense.
SHORTEST_RUN = 40.0
# Durations are sorted into classes [0, 8), [8, 16), [16, 32), ...: a plain beat (2 pi) is in the first.
FIRST_CLASS = 8.0
# Planned durations are exact for the flow; a little is added for the integrator.
MARGIN = 1.02


def beat_duration(ratio: Array) -> Array:
    """Own-clock duration ``2 pi / sqrt(1 - 1/ratio^2)`` of one turn of an unlocked cell [ADLER].

    ``Omega = sqrt(d^2 - a^2)`` (Adler, Proc. IRE 34, 1946) with time counted in units of 1/d.

    >>> round(float(beat_duration(np.array(math.inf))), 4)
    6.2832
    """
    inverse = 1.0 / ratio
    return 2.0 * np.pi / np.sqrt((1.0 - inverse) * (1.0 + inverse))


def settling_duration(ratio: Array, start: Array) -> Array:
    """Own-clock duration until a locked cell is at rest to SETTLE_RESIDUAL.

    With psi* = asin(ratio) stable and pi - psi* unstable, ``q = sin((psi-psi*)/2) / sin((psi-pi+psi*)/2)``
    decays exactly as ``exp(-lambda tau)``, ``lambda = sqrt(1 - ratio^2)``; the residual
    ``|d psi/d tau|`` reaches epsilon at ``q = epsilon / (2 lambda^2)`` [ADLER].

    Parameters
    ----------
    ratio : d/|a| < 1; start : initial psi (+ pi where a < 0), rad; same shape.

    >>> round(float(settling_duration(np.array([0.0]), np.array([1.0]))[0]), 2)
    18.51
    """
    rate = np.sqrt((1.0 - ratio) * (1.0 + ratio))
    rest = np.arcsin(ratio)
    tiny = np.finfo(np.float64).tiny
    to_stable = np.maximum(np.abs(np.sin((start - rest) / 2)), tiny)
    # a start on the unstable point leaves, if at all, because of rounding: about 1e-17
    to_unstable = np.maximum(np.abs(np.sin((start - np.pi + rest) / 2)), 1e-17)
    needed = np.log(to_stable / to_unstable) + np.log(2.0 * rate**2 / SETTLE_RESIDUAL)
    at_rest = (np.abs(ratio - np.sin(start)) <= SETTLE_RESIDUAL) & (np.cos(start) >= 0.0)
    return np.where(at_rest, 0.0, np.maximum(needed, 0.0) / rate)


def duration_class(duration: Array) -> NDArray[np.int64]:
    """Class 0 for less than FIRST_CLASS, then one class per doubling.

    >>> duration_class(np.array([0.0, 8.0, 15.9, 16.0])).tolist()
    [0, 1, 1, 2]
    """
    return np.where(duration < FIRST_CLASS, 0, np.frexp(duration / FIRST_CLASS)[1]).astype(np.int64)


def class_step(step: float, number: int) -> float:
    """Step of a duration class: slow cells take wider steps, ``step sqrt(duration / 8)`` up to LARGEST_STEP.

    A long beat or relaxation creeps except for a swing of a few own-clock units. The error of the swing,
    ~ step^4, is divided by the beat 2 pi/lambda and may be 1/lambda larger (condition), so a step
    ~ lambda^(-1/2) keeps error / condition constant. Resting points of RK4 are exact at any step.

    >>> class_step(0.1, 0), class_step(0.1, 3), class_step(0.1, 9)
    (0.1, 0.2, 0.5)
    """
    return max(step, min(LARGEST_STEP, step * math.sqrt(2.0 ** max(number - 1, 0))))


def edge_band(max_duration: float) -> float:
    """Band ``|d/|a| - 1|`` inside which a cell may still be undecided at ``max_duration``.

    Unlocked: one beat must fit. Locked: ln(2 lambda^2 / epsilon) / lambda must fit, the duration from a
    start half-way between the two resting points (the default start is nearer to the stable one). Never
    below EDGE_BAND, which the comparison leaves out anyway.

    >>> edge_band(4000.0) == EDGE_BAND, round(edge_band(100.0), 4)
    (True, 0.0124)
    """
    beat = 2.0 * math.pi * MARGIN / max_duration
    unlocked = 1.0 / math.sqrt((1.0 - beat) * (1.0 + beat)) - 1.0
    low, high = math.sqrt(SETTLE_RESIDUAL / 2.0) * math.e, 1.0  # duration falls with lambda in between
    for _ in range(200):
        middle = 0.5 * (low + high)
        if math.log(2.0 * middle**2 / SETTLE_RESIDUAL) * MARGIN / middle > max_duration:
            low = middle
        else:
            high = middle
    locked = high**2 / (1.0 + math.sqrt((1.0 - high) * (1.0 + high)))
    return max(EDGE_BAND, unlocked, locked)
