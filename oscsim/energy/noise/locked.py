"""Variance of a locked phase difference, and where its formula ends.

``psi' = d - a sin psi + xi``: white noise of the intensity of one oscillator, kappa^2, against a clean
reference; of 2 kappa^2 where two independent oscillators meet. Near rest psi* = asin(d/a), a linear system of
rate ``lambda = a cos psi*``: stationary variance (intensity)/(2 lambda).
"""

import math
from typing import Literal

import numpy as np

from oscsim.energy.estimate import EnergyError
from oscsim.energy.units import Quantity, magnitude

Reference = Literal["clean", "independent"]
_INTENSITY = {"clean": 1.0, "independent": 2.0}
# The linear formula is used where its next order changes the variance by less than this share; a pair is then
# at least 6.4 times the noise below the barrier over which it slips (see barrier).
LARGEST_CORRECTION = 0.1


def locked_variance(
    diffusion: Quantity, rate: Quantity, reference: Reference, ratio: float = 0.0
) -> Quantity:
    """``kappa^2/(2 lambda)`` against a clean reference, ``kappa^2/lambda`` of two independent ones, rad^2.

    Parameters
    ----------
    diffusion : kappa^2 of one free-running oscillator, 1/s. rate : lambda = sqrt(a^2 - d^2), 1/s.
    reference : what it is locked to. ratio : d/a, which says how near the edge it is.

    Raises
    ------
    EnergyError
        too noisy for the formula: beyond LARGEST_CORRECTION it slips, and has no stationary variance.

    >>> from oscsim.energy.units import quantity
    >>> locked_variance(quantity(4.0, "1/s"), quantity(0.2, "1/ms"), "independent", ratio=0.5)
    <Quantity(0.02, 'dimensionless')>
    """
    variance = (_intensity(reference) * diffusion / (2.0 * rate)).to("")
    largest = float(np.max(magnitude(variance, "")))
    correction = linear_error(largest, ratio)
    if not correction <= LARGEST_CORRECTION:
        raise EnergyError(
            f"locked variance {largest:.3g} rad^2 at d/a = {ratio:g}: too much noise so near the edge: the "
            f"next order is {correction:.2g} of it, expected at most {LARGEST_CORRECTION:g}; take less noise "
            "(more power), stronger coupling, or a cell farther from d/a = 1"
        )
    return variance


def allowed_diffusion(variance: float, rate: Quantity, reference: Reference) -> Quantity:
    """The kappa^2 of one oscillator, 1/s, at which a locked difference has this variance (rad^2)."""
    return (variance * 2.0 * rate / _intensity(reference)).to("1/s")


def linear_error(variance: float, ratio: float) -> float:
    """Relative correction ``Var (1/2 + tan^2 psi*)`` of the variance at the next order in the noise.

    From the potential -d psi - a cos psi of the phase: its fourth derivative at rest gives 1/2, the third,
    twice, tan^2 psi*.
    """
    if not 0.0 <= abs(ratio) < 1.0:
        raise EnergyError(f"ratio d/a: given {ratio:g}, a locked cell has |d/a| < 1")
    return variance * (0.5 + ratio**2 / (1.0 - ratio**2))


def barrier(variance: float, ratio: float) -> float:
    """Barrier to the next turn over noise: ``2 (cos psi* - (pi/2 - |psi*|) |sin psi*|)/(Var cos psi*)``.

    From psi* to the top at pi - psi* of the potential -d psi - a cos psi; the noise is Var lambda. 2/Var at
    d = 0; near the edge (2/3) cos^2 psi*/Var.

    >>> round(barrier(0.01, 0.0), 9)
    200.0
    """
    cosine, distance = math.sqrt(1.0 - ratio**2), math.acos(abs(ratio))
    return 2.0 * (cosine - distance * abs(ratio)) / (variance * cosine)


def slip_rate(rate: float, variance: float, ratio: float) -> float:
    """Slips per unit of time, ``lambda/(2 pi) e^{-barrier}`` [KRAMERS], the way that d pulls.

    For barriers well above 1. ``rate`` and the result have the same unit.
    """
    return rate / (2.0 * math.pi) * math.exp(-barrier(variance, ratio))


def _intensity(reference: str) -> float:
    if reference not in _INTENSITY:
        raise EnergyError(f"reference: given {reference!r}, expected one of {', '.join(_INTENSITY)}")
    return _INTENSITY[reference]
