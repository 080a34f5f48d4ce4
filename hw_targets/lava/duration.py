"""How long a cell runs on its own clock, and which cells a limited number of steps cannot decide.

A cell of ratio ``rho = d/|a|`` relaxes at ``lambda = sqrt(1 - rho^2)`` when it locks and beats at ``Omega =
sqrt(1 - 1/rho^2)`` when it does not, per unit of ``max(|a|, d) t`` [ADLER: Adler, Proc. IRE 34 (1946)]. Both
vanish at the edge. These times only say when to stop; whether a cell has settled is read from its data.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hw_targets.lava.program import Integrator
from oscsim.beat_average import FEWEST_TURNS
from oscsim.errors import LoweringError
from oscsim.tolerance import EDGE_BAND, LARGEST_BAND

Array = NDArray[np.float64]
Integers = NDArray[np.int64]
Mask = NDArray[np.bool_]

# One beat until the first crossing at the latest, one whole beat to average over, and a margin.
BEATS = 2.05
# Steps beyond the computed time: roundings of the step count and of the last bit.
SPARE_STEPS = 4
# Relative motion of two oscillators of a network, in units of the fastest clock of one.
RELATIVE = 2.0
# The first part of a network's record is left out of its average.
START_UP_SHARE = 1 / 8


@dataclass(frozen=True)
class Timing:
    """What decides the number of steps of a cell.

    Parameters
    ----------
    step : own-clock step, dimensionless (rad at a rate of one).
    residual : own-clock rate at which a cell counts as resting.
    resolution : how far the number format may shift a ratio.
    nearest : smallest distance (rad) from an unstable point that the format resolves.
    slope : how far the slope of the format's sine may be from the cosine; relaxation is that much slower.
    max_steps : largest number of steps.
    integrator : "runge_kutta", or "euler", which leaves an unstable point more slowly than time does.
    """

    step: float
    residual: float
    resolution: float
    nearest: float
    slope: float
    max_steps: int
    integrator: Integrator

    @property
    def slowness(self) -> float:
        """Time that a motion takes at most in steps of the integrator, relative to its own.

        An Euler step multiplies a distance from an unstable point by ``1 + h``, where time has ``e^h``; every
        other slope of the rate is smaller.
        """
        return 1.0 if self.integrator == "runge_kutta" else self.step / float(np.log1p(self.step))


def locked_time(ratio: Array, start: Array, timing: Timing) -> Array:
    """Own-clock time until the rate falls below half the residual, for ratios < 1.

    With the resting point s and the unstable point u = pi - s, the quotient ``sin((psi-s)/2) /
    sin((psi-u)/2)`` of a solution decays exactly like ``exp(-lambda t)``.
    """
    rest = np.arcsin(ratio)
    decay = np.sqrt((1.0 - ratio) * (1.0 + ratio))
    # rounding moves both points by up to resolution / decay; a start nearer to u than that creeps
    moved = timing.resolution / (2 * decay)
    near = np.abs(np.sin((start - rest) / 2)) + moved
    far = np.abs(np.sin((start - np.pi + rest) / 2))
    far = np.maximum(np.maximum(far - moved, far / 2), timing.nearest / 2)
    slowest = np.maximum(decay - timing.slope, 0.5 * decay)
    time = np.log(np.maximum(near / far * 4.0 * decay**2 / timing.residual, 1.0)) / slowest
    return time * timing.slowness


def unlocked_time(ratio: Array) -> Array:
    """Own-clock time of a first crossing and one whole beat after it, for ratios > 1."""
    beat = np.sqrt((1.0 - 1.0 / ratio) * (1.0 + 1.0 / ratio))
    return BEATS * 2 * np.pi / beat


def cell_steps(ratio: Array, start: Array, timing: Timing) -> Integers:
    """Steps for each cell, unlimited; a cell within the resolution of the edge gets -1."""
    # the number format may have moved a cell towards the edge by its resolution
    inside = ratio + timing.resolution
    outside = ratio - timing.resolution
    time = np.full(ratio.shape, np.nan)
    locks, beats = inside < 1.0, outside > 1.0
    time[locks] = locked_time(inside[locks], start[locks], timing)
    time[beats] = unlocked_time(outside[beats])
    # nine digits: the last bit of a logarithm depends on the processor, the plan must not
    steps = np.ceil(np.round(time / timing.step, 9)) + SPARE_STEPS
    return np.where(np.isnan(steps), -1, np.minimum(np.nan_to_num(steps), 2**40)).astype(np.int64)


def creeping(ratio: Array, start: Array, timing: Timing) -> Mask:
    """Cells that start so near their unstable point that the format's errors decide when they leave it.

    There the rate ``rho - sin psi`` is no larger than what rounding may add; a cell can sit on one entry of
    the sine table, one least significant bit per step from the next. (Without mismatch that entry is
    zero, and they stay: the rest of the table is symmetric about it.)
    """
    near = np.abs(ratio - np.sin(start)) <= 2.0 * timing.resolution
    return (ratio > 0.0) & (ratio < 1.0) & (np.cos(start) < 0.0) & near


def edge_steps(band: float, timing: Timing) -> int:
    """Steps that decide a cell at the edge of the band, on either side, from the default start."""
    steps = cell_steps(np.array([1.0 - band, 1.0 + band]), np.zeros(2), timing)
    return int(2**40 if (steps < 0).any() else steps.max())


def edge_band(timing: Timing) -> float:
    """Half width of the band around rho = 1: format, comparison and number of steps together.

    Raises
    ------
    LoweringError
        not even cells far from the edge settle within ``max_steps``.
    """
    low = max(EDGE_BAND, 2.0 * timing.resolution)
    if edge_steps(low, timing) <= timing.max_steps:
        return low
    high = 0.5
    if edge_steps(high, timing) > timing.max_steps:
        need = edge_steps(high, timing)
        raise LoweringError(
            f"max_steps: given {timing.max_steps}, but a cell at half the locking ratio needs {need} steps; "
            f"set max_steps={need} or more, or fewer steps_per_turn"
        )
    for _ in range(60):
        middle = 0.5 * (low + high)
        low, high = (low, middle) if edge_steps(middle, timing) <= timing.max_steps else (middle, high)
    return float(f"{high:.6g}") * (1 + 1e-5)


def network_band(step: float, max_steps: int) -> float:
    """Half width of the band around rho = 1 in which two network oscillators turn too seldom to average.

    Parameters
    ----------
    step, max_steps : own-clock step, and how many the longest run makes.

    Raises
    ------
    LoweringError
        the longest run is too short to average anything.
    """
    turns = 2 * np.pi * FEWEST_TURNS / (RELATIVE * step * (1 - START_UP_SHARE))
    # Omega = sqrt(1 - 1/rho^2) at the edge of the widest band
    widest = np.sqrt(1.0 - 1.0 / (1.0 + LARGEST_BAND) ** 2)
    need = int(np.ceil(turns / widest))
    if max_steps < need:
        raise LoweringError(
            f"max_steps: given {max_steps}, but oscillators that do not lock are averaged over "
            f"{FEWEST_TURNS} turns; set max_steps={need} or more, or fewer steps_per_turn"
        )
    omega = turns / max_steps
    return min(LARGEST_BAND, float(f"{1.0 / np.sqrt(1.0 - omega**2) - 1.0:.6g}"))
