"""Energy of a coupler, by its resolution; and what one published chip says about it."""

from collections.abc import Callable

from oscsim.energy.estimate import EnergyError
from oscsim.energy.hardware import OscillatorHardware
from oscsim.energy.technology import node_capacitance, supply, unit_width
from oscsim.energy.units import Quantity
from oscsim.energy.valuation import Valuation

_MOST_BITS = 16.0


def units_of(bits: float) -> float:
    """Unit devices of a coupler: ``2^bits - 1``.

    Circuit: binary-weighted banks of equal units. All of them stay connected, used or not, so a coupler loads
    its nodes alike whatever its code. A fraction of a bit is ``log2`` of a number of levels.

    >>> units_of(1.0), units_of(8.0)
    (1.0, 255.0)
    """
    if not 0.0 < bits <= _MOST_BITS:
        raise EnergyError(f"coupler: given {bits:g} bits, expected more than 0 and at most {_MOST_BITS:g}")
    return 2.0**bits - 1.0


def coupler_width(bits: float, hardware: OscillatorHardware, v: Valuation) -> Quantity:
    """Total transistor width of a coupler."""
    return units_of(bits) * unit_width(hardware, v)


def coupler_capacitance(bits: float, hardware: OscillatorHardware, v: Valuation) -> Quantity:
    """``C_c(bits)``: what a coupler adds to the nodes it joins, gates, drains and short wires."""
    return node_capacitance(hardware, v, coupler_width(bits, hardware, v))


def coupler_energy(bits: float) -> Callable[[OscillatorHardware, Valuation], Quantity]:
    """Energy of one coupler and one carrier cycle, J: ``C_c(bits) V_DD^2 activity``."""

    def energy(hardware: OscillatorHardware, v: Valuation) -> Quantity:
        charge = coupler_capacitance(bits, hardware, v) * supply(hardware, v)
        return hardware.activity * charge * supply(hardware, v)

    return energy
