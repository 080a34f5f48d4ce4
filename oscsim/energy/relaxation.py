"""Energy of a relaxation oscillator: the charge that its timing capacitor takes from the supply."""

from oscsim.energy.hardware import OscillatorHardware
from oscsim.energy.technology import supply
from oscsim.energy.units import Quantity
from oscsim.energy.valuation import Valuation


def timing_energy(capacitance: Quantity, vdd: Quantity, swing: Quantity) -> Quantity:
    """``C V_DD^2 swing``: V_DD times the charge drawn from the supply in a cycle.

    Exact whatever the resistors and the waveform: the supply feeds the capacitor while its voltage rises, the
    ground takes its charge while it falls. So the supply gives ``integral of max(C dV/dt, 0) dt``, which is C
    times the rise from lowest to highest voltage, ``swing V_DD`` (swing = 2 threshold for a fast comparator).

    >>> from oscsim.energy.units import magnitude, quantity
    >>> magnitude(timing_energy(quantity(1.0, "pF"), quantity(2.0, "V"), quantity(0.5, "")), "pJ")
    2.0
    """
    return capacitance * vdd**2 * swing


def cycle_energy(hardware: OscillatorHardware, v: Valuation) -> Quantity:
    """Energy of one oscillator and one carrier cycle, J: ``C V_DD^2 swing overhead``.

    The overhead is that of comparator and switches, which the timing capacitor does not see.
    """
    timing = timing_energy(v("relaxation_capacitance"), supply(hardware, v), v("relaxation_swing"))
    return v("relaxation_overhead") * timing
