"""What one published chip says about its oscillators and couplers: one equation for two energies."""

import math
from dataclasses import dataclass, replace
from typing import Any, Literal, Protocol

from oscsim.energy.constants import Book
from oscsim.energy.coupler import coupler_energy
from oscsim.energy.estimate import EnergyError
from oscsim.energy.hardware import OscillatorHardware
from oscsim.energy.oscillator_terms import cycle_energy, hardware_book, span_energy
from oscsim.energy.units import Quantity, magnitude

LABEL = "prior, not measured"
_SMALL = 1e-9


class PublishedChip(Protocol):
    """What is asked of a chip of coupled ring oscillators; see oscsim.energy.validation.devices."""

    @property
    def name(self) -> str: ...
    @property
    def node_nm(self) -> float | None: ...
    @property
    def vdd_v(self) -> float | None: ...
    @property
    def n_osc(self) -> int | None: ...
    @property
    def n_couplings(self) -> int | None: ...
    @property
    def coupling_bits(self) -> float | None: ...
    @property
    def f_osc_hz(self) -> float | None: ...
    @property
    def power_w(self) -> float | None: ...
    @property
    def settle_s(self) -> float | None: ...


@dataclass(frozen=True)
class Segment:
    """All splits of ``P/f = N E_osc + M E_couple`` that design ranges allow: a segment of a line.

    Parameters
    ----------
    total_j : P/f, what the whole chip takes in a cycle. oscillators, couplers : N and M.
    oscillator_j, coupler_j : (low, high) of one oscillator, and of one coupler with its wire, in a cycle. The
        high end of one belongs to the low end of the other.
    solution_j : energy per solution, an upper bound because the settling time is one; None without it.
    label : that the split is a design range, not a measurement.
    """

    chip: str
    total_j: float
    oscillators: int
    couplers: int
    oscillator_j: tuple[float, float]
    coupler_j: tuple[float, float]
    solution_j: float | None
    label: str = LABEL

    def coupler_at(self, oscillator_j: float) -> float:
        """Energy of a coupler where an oscillator takes this; EnergyError outside the segment."""
        low, high = self.oscillator_j
        if not low * (1.0 - _SMALL) <= oscillator_j <= high * (1.0 + _SMALL):
            raise EnergyError(f"{self.chip}: given {oscillator_j:g} J, the segment is {low:g} to {high:g} J")
        return (self.total_j - self.oscillators * oscillator_j) / self.couplers

    def to_json(self) -> dict[str, Any]:
        """Both ends, the line they are on, and the label."""
        return {
            "chip": self.chip, "total_j": self.total_j, "oscillators": self.oscillators,
            "couplers": self.couplers, "oscillator_j": list(self.oscillator_j),
            "coupler_j": list(self.coupler_j), "solution_at_most_j": self.solution_j, "label": self.label,
        }  # fmt: skip

    def __str__(self) -> str:
        ends = ", ".join(
            f"{name} {low * 1e15:.3g} to {high * 1e15:.3g} fJ"
            for name, (low, high) in (("oscillator", self.oscillator_j), ("coupler", self.coupler_j))
        )
        return f"{self.chip}: {ends} per cycle ({self.label})"


def chip_book(chip: PublishedChip, book: Book) -> Book:
    """The constants for a published chip: a supply that it does not state may be far from nominal."""
    if chip.vdd_v is not None:
        return book
    share = book.usable("chip_supply")
    low, high = (float(magnitude(share.quantity(end), "")) for end in ("low", "high"))
    return book.replaced(
        replace(row, low=low * row.value, high=high * row.value)
        for row in book.values()
        if row.name.startswith("supply_") and row.value is not None
    )


class _End:
    """Every constant at the same end of its range: the formulas of energies grow with all they ask for."""

    def __init__(self, book: Book, end: Literal["low", "high"]) -> None:
        self.book = book
        self.end: Literal["low", "high"] = end

    def __call__(self, name: str, **conditions: float) -> Quantity:
        return self.book.usable(name, **conditions).quantity(self.end)


def feasible_split(chip: PublishedChip, book: Book) -> Segment:
    """The segment of (oscillator, coupler) energies that a chip's power leaves, both above 0.

    One equation cannot tell two energies apart: the priors for supply, stages, widths, loads and cell pitch
    bound each, and the chip's total cuts the box along a line. Leakage is not told apart from either.

    Raises
    ------
    EnergyError
        a number the equation needs is unknown, or no split within the priors gives the published power.
    ConstantError
        a node without constants.
    """
    numbers = {
        name: getattr(chip, name)
        for name in ("node_nm", "n_osc", "n_couplings", "coupling_bits", "f_osc_hz", "power_w")
    }
    unknown = [name for name, value in numbers.items() if not value]
    if unknown:
        raise EnergyError(f"{chip.name}: {', '.join(unknown)} unknown; one equation needs all of them")
    hardware = OscillatorHardware.of(family="ring", node_nm=numbers["node_nm"], vdd_v=chip.vdd_v)
    box = _box(hardware, numbers["coupling_bits"], hardware_book(hardware, chip_book(chip, book)))
    total = numbers["power_w"] / numbers["f_osc_hz"]
    oscillator, coupler = _cut(chip.name, total, numbers["n_osc"], numbers["n_couplings"], *box)
    return Segment(
        chip.name, total, numbers["n_osc"], numbers["n_couplings"], oscillator, coupler,
        None if chip.settle_s is None else numbers["power_w"] * chip.settle_s,
    )  # fmt: skip


Ends = tuple[float, float]


def _box(hardware: OscillatorHardware, bits: float, book: Book) -> tuple[Ends, Ends]:
    """(low, high) of an oscillator and of a coupler with one cell pitch of wire, J per cycle, by priors."""
    ends = [_End(book, "low"), _End(book, "high")]
    oscillator = [_joules(cycle_energy(hardware, v)) for v in ends]
    coupler = [_joules(coupler_energy(bits)(hardware, v) + span_energy(hardware, v)) for v in ends]
    return (oscillator[0], oscillator[1]), (coupler[0], coupler[1])


def _cut(name: str, total: float, n: int, m: int, oscillator: Ends, coupler: Ends) -> tuple[Ends, Ends]:
    """The part of the line ``n x + m y = total`` inside the box."""
    low = max(oscillator[0], (total - m * coupler[1]) / n)
    high = min(oscillator[1], (total - m * coupler[0]) / n)
    if not low <= high:
        reach = [n * oscillator[k] + m * coupler[k] for k in (0, 1)]
        raise EnergyError(
            f"{name}: {total:.3g} J per cycle cannot be split: the priors reach from {reach[0]:.3g} to "
            f"{reach[1]:.3g} J; a supply, node or number of couplings must be other than given"
        )
    return (low, high), ((total - n * high) / m, (total - n * low) / m)


def _joules(energy: Quantity) -> float:
    number = float(magnitude(energy, "J"))
    if not math.isfinite(number):
        raise EnergyError(f"prior energy of a cycle: {number:g} J")
    return number
