"""The least energy at which phase noise leaves a read-out as accurate as it has to be."""

import math
from dataclasses import dataclass
from typing import Any, Protocol

from oscsim.counts import Counts
from oscsim.energy.constants import Book, Constant
from oscsim.energy.estimate import EnergyError
from oscsim.energy.hardware import OscillatorHardware
from oscsim.energy.interval import Interval
from oscsim.energy.noise import lc, ring, thermodynamic
from oscsim.energy.noise.locked import LARGEST_CORRECTION, Reference, allowed_diffusion, linear_error
from oscsim.energy.oscillator_terms import hardware_book
from oscsim.energy.units import Quantity, quantity
from oscsim.energy.valuation import Draws, Nominal, Valuation

_CRITERION = (
    "one read-out, not averaged, of the noisiest compared locked phase has a standard deviation "
    "of {deviation:.3g} rad, of noise alone"
)
_SOURCE = {
    "ring": "white noise of a single-ended CMOS ring [HAJIMIRI]; flicker noise comes on top",
    "lc": "Leeson's formula [LEESON]; flicker noise comes on top",
    "relaxation": "the thermodynamic bound of any overdamped clock [BARATO], the only floor with a source: "
    "nothing built comes near it",
}


# Of a network: nearer to 1, a variance along one difference says nothing about slips.
_LARGEST_SINE = 0.99
# Families whose floor is a formula for circuits.
_BUILT = ("ring", "lc")


class Scheduled(Protocol):
    """What the floor asks of a schedule: how long everything runs, how noisy a locked phase is when read."""

    @property
    def counts(self) -> Counts: ...
    @property
    def noise_rate(self) -> float: ...
    @property
    def locked_share(self) -> float | None: ...
    @property
    def sine(self) -> float: ...
    @property
    def basin(self) -> float: ...
    @property
    def largest_coupling(self) -> float: ...
    @property
    def carrier_hz(self) -> float: ...
    @property
    def accuracy(self) -> float: ...
    @property
    def dynamics(self) -> str: ...


@dataclass(frozen=True)
class NoiseFloor:
    """The floor of the oscillators of one layer, from the supply; couplers and read-out are not in it.

    Parameters
    ----------
    energy : all oscillators and cycles; None where there is no locked cell to spoil. cycle_energy : of one
        oscillator and one carrier cycle. variance : of the phase that the floor stands for, rad^2.
    valid : whether there is a floor. constants : behind it. notes : criterion, assumptions, limits.
    bound_only : nature's bound, far below what circuits do: to lie above it proves nothing.
    """

    energy: Interval | None
    cycle_energy: Interval | None
    variance: float
    valid: bool
    constants: tuple[Constant, ...]
    notes: tuple[str, ...]
    bound_only: bool = False

    def deviation(self, cycle_energy_j: float) -> float:
        """Standard deviation of the read-out, rad, if a cycle takes this energy: ``(floor/energy)^(1/2)``.

        Beyond about 0.3 rad read "it slips": the linear formula has ended.
        """
        if self.cycle_energy is None:
            raise EnergyError("noise floor: no locked cell is compared, so no read-out has a deviation")
        return math.sqrt(self.variance * self.cycle_energy.value_j / cycle_energy_j)

    def to_json(self) -> dict[str, Any]:
        """Everything above as plain JSON."""
        return {
            "energy": None if self.energy is None else self.energy.to_json(),
            "cycle_energy": None if self.cycle_energy is None else self.cycle_energy.to_json(),
            "variance_rad2": self.variance,
            "valid": self.valid,
            "bound_only": self.bound_only,
            "constants": [{"name": c.name, "citation": c.citation, "how": c.how} for c in self.constants],
            "notes": list(self.notes),
        }


