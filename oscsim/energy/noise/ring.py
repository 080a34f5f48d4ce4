"""White phase noise of a ring of inverters [HAJIMIRI]."""

import math

from oscsim.energy.units import Quantity
from oscsim.energy.valuation import Valuation


def phase_noise(
    eta: Quantity,
    voltage_ratio: Quantity,
    thermal: Quantity,
    power: Quantity,
    carrier: Quantity,
    offset: Quantity,
) -> Quantity:
    """``L(df) = 8/(3 eta) kT/P V_DD/V_char (f0/df)^2``, linear single-sideband, 1/Hz [HAJIMIRI].

    The least of a single-ended ring of CMOS inverters: white noise alone, symmetric edges; it does not depend
    on the number of stages.

    Parameters
    ----------
    eta : delay of a stage over its rise time. voltage_ratio : V_DD/V_char, V_char = (V_DD/2 - V_T)/gamma for
        a long channel, E_c L/gamma for a short one.
    thermal : kT. power : of the whole ring, from the supply. carrier, offset : f0 and df.

    >>> from oscsim.energy.units import quantity as q
    >>> thermal, power = q(4.142e-21, "J"), q(25, "mW")
    >>> noise = phase_noise(q(0.75, ""), q(6.34, ""), thermal, power, q(1.33, "GHz"), q(1, "MHz"))
    >>> from oscsim.energy.noise.phase_noise import decibel
    >>> round(float(decibel(noise)), 1)
    -111.8
    """
    return (8.0 / (3.0 * eta) * thermal / power * voltage_ratio * (carrier / offset) ** 2).to("1/Hz")


def cost(v: Valuation) -> Quantity:
    """Dimensionless E sigma^2 / (n^2 kT) of a ring: ``4 pi^2 8/(3 eta) V_DD/V_char``.

    ``kappa^2 = (2 pi df)^2 L`` does not depend on df; n cycles take the energy ``E = n P/f0`` and leave the
    variance ``sigma^2 = kappa^2 n/f0``; their product is ``n^2 kT`` times this number.
    """
    return (4.0 * math.pi**2 * 8.0 / (3.0 * v("ring_eta")) * v("ring_char_voltage_ratio")).to("")
