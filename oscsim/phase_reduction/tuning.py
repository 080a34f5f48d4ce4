"""Free frequency of an oscillator against its tuning capacitance."""

from dataclasses import dataclass

import numpy as np
from numpy.polynomial import chebyshev
from numpy.typing import NDArray

from oscsim.errors import LoweringError
from oscsim.oscillators.oscillator import Oscillator
from oscsim.phase_reduction.limit_cycle import LimitCycle
from oscsim.phase_reduction.tuned_orbits import tuned_frequencies

Array = NDArray[np.float64]
# Tuning capacitances between which the frequency is known: 0.71 to 1.41 of nominal for an LC tank.
LOWEST, HIGHEST, _NODES = 0.5, 2.0, 24
_INVERSE = 60  # Newton steps of the inverse, clipped to the range


@dataclass(frozen=True, eq=False)
class TuningCurve:
    """``ln(frequency sqrt(c))`` as a Chebyshev series over ln c, 1/2 <= c <= 2: to 1e-12 up to mu = 3.

    Parameters
    ----------
    coefficients : of the series.
    """

    coefficients: Array

    def frequency(self, capacitance: Array) -> Array:
        """Free frequency at relative tuning capacitances, rad per natural unit of time.

        Raises
        ------
        LoweringError
            a capacitance outside the range.
        """
        c = np.asarray(capacitance, float)
        if c.size and not (c.min() >= LOWEST and c.max() <= HIGHEST):
            raise LoweringError(
                f"tuning capacitances: given {c.min():.4g} to {c.max():.4g} of nominal, expected between "
                f"{LOWEST:g} and {HIGHEST:g}; make detunings or mismatches smaller"
            )
        return np.exp(chebyshev.chebval(_node(c), self.coefficients)) / np.sqrt(c)

    def capacitance(self, frequency: Array) -> Array:
        """The inverse: capacitances at which the free frequency is this (Newton's method, to rounding).

        Raises
        ------
        LoweringError
            a frequency that no capacitance in the range reaches.
        """
        wanted = np.asarray(frequency, float)
        slope = chebyshev.chebder(self.coefficients)
        span = np.log(HIGHEST / LOWEST)
        node, level = np.zeros_like(wanted), np.log(wanted)
        for _ in range(_INVERSE):
            c = _capacitance(node)
            residual = chebyshev.chebval(node, self.coefficients) - 0.5 * np.log(c) - level
            step = residual / (chebyshev.chebval(node, slope) - 0.25 * span)
            node = np.clip(node - step, -1.0, 1.0)
        reached = self.frequency(_capacitance(node))
        if np.abs(reached / wanted - 1.0).max(initial=0.0) > 1e-12:
            ends = self.frequency(np.array([HIGHEST, LOWEST]))
            raise LoweringError(
                f"tuning: given free frequencies from {wanted.min():.4g} to {wanted.max():.4g} rad per "
                f"natural unit, expected {ends[0]:.4g} to {ends[1]:.4g} (capacitances {HIGHEST:g} to "
                f"{LOWEST:g} of nominal); make detunings smaller (a larger time_unit_s), or lower mu"
            )
        return _capacitance(node)


def tuning_curve(oscillator: Oscillator, cycle: LimitCycle) -> TuningCurve:
    """Interpolate the free frequency from shooting at 24 capacitances."""
    nodes = np.cos(np.pi * (np.arange(_NODES) + 0.5) / _NODES)
    capacitance = _capacitance(nodes)
    values = tuned_frequencies(oscillator, cycle, capacitance) * np.sqrt(capacitance)
    series = chebyshev.chebfit(nodes, np.log(values), _NODES - 1)
    return TuningCurve(np.asarray(series, np.float64))


def _capacitance(node: Array) -> Array:
    low, high = np.log(LOWEST), np.log(HIGHEST)
    return np.exp(0.5 * (low + high) + 0.5 * (high - low) * node)


def _node(capacitance: Array) -> Array:
    low, high = np.log(LOWEST), np.log(HIGHEST)
    return (2.0 * np.log(capacitance) - low - high) / (high - low)
