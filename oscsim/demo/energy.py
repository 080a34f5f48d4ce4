"""The energy part of the demo: joules of the layer on all kinds of hardware, and their sources."""

from collections.abc import Sequence
from typing import Any

from oscsim.counts import in_words
from oscsim.energy import Estimate, OscillatorHardware, load_constants
from oscsim.energy.constants import Constant
from oscsim.energy.estimate import Item
from oscsim.energy.plan_counts import counts_by_target
from oscsim.energy.report import EnergyReport, clocked_layer, energy_report
from oscsim.energy.row import Row
from oscsim.spec import PhaseLayerSpec
from oscsim.target import AbstractTarget

# Ring oscillators, coupled by at most 2 % of the carrier; every pair on its own clock, read after whole beats
# and stopped when it is read: the cheapest schedule of this accuracy.
HARDWARE = OscillatorHardware(
    family="ring", node_nm=65.0, epsilon=0.02, cell_clock="own", read_out="beats", stop="each"
)


def layer_energy(layer: PhaseLayerSpec, targets: Sequence[AbstractTarget[Any]]) -> EnergyReport:
    """Estimates for the whole layer, with the counts of every target's plan; runs nothing."""
    plans = counts_by_target(targets, clocked_layer(layer, HARDWARE), HARDWARE)
    return energy_report(layer, HARDWARE, plans, load_constants())


def energy_rows(report: EnergyReport) -> list[dict[str, Any]]:
    """What the table of joules shows, number for number with the items and constants behind it."""
    return [_row(row, report) for row in report.rows]


def _row(row: Row, report: EnergyReport) -> dict[str, Any]:
    if not isinstance(row.answer, Estimate):
        return {"label": row.label, "refused": row.answer.reason}
    answer = row.answer
    return {
        "label": row.label, "refused": None, "total": row.energy,
        "per_token": str(report.per_token[row.label]).partition(" (")[0], "kind": answer.kind,
        "includes": row.includes, "status": row.status,
        "accuracy": "–" if answer.accuracy is None else f"{answer.accuracy:.2g}",
        "items": [_item(item, answer) for item in answer.items if item.interval.high_j > 0.0],
        "counts": [(in_words(name), f"{n:.4g}") for name, n in answer.counts.items() if n > 0.0],
        "left_out": [f"{event} ({why})" for event, why in answer.left_out],
    }  # fmt: skip


def _item(item: Item, answer: Estimate) -> dict[str, Any]:
    return {
        "name": in_words(item.name) if item.name in answer.counts else item.name,
        "energy": str(item.interval).removesuffix(", uninformative"),
        "formula": item.formula,
        "constants": [constant.name for constant in item.constants],
    }


def constant_rows(report: EnergyReport) -> list[dict[str, str]]:
    """The table of constants, as far as any number of the report rests on it."""
    return [_constant(constant) for constant in report.constants.values()]


def _constant(constant: Constant) -> dict[str, str]:
    value, low, high = (f"{number:.4g}" for number in (constant.value, constant.low, constant.high) if number)
    return {
        "name": constant.name, "value": value, "range": "–" if low == high else f"{low} to {high}",
        "unit": constant.unit, "how": constant.how, "citation": constant.citation,
        "conditions": "; ".join(filter(None, (constant.conditions, constant.note))),
    }  # fmt: skip
