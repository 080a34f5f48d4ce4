"""What lifts oscillators that lie below their noise floor: one option at a time, tried by calculation."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from oscsim.circuits.validity import LARGEST_SAFE, rounded_up
from oscsim.energy.constants import Book
from oscsim.energy.hardware import OscillatorHardware
from oscsim.energy.oscillator_terms import hardware_book
from oscsim.energy.remedy import Remedy
from oscsim.energy.report_rows import array_row
from oscsim.energy.ring import stage_width
from oscsim.energy.row import Row
from oscsim.energy.units import magnitude
from oscsim.energy.valuation import Nominal
from oscsim.spec import PhaseLayerSpec

_LC: dict[str, Any] = {"family": "lc", "stages": None, "width_um": None}
_COARSEST, _WIDEST = 0.5, 1e3  # error of S; um
_BAND = 0.1
# The powers are exact but for settling times, bits and slips: two or three tries meet the floor.
_STEP = 1.15
_TRIES = {"pair": 6, "clamped": 6, "network": 2}  # each of a network integrates an ODE

Try = Callable[[dict[str, Any]], Row]


def remedies(row: Row, spec: PhaseLayerSpec, hardware: OscillatorHardware, book: Book) -> tuple[Remedy, ...]:
    """Options with which the best value of the oscillators reaches that of their floor, all else unchanged.

    Tried are a coarser accuracy (the floor falls as its square, as far as cells do not slip; if they do, with
    a wider edge band), LC oscillators, wider transistors of a ring, and a stronger coupling. Empty where the
    row does not lie below its floor, or where none of these is enough.

    Parameters
    ----------
    row : of an array. book : constants without the options of the hardware.
    """
    if row.schedule is None or "noise" not in row.status_codes:
        return ()
    plan = row.schedule

    def tried(changes: dict[str, Any]) -> Row:
        changed = hardware.model_copy(update=changes)
        same = plan if changes.keys() <= {"family", "stages", "width_um"} else None
        return array_row(spec, changed, hardware_book(changed, book), plan.dynamics, same)

    coarser = _search(tried, row, "accuracy", hardware.accuracy, 0.5, _COARSEST, {})
    if coarser is None and plan.dynamics == "pair":
        coarser = _search(tried, row, "accuracy", hardware.accuracy, 0.5, _COARSEST, _wide(hardware))
    found = [coarser]
    if hardware.family != "lc":
        found.append(_enough(f"--family lc{_without(hardware)}", tried(_LC)))
    if hardware.family == "ring":
        width = stage_width(hardware, Nominal(hardware_book(hardware, book)))
        found.append(_search(tried, row, "width_um", float(magnitude(width, "um")), 1.0, _WIDEST, {}))
    if plan.epsilon > 0.0:
        stronger = _search(tried, row, "epsilon", plan.epsilon, 1.0, LARGEST_SAFE, {"time_unit_s": None})
        if stronger is not None and hardware.time_unit_s is not None:
            stronger = replace(stronger, option=f"{stronger.option} instead of --time-unit-s")
        found.append(stronger)
    return tuple(remedy for remedy in found if remedy is not None)


def _without(hardware: OscillatorHardware) -> str:
    """Options of a ring that were given and that no other family has."""
    given = [f"--{name.replace('_', '-')}" for name in _LC if name != "family" and getattr(hardware, name)]
    return f" without {', '.join(given)}" if given else ""


def _wide(hardware: OscillatorHardware) -> dict[str, Any]:
    """Near the edge, slips set the floor of coarse accuracies: leave out a wider band."""
    return {"edge_band": max(_BAND, hardware.edge_band)}


def _search(
    tried: Try, row: Row, field: str, value: float, power: float, largest: float, others: dict[str, Any]
) -> Remedy | None:
    """A value that is enough, two digits, not much more than needed; None where a few steps find none.

    Parameters
    ----------
    row : as it is. field, value : what is changed, and from where. power : of the missing factor that the
        change takes. largest : how far it may go. others : what changes with it.
    """
    for _ in range(0 if row.schedule is None else _TRIES[row.schedule.dynamics]):
        missing = _missing(row)
        if missing is None:
            return None
        value = rounded_up(value * max(missing**power, _STEP))
        if value > largest:
            return None
        changes = {field: value, **others}
        row = tried(changes)
        remedy = _enough(_spelled(changes), row)
        if remedy is not None:
            return remedy
    return None


def _spelled(changes: dict[str, Any]) -> str:
    given = {name.replace("_", "-"): value for name, value in changes.items() if value is not None}
    return " ".join(f"--{name} {value:g}" for name, value in given.items())


def _missing(row: Row) -> float | None:
    """Floor over oscillators, best values; None without both."""
    if row.oscillators is None or row.floor_interval is None or row.oscillators.value_j == 0.0:
        return None
    return row.floor_interval.value_j / row.oscillators.value_j


def _enough(option: str, row: Row) -> Remedy | None:
    missing = _missing(row)
    if missing is None or missing > 1.0 or not (row.total and row.oscillators and row.floor_interval):
        return None
    return Remedy(option, row.total, row.oscillators, row.floor_interval)
