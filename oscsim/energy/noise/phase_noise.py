"""Three ways to say how noisy a free-running phase is, as quantities with units.

A phase driven by white noise diffuses: ``Var = kappa^2 t`` [DEMIR]. Its spectrum is that of a Wiener process,
two-sided ``kappa^2/(2 pi df)^2``, and half of the one-sided density of a phase is what an analyser shows on
one side of the carrier, relative to it: ``L(df)``. So ``kappa^2 = (2 pi df)^2 L(df)``, with L linear and not
in decibels, wherever the noise is white (beyond the corner of flicker noise).
"""

import math
from typing import Any

import numpy as np

from oscsim.energy.units import Quantity, magnitude, quantity


def diffusion_from_phase_noise(noise: Quantity, offset: Quantity) -> Quantity:
    """``kappa^2 = (2 pi df)^2 L``, rad^2/s, from linear single-sideband noise L (1/Hz) at offset df (Hz).

    >>> one = diffusion_from_phase_noise(from_decibel(-110.0), quantity(1.0, "MHz"))
    >>> print(f"{magnitude(one, '1/s'):.1f}")
    394.8
    """
    return ((2.0 * math.pi * offset) ** 2 * noise).to("1/s")


def phase_noise_from_diffusion(diffusion: Quantity, offset: Quantity) -> Quantity:
    """``L = kappa^2/(2 pi df)^2``, 1/Hz: the inverse of :func:`diffusion_from_phase_noise`."""
    return (diffusion / (2.0 * math.pi * offset) ** 2).to("1/Hz")


def free_running_variance(diffusion: Quantity, time: Quantity) -> Quantity:
    """``kappa^2 t``, rad^2: how far a phase that nothing holds has gone after a time.

    >>> free_running_variance(quantity(400.0, "1/s"), quantity(1.0, "us"))
    <Quantity(0.0004, 'dimensionless')>
    """
    return (diffusion * time).to("")


def decibel(noise: Quantity) -> Any:
    """L as people write it, dBc/Hz: ``10 log10 (L Hz)``.

    >>> round(float(decibel(quantity(1e-11, "1/Hz"))), 6)
    -110.0
    """
    return 10.0 * np.log10(magnitude(noise, "1/Hz"))


def from_decibel(dbc_per_hz: float) -> Quantity:
    """Linear L (1/Hz) of a number in dBc/Hz."""
    return quantity(10.0 ** (dbc_per_hz / 10.0), "1/Hz")
