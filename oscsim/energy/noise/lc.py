"""White phase noise of an LC oscillator [LEESON]."""

import math

from oscsim.energy.units import Quantity
from oscsim.energy.valuation import Valuation


def phase_noise(
    excess: Quantity,
    thermal: Quantity,
    power: Quantity,
    quality: Quantity,
    carrier: Quantity,
    offset: Quantity,
) -> Quantity:
    """``L(df) = 2 F kT/P (f0/(2 Q df))^2``, linear single-sideband, 1/Hz [LEESON].

    The part that falls with df^2: white noise, inside the bandwidth f0/2Q of the tank.

    Parameters
    ----------
    excess : F, noise of tank and active devices over that of the tank's loss alone. thermal : kT.
    power : dissipated in the tank. quality : Q of the loaded tank. carrier, offset : f0 and df.
    """
    return (2.0 * excess * thermal / power * (carrier / (2.0 * quality * offset)) ** 2).to("1/Hz")


def energy_times_variance(cycles: float, excess: Quantity, thermal: Quantity, quality: Quantity) -> Quantity:
    """``E sigma^2 = 2 pi^2 n^2 F kT/Q^2``, J rad^2, E the energy that the tank dissipates in n cycles.

    From :func:`phase_noise`: ``kappa^2 = (2 pi df)^2 L = 2 pi^2 F kT f0^2/(P Q^2)``. n cycles take the time
    n/f0, hence the energy ``E = n P/f0`` and the variance ``sigma^2 = kappa^2 n/f0``; in their product P and
    f0 cancel. The same follows from the tank itself: its loss ``G = 2 pi f0 C/Q`` is a white current of
    one-sided density 4 kT G F, which moves the phase of an amplitude A by half that density times
    ``<sin^2>/(C A)^2``: ``kappa^2 = kT G F/(C A)^2``, with ``P = G A^2/2``.

    >>> from oscsim.energy.units import quantity as q
    >>> energy_times_variance(1, q(1.0, ""), q(1.0, "J"), q(math.pi, "")).to("J")
    <Quantity(2.0, 'joule')>
    """
    return (2.0 * math.pi**2 * cycles**2 * excess * thermal / quality**2).to("J")


def cost(v: Valuation) -> Quantity:
    """Dimensionless E sigma^2 / (n^2 kT), E from the supply: ``2 pi^2 F/(Q^2 efficiency)``."""
    quality = v("tank_quality_factor")
    return (2.0 * math.pi**2 * v("excess_noise_lc") / quality**2 / v("lc_efficiency")).to("")