def noise_floor(hardware: OscillatorHardware, schedule: Scheduled, book: Book) -> NoiseFloor:
    """The energy at which the phase of the noisiest compared locked cell is as uncertain as S may be wrong.

    ``E_cycle = C kT f0/kappa^2`` with the largest kappa^2 that keeps the variance ``kappa^2/(2 noise_rate)``
    (independent: twice that) at ``(accuracy/max |J|)^2`` (:mod:`oscsim.energy.noise.locked`; C by family,
    E sigma^2 = C n^2 kT); ``dS = J sin(psi) dpsi``, so S is then at least that certain. Near the edge a cell
    slips before: the variance is kept where the formula holds at the largest locked |sin psi*| (pair: up to
    ``edge_band`` from the edge, else at most 0.99), and where noise sends no start the other way round.

    Parameters
    ----------
    schedule : with counts of "oscillator_cycles", noise_rate (1/s), carrier_hz, accuracy, dynamics, ...

    Raises
    ------
    ConstantError
        a constant that may not be used.
    """
    ratio = schedule.sine if schedule.dynamics == "pair" else min(schedule.sine, _LARGEST_SINE)
    limit = min(LARGEST_CORRECTION / linear_error(1.0, ratio), schedule.basin)
    wanted = (schedule.accuracy / max(schedule.largest_coupling, schedule.accuracy)) ** 2
    variance = min(wanted, limit)
    notes = [_CRITERION.format(deviation=math.sqrt(variance)), _SOURCE[hardware.family]]
    if variance == limit:
        notes.append(f"a larger deviation, as accuracy {schedule.accuracy:g} allows, would let cells slip")
    if variance == schedule.basin:
        notes.append("some cell starts so near its unstable point that more noise may send it the other way")
    if not 0.0 < schedule.noise_rate < math.inf:
        notes.append("no locked cell is compared: phase noise has nothing to spoil, and there is no floor")
        return NoiseFloor(None, None, variance, False, (), tuple(notes))
    reference = _reference(hardware, schedule.dynamics)
    notes += _assumptions(schedule, reference)
    rate, carrier = quantity(schedule.noise_rate, "1/s"), quantity(schedule.carrier_hz, "Hz")
    diffusion = allowed_diffusion(variance, rate, reference)
    known = hardware_book(hardware, book).chosen(
        "temperature", hardware.temperature_k, "K", "--temperature-k"
    )
    nominal, drawn = Nominal(known), Draws(known)

    def of_cycle(v: Valuation) -> Quantity:
        return (cost(hardware.family, v) * v("boltzmann") * v("temperature") * carrier / diffusion).to("J")

    best, sampled = of_cycle(nominal), of_cycle(drawn)
    used, cycles = tuple(nominal.used.values()), schedule.counts.total("oscillator_cycles")
    scale = float(thermodynamic.erasures(Nominal(known), best).magnitude)
    notes.append(f"for scale only: a cycle at the floor is {scale:.3g} times kT ln 2 [LANDAUER]")
    total, bound = Interval.of(cycles * best, cycles * sampled), hardware.family not in _BUILT
    return NoiseFloor(total, Interval.of(best, sampled), variance, True, used, tuple(notes), bound)


_REFERENCE = {
    "clean": "kappa^2/(2 lambda): what the oscillators lock to is taken as free of noise, at no cost",
    "independent": "kappa^2/lambda: both sides are oscillators with noise of their own",
}
_TIME = {
    "cells": "from an exact start, over the time that a cell runs: linearised along its exact flow",
    "network": "1/lambda stands for the largest stationary variance of a difference (Lyapunov equation)",
}
_TURNING = "{share:.3g} % of what is compared does not lock: noise in its time average is not covered"


def _assumptions(schedule: Scheduled, reference: Reference) -> list[str]:
    notes = [_REFERENCE[reference], _TIME["network" if schedule.dynamics == "network" else "cells"]]
    if schedule.locked_share is not None and schedule.locked_share < 1.0:
        notes.append(_TURNING.format(share=100.0 * (1.0 - schedule.locked_share)))
    return notes


def cost(family: str, v: Valuation) -> Quantity:
    """Dimensionless E sigma^2 / (n^2 kT) of a family's free-running oscillator."""
    if family == "ring":
        return ring.cost(v)
    return lc.cost(v) if family == "lc" else thermodynamic.cost(family)


def _reference(hardware: OscillatorHardware, dynamics: str) -> Reference:
    """Networks: the schedule's rate is that of two independent oscillators with as much variance."""
    clean = dynamics == "clamped" or (dynamics == "pair" and hardware.cell == "injection")
    return "clean" if clean else "independent"
