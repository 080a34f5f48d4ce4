"""Replay of published chips of coupled oscillators: power, and energy per solution."""

import math
import re
from dataclasses import replace

from oscsim.counts import CountError
from oscsim.energy.constants import Book, ConstantError
from oscsim.energy.coupler_split import Segment, chip_book, feasible_split
from oscsim.energy.estimate import EnergyError, Estimate, Scope, estimate
from oscsim.energy.hardware import OscillatorHardware
from oscsim.energy.oscillator_terms import hardware_book, oscillator_terms
from oscsim.energy.validation.chip_counts import counts_per_second
from oscsim.energy.validation.devices import Chip
from oscsim.energy.validation.identity import publication, seen
from oscsim.energy.validation.row import NOTHING, Range, Role, Row
from oscsim.errors import ConfigError

_NEEDED = {
    "node_nm": "technology node", "n_osc": "oscillators", "n_couplings": "couplings",
    "f_osc_hz": "oscillation frequency",
}  # fmt: skip
_DIGITAL = "no oscillator circuit: FPGA or digital logic, for which this model has no prediction"
_SAME = 0.05  # energy within 5 % of power times settling time is that product, rounded


def replay(chip: Chip, book: Book) -> list[Row]:
    """Rows of everything a chip has published; one row that says so where it has published nothing.

    Oscillators without couplings are a quantity of their own: they say nothing about couplers.
    """
    role = role_of(chip)
    power, reason, notes = predicted_power(chip, book)
    notes = (*_recalled(chip), *notes)
    rows = []
    if is_equation(chip) and power is not None:
        notes = (*notes, split(chip, book)[1])
    quantity = "oscillator_power" if chip.n_couplings == 0 else "chip_power"
    if chip.power_w is not None:
        rows.append(Row(chip.name, quantity, power, chip.power_w, role, reason, notes))
    if chip.energy_per_solution_j is not None:
        rows.append(_energy(chip, power, role, reason, notes))
    if not rows:
        said = f"{NOTHING}; {reason}" if reason else NOTHING
        rows.append(Row(chip.name, quantity, power, None, role, said, notes))
    return [replace(row, citation=chip.citation, source=publication(chip)) for row in rows]


def _recalled(chip: Chip) -> tuple[str, ...]:
    """What a chip's own note calls recalled: its rows say so, too."""
    parts = [part.strip() for part in re.split(r"[,;]", chip.source_note)]
    recalled = ", ".join(part.removesuffix("recalled").strip() for part in parts if part.endswith("recalled"))
    return (f"from memory, not verified: {recalled}",) if recalled else ()


def is_equation(chip: Chip) -> bool:
    """Whether a chip's power is the equation that the energies of oscillator and coupler have to meet."""
    known = chip.power_w is not None and bool(chip.n_couplings)
    return known and chip.family == "ring" and role_of(chip) == "calibration"


def split(chip: Chip, book: Book) -> tuple[Segment | None, str]:
    """(energies of oscillator and coupler that a chip's power leaves, in words); None, and why."""
    try:
        found = feasible_split(chip, book)
    except (ConstantError, EnergyError, ConfigError) as error:
        return None, f"one equation for oscillators and couplers: {str(error).removeprefix(f'{chip.name}: ')}"
    return found, f"one equation for oscillators and couplers: {str(found).removeprefix(f'{chip.name}: ')}"


def role_of(chip: Chip) -> Role:
    """Calibration for devices whose numbers went into the model, by publication or by numbers."""
    return "calibration" if seen(chip) else "independent"


def predicted_power(chip: Chip, book: Book) -> tuple[Range | None, str, tuple[str, ...]]:
    """(power in W, why there is none, notes): all oscillators and couplers, running.

    The interval is 95 % over the ranges of all constants; where the resolution of the couplers is unknown, it
    reaches over all that it may be.
    """
    if (problem := _problem(chip)) is not None:
        return None, f"not predictable: {problem}", ()
    try:
        resolutions, notes = _resolutions(chip, book)
        found = [_estimate(chip, bits, book) for bits in resolutions]
    except (ConstantError, EnergyError, ConfigError, CountError) as error:
        return None, f"not predictable: {error}", ()
    if chip.vdd_v is None:
        notes = (*notes, "supply unknown: a share of that of its node (chip_supply, prior)")
    power = _over_all([Range.of(one.total) for one in found])
    return power, "", (*notes, *found[0].notes)


def _problem(chip: Chip) -> str | None:
    if chip.family == "digital":
        return _DIGITAL
    if chip.family is None:
        return f"family unknown: {chip.family_reason}"
    unknown = [words for name, words in _NEEDED.items() if getattr(chip, name) is None]
    return f"{', '.join(unknown)} unknown" if unknown else None


def _resolutions(chip: Chip, book: Book) -> tuple[list[float], tuple[str, ...]]:
    """Bits that the couplers may have, with a note where that is a guess."""
    if chip.n_couplings == 0:
        return [1.0], ()
    if chip.coupling_bits is not None:
        return [chip.coupling_bits], ()
    prior = book.usable("chip_coupling_bits")
    low, value, high = (float(prior.quantity(end).magnitude) for end in ("low", "value", "high"))
    return [low, value, high], (
        f"coupling bits unknown: {low:g} to {high:g} (prior); the middle is a geometric mean of medians",
    )


def _estimate(chip: Chip, bits: float, book: Book) -> Estimate:
    hardware = OscillatorHardware.of(
        family=chip.family, node_nm=chip.node_nm, vdd_v=chip.vdd_v, carrier_hz=chip.f_osc_hz
    )
    counts = counts_per_second(chip, bits)
    terms = [t for t in oscillator_terms(hardware, counts) if any(counts.total(e) > 0.0 for e in t.events)]
    return estimate(
        Scope(chip.name, "estimate", "array, running"),
        counts,
        terms,
        hardware_book(hardware, chip_book(chip, book)),
    )


def _over_all(ranges: list[Range]) -> Range:
    """From the lowest low to the highest high; geometric mean of the medians."""
    median = math.exp(sum(math.log(one.median) for one in ranges) / len(ranges))
    return Range(min(one.low for one in ranges), median, max(one.high for one in ranges))


def _energy(chip: Chip, power: Range | None, role: Role, reason: str, notes: tuple[str, ...]) -> Row:
    """Power times settling time; an upper bound where the settling time is one."""
    row = Row(chip.name, "chip_energy_per_solution", None, chip.energy_per_solution_j, role, reason, notes)
    if power is None:
        return row
    if chip.settle_s is None:
        return replace(row, reason="not predictable: settling time unknown", notes=())
    time = chip.settle_s
    if chip.settle_is_bound:
        row = replace(row, notes=("settling time is an upper bound: so is the energy", *notes), bound=True)
    row = replace(row, published_bound=chip.settle_is_bound and _is_product(chip))
    if _is_product(chip) and role == "independent":
        row = replace(row, role="repeated")
    return replace(row, predicted=Range(power.low * time, power.median * time, power.high * time))


def _is_product(chip: Chip) -> bool:
    if chip.power_w is None or chip.settle_s is None or chip.energy_per_solution_j is None:
        return False
    return abs(chip.power_w * chip.settle_s / chip.energy_per_solution_j - 1.0) <= _SAME
