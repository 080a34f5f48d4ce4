"""Bounds that hold whatever the circuit: of an overdamped clock, and Landauer's, for scale."""

import math

from oscsim.energy.estimate import EnergyError
from oscsim.energy.units import Quantity, quantity
from oscsim.energy.valuation import Valuation

# Families whose state relaxes without inertia.
OVERDAMPED = ("ring", "relaxation")


def cost(family: str) -> Quantity:
    """Least dimensionless E sigma^2 / (n^2 kT) of a free-running overdamped clock: ``8 pi^2``.

    The thermodynamic uncertainty relation [BARATO] bounds the relative variance of any current by the entropy
    it produces, ``Var/mean^2 >= 2 k/S``. A clock's current is its phase, mean 2 pi n after n cycles; in a
    steady state at one temperature ``S = E/T``. So ``E sigma^2 >= 2 kT (2 pi n)^2``. It is proven for
    Markov jumps and overdamped diffusion; a resonator stores the energy that it needs and breaks it
    [PIETZONKA].

    Raises
    ------
    EnergyError
        a family that is not overdamped.

    >>> cost("lc")
    Traceback (most recent call last):
        ...
    oscsim.energy.interval.EnergyError: the bound E sigma^2 >= 8 pi^2 n^2 kT holds for overdamped clocks \
(ring, relaxation): a tank of family lc stores energy from cycle to cycle and may run below it; use Leeson's \
formula
    """
    if family not in OVERDAMPED:
        raise EnergyError(
            f"the bound E sigma^2 >= 8 pi^2 n^2 kT holds for overdamped clocks ({', '.join(OVERDAMPED)}): "
            f"a tank of family {family} stores energy from cycle to cycle and may run below it; use Leeson's "
            "formula"
        )
    return quantity(8.0 * math.pi**2, "")


def least_energy_times_variance(family: str, cycles: float, thermal: Quantity) -> Quantity:
    """``8 pi^2 n^2 kT``, J rad^2: no overdamped free-running clock has less; EnergyError as :func:`cost`."""
    return (cost(family) * cycles**2 * thermal).to("J")


def erasures(v: Valuation, energy: Quantity) -> Quantity:
    """An energy in units of ``kT ln 2`` at 300 K, the least of erasing one bit [LANDAUER]: for scale only."""
    return (energy / (v("landauer_300K") * quantity(1.0, "bit"))).to("")
