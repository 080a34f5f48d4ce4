"""Energy of an LC oscillator: what its tank loses in a cycle, over how much of the supply reaches it."""

import math

from oscsim.energy.estimate import EnergyError
from oscsim.energy.hardware import OscillatorHardware
from oscsim.energy.technology import supply
from oscsim.energy.units import Quantity, quantity
from oscsim.energy.valuation import Valuation


def tank_capacitance(hardware: OscillatorHardware, v: Valuation) -> Quantity:
    """``C = 1/(2 pi f Z)`` of a tank that resonates at the carrier, Z = sqrt(L/C).

    Raises
    ------
    EnergyError
        the hardware has no carrier.
    """
    if hardware.carrier_hz is None:
        raise EnergyError(
            "family lc: no carrier_hz given, and the size of its tank depends on it; give that of the layer"
        )
    return 1.0 / (2.0 * math.pi * quantity(hardware.carrier_hz, "1/s") * v("tank_impedance"))


def amplitude(hardware: OscillatorHardware, v: Valuation) -> Quantity:
    """Peak voltage across the tank, V."""
    return v("lc_amplitude") * supply(hardware, v)


def tank_loss(capacitance: Quantity, peak: Quantity, quality_factor: Quantity) -> Quantity:
    """``pi C V^2/Q``: Q is 2 pi times the stored energy ``C V^2/2`` over the loss of a cycle.

    >>> from oscsim.energy.units import magnitude
    >>> loss = tank_loss(quantity(1.0, "pF"), quantity(1.0, "V"), quantity(10.0, ""))
    >>> round(magnitude(loss, "pJ"), 6)
    0.314159
    """
    return math.pi * capacitance * peak**2 / quality_factor


def cycle_energy(hardware: OscillatorHardware, v: Valuation) -> Quantity:
    """Energy of one oscillator and one carrier cycle, J: ``pi C V^2/(Q efficiency)``.

    In steady state the active devices replace what the tank loses; the supply gives that over its efficiency.
    """
    loss = tank_loss(tank_capacitance(hardware, v), amplitude(hardware, v), v("tank_quality_factor"))
    return loss / v("lc_efficiency")
