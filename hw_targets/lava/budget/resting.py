"""Predicted errors of phase cells that lock, by source; every coefficient is derived, none is fitted.

A cell ``psi' = x - y sin psi`` (own clock, the larger of x and y is 1) rests where the rate *of the format*
vanishes or rounds to zero: ``sin psi* = rho + e/y`` with the error e of that rate
(docs/targets/lava_budget.md).
"""

import numpy as np
from numpy.typing import NDArray

from hw_targets.lava.budget.moments import Moments
from hw_targets.lava.budget.roundings import Roundings

Array = NDArray[np.float64]


# Table intervals before the resting point in which a cell is followed chord by chord.
CHORDS = 4


def resting_errors(ratio: Array, start: Array, time: Array, r: Roundings) -> dict[str, Moments]:
    """Errors of ``sin psi`` of cells at rest, by source.

    Parameters
    ----------
    ratio : rho = x/y < 1. start : psi(0), rad. time : own-clock time of the run. r : the format.
    """
    decay = np.sqrt((1.0 - ratio) * (1.0 + ratio))
    # a cell whose rate is positive comes from below and stops below its resting point
    side = np.where(ratio >= np.sin(start), 1.0, -1.0)
    # it stops at the first phase past the edge of the dead band, somewhere within one bit
    grid = r.phase_lsb * decay
    dead = np.maximum(np.where(side > 0, r.stop_below, r.stop_above) - grid / 2, 0.0)
    table_mean, table_variance = r.table(ratio, decay)
    if r.interpolation == "linear" and r.spacing:
        # where between two entries a cell rests is known
        place = np.mod(np.arcsin(ratio) / r.spacing, 1.0)
        table_mean, table_variance = -(r.spacing**2) / 2 * place * (1.0 - place) * ratio, 0.0 * ratio
    missing = missing_rate(ratio, start, time)
    if r.interpolation == "linear" and r.spacing:
        missing = np.where(side > 0, along_chords(ratio, start, time, r.spacing), missing)
    zero = np.zeros_like(ratio)
    return {
        "phase": Moments(-side * dead, grid**2 / 12),
        # a table that is too low is made up for by a larger phase
        "table": Moments(-table_mean, table_variance),
        # the sine stands still between two integers: its rounding is the place within that plateau
        "payload": Moments(-r.interpolation_mean(decay), zero + r.entry_variance + r.interpolation_variance),
        # without mismatch there is nothing to round
        "parameters": Moments(zero, np.where(ratio > 0, r.mantissa_variance, 0.0)),
        "step": Moments(zero, zero),
        # what the steps left over, where that is more than the dead band
        "settling": Moments(-side * np.maximum(missing - dead, 0.0), zero),
    }


def missing_rate(ratio: Array, start: Array, time: Array) -> Array:
    """Rate that is left after a time of relaxation: ``2 lambda^2 w exp(-lambda t)``, lambda^2 = 1 - rho^2.

    ``w = |sin((psi - s)/2) / sin((psi - u)/2)|`` with the resting point s and the unstable point u = pi - s
    decays exponentially, and the rate near s is lambda times the distance ``2 lambda w``.
    """
    rest = np.arcsin(ratio)
    decay = np.sqrt((1.0 - ratio) * (1.0 + ratio))
    near = np.abs(np.sin((start - rest) / 2))
    far = np.abs(np.sin((start - np.pi + rest) / 2))
    # a start on the unstable point does not move at all
    share = np.divide(near, far, out=np.zeros_like(near), where=far > 1e-12)
    return 2.0 * decay**2 * share * np.exp(-decay * time)


def along_chords(ratio: Array, start: Array, time: Array, spacing: float) -> Array:
    """The same for a cell that comes from below, with the last intervals of an interpolated sine as they are.

    On the chord between two entries the law is linear: the rate decays exponentially, at the slope of the
    chord. Near the edge, where the slope changes from chord to chord, this is what remains that counts.
    """
    entry = np.floor(np.arcsin(ratio) / spacing)
    # the chord lies below the sine: the resting point may be in the next interval
    entry += ratio > np.sin((entry + 1) * spacing)
    rest = np.arcsin(ratio)
    lowest = (entry - CHORDS) * spacing
    begin = np.maximum(lowest, np.minimum(start, rest))
    passed = _time_to(ratio, start, begin)
    rate = ratio - np.sin(begin)
    for chord in range(CHORDS + 1):
        left = (entry - CHORDS + chord) * spacing
        slope = (np.sin(left + spacing) - np.sin(left)) / spacing
        here = begin < left + spacing
        if chord == CHORDS:
            arrived = np.maximum(rate, 0.0) * np.exp(-slope * np.maximum(time - passed, 0.0))
            return np.where(time >= passed, arrived, missing_rate(ratio, start, time))
        beyond = np.maximum(ratio - np.sin(left + spacing), 1e-300)
        passed = passed + np.where(here, np.log(np.maximum(rate / beyond, 1.0)) / slope, 0.0)
        rate = np.where(here, np.minimum(rate, beyond), rate)
    raise AssertionError("the last chord returns")


def _time_to(ratio: Array, start: Array, end: Array) -> Array:
    """Own-clock time from one phase below the resting point to another."""
    rest = np.arcsin(ratio)
    decay = np.sqrt((1.0 - ratio) * (1.0 + ratio))

    def share(psi: Array) -> Array:
        return np.abs(np.sin((psi - rest) / 2)) / np.maximum(np.abs(np.sin((psi - np.pi + rest) / 2)), 1e-12)

    return np.maximum(np.log(np.maximum(share(start), 1e-300) / np.maximum(share(end), 1e-300)), 0.0) / decay
