"""Predicted lock decisions of pair cells: which cells a format takes for locked, whatever they are.

Outside the band of a plan none is wrong. Inside it a cell that turns counts as locked when its rate rounds to
zero somewhere, or when it has not completed a beat and its last step is below the residual of the format:
where it is then follows from the time ``integral d psi / rate(psi)`` that it takes, with the rate of the
format (docs/targets/lava_budget.md).
"""

import numpy as np
from numpy.typing import NDArray

from hw_targets.lava.budget.resting import missing_rate
from hw_targets.lava.fixed_point import FixedPoint
from hw_targets.lava.formats import NumberFormat

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]

# Points of a turn at which rates are taken, dense around pi/2 where a cell near the edge spends its time:
# psi - pi/2 = pi sinh(STRETCH t) / sinh(STRETCH), |t| < 1, finest spacing 6e-6 rad.
POINTS, STRETCH = 1024, 10.0
# Cells at a time: points times cells numbers in memory.
BLOCK = 1024


def decisions(ratio: Array, start: Array, time: Array, form: NumberFormat) -> Mask:
    """Which cells the run takes for locked.

    Parameters
    ----------
    ratio : d/a. start : psi(0), rad. time : own-clock time of the run. form : the number format.
    """
    held = _as_held(np.minimum(ratio, 1.0 / np.maximum(ratio, 1.0)), form)
    rests = (ratio <= 1.0) & (held < 1.0)
    locked = rests & (missing_rate(np.where(rests, held, 0.0), start, time) <= form.residual)
    turns = np.flatnonzero(~rests)
    for block in np.array_split(turns, max(1, len(turns) // BLOCK)):
        locked[block] = _turning(held[block], start[block], time[block], form)
    return locked


def _turning(kappa: Array, start: Array, time: Array, form: NumberFormat) -> Mask:
    """Decisions about cells of rate 1 - kappa sin psi, kappa <= 1."""
    edges = np.pi / 2 + np.pi * np.sinh(STRETCH * np.linspace(-1.0, 1.0, POINTS + 1)) / np.sinh(STRETCH)
    rate = _rate(kappa[:, None], (edges[1:] + edges[:-1]) / 2, form)
    with np.errstate(divide="ignore", invalid="ignore"):
        passed = np.cumsum(np.diff(edges) / rate, axis=1)
    stuck = np.any(rate <= 0.0, axis=1)
    beat = np.where(stuck, 1.0, passed[:, -1])
    passed = np.where(stuck[:, None], 0.0, passed)
    begin = _at(passed, edges, start)
    end = begin + time
    last = (passed <= np.mod(end, beat)[:, None]).sum(axis=1)
    final = np.take_along_axis(rate, np.minimum(last, POINTS - 1)[:, None], axis=1)[:, 0]
    crossing = _at(passed, edges, np.full(len(kappa), np.pi / 2))
    # two crossings are a whole beat, and what has completed one is not locked
    whole = time - np.mod(crossing - begin, beat) >= beat
    return stuck | ((final <= form.residual) & ~whole)


def _at(passed: Array, edges: Array, psi: Array) -> Array:
    """Time at which each cell passes a phase, from the start of the turn."""
    turned = np.mod(psi + np.pi / 2, 2 * np.pi) - np.pi / 2
    return np.array([np.interp(x, edges[1:], row) for x, row in zip(turned, passed, strict=True)])


def _rate(kappa: Array, psi: Array, form: NumberFormat) -> Array:
    """Own-clock rate in the format, rounded as a step rounds it."""
    numbers = form.arithmetic
    if not isinstance(numbers, FixedPoint):
        return 1.0 - kappa * np.sin(psi)
    drift = numbers.rate(np.ones(1)) * numbers.amplitude
    pull = numbers.rate(kappa) * numbers.sine(numbers.from_radians(psi))
    return numbers.product(drift - pull, numbers.rate_shift) / numbers.step_lsb


def _as_held(value: Array, form: NumberFormat) -> Array:
    """A parameter of an own clock as the format holds it."""
    if not isinstance(form.arithmetic, FixedPoint):
        return value
    numbers = form.arithmetic
    return numbers.rate(value) / numbers.rate(np.ones(1))
