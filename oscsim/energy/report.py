"""What one layer costs on every kind of hardware, side by side."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from oscsim.energy.accuracy_curve import ACCURACIES, CurvePoint, accuracy_curve
from oscsim.energy.baselines import boundary_note
from oscsim.energy.clock import clock
from oscsim.energy.constants import Book, Constant
from oscsim.energy.estimate import EnergyError, Estimate, Refusal
from oscsim.energy.hardware import OscillatorHardware
from oscsim.energy.interval import Interval
from oscsim.energy.oscillator_terms import hardware_book
from oscsim.energy.plan_counts import PlanCounts
from oscsim.energy.remedies import remedies
from oscsim.energy.report_rows import array_row, digital_row, target_row
from oscsim.energy.row import Row
from oscsim.energy.validation.replay import replay
from oscsim.energy.validation.summary import brief
from oscsim.spec import PhaseLayerSpec

# As which arrays a layer is shown: pair cells and network are two machines for one layer.
_ARRAYS = {"pair": ("pair", "network"), "network": ("network", "pair"), "clamped": ("clamped",)}
_ACCURACIES = {"pair": ACCURACIES, "network": (0.1, 0.03, 0.01, 0.005), "clamped": ACCURACIES}
# Oscillators above which the ODE of a network takes seconds, and the accuracies then, over the wanted one.
_LARGE, _COARSER = 1024, (10.0, 1.0)


@dataclass(frozen=True)
class EnergyReport:
    """Everything about one layer.

    Parameters
    ----------
    layer : digest, dynamics and shape. hardware : the oscillators that were asked for.
    rows : one per kind of hardware. curve : energy against accuracy of the first row; curve_note : why it
        has few points, "" where it has not.
    boundary : what may be compared with what. validation : what has been validated, in one sentence;
        validated : in fewer words.
    """

    layer: dict[str, Any]
    hardware: OscillatorHardware
    rows: tuple[Row, ...]
    curve: tuple[CurvePoint, ...]
    boundary: str
    validation: str
    validated: str
    curve_note: str = ""

    @property
    def estimates(self) -> Iterator[tuple[Row, Estimate]]:
        """Rows that have a number, with it."""
        return ((row, row.answer) for row in self.rows if isinstance(row.answer, Estimate))

    @property
    def main(self) -> Estimate | None:
        """The first estimate: oscillators with the layer's own dynamics, where they have one."""
        return next((answer for _, answer in self.estimates), None)

    @property
    def constants(self) -> dict[str, Constant]:
        """Every constant behind any number, by name."""
        return {name: constant for row in self.rows for name, constant in row.constants.items()}

    @property
    def key_notes(self) -> tuple[str, ...]:
        """What nobody should read a number without: boundary, validation, which number, noise, bounds."""
        bounds = [row.label for row in self.rows if "lower_bound" in row.status_codes]
        return tuple(filter(None, (
            self.boundary, f"validation: {self.validated}" if self.main else "", self.quoted,
            *(filter(None, (self.rows[0].verdict, self.rows[0].advice))),
            f"at least, see status: {'; '.join(bounds)}" if bounds else "",
        )))  # fmt: skip

    @property
    def more_notes(self) -> tuple[str, ...]:
        """Everything else: verdicts, what each row includes, its notes; a note of several rows once."""
        rows: dict[str, list[str]] = {}
        for row, answer in self.estimates:
            rows.setdefault(f"includes {answer.boundary}", []).append(row.label)
        for row in self.rows:
            for note in row.notes:
                rows.setdefault(note, []).append(row.label)
        own = [f"{note} ({'; '.join(labels)})" for note, labels in rows.items()]
        return tuple(filter(None, (*(row.verdict for row in self.rows[1:]), *own)))

    @property
    def notes(self) -> tuple[str, ...]:
        """All of them, with the whole sentence on validation."""
        return (*self.key_notes, f"validation: {self.validation}", *self.more_notes)

    @property
    def quoted(self) -> str:
        """Which number of the first estimate to quote, "" without one."""
        if self.main is None:
            return ""
        total = self.main.total
        median = (
            str(total.scaled(total.median_j / total.value_j)).partition(" (")[0] if total.value_j else "0 J"
        )
        return (
            f"quote the range: a best value has every constant at its best value ({self.main.name}: median "
            f"of the draws {median}); validation compares medians"
        )

    @property
    def per_token(self) -> dict[str, Interval]:
        """Energy of one token of the sequence, padding apart, by label."""
        tokens = max(int(self.layer["valid_tokens"]), 1)
        return {row.label: answer.total.scaled(1.0 / tokens) for row, answer in self.estimates}

    def to_json(self) -> dict[str, Any]:
        """Everything, with the rows of the table of constants that any number rests on."""
        return {
            "layer": self.layer,
            "hardware": self.hardware.model_dump() | {"carrier_hz": self.layer["carrier_hz"]},
            "rows": [self._row_json(row) for row in self.rows],
            "energy_against_accuracy": [point.to_json() for point in self.curve],
            "energy_against_accuracy_note": self.curve_note or None,
            "boundary": self.boundary,
            "validation": self.validation,
            "quoted": self.quoted,
            "constants": {name: constant_json(constant) for name, constant in self.constants.items()},
        }

    def _row_json(self, row: Row) -> dict[str, Any]:
        each = self.per_token.get(row.label)
        return row.to_json() if each is None else {**row.to_json(), "per_token": each.to_json()}


def clocked_layer(spec: PhaseLayerSpec, hardware: OscillatorHardware) -> PhaseLayerSpec:
    """The layer on the clock that the options choose; as it is where no array can have that clock."""
    try:
        carrier_hz, time_unit_s, _ = clock(spec, hardware)
    except EnergyError:
        return spec
    return spec.replace(carrier_hz=carrier_hz, time_unit_s=time_unit_s)


def energy_report(
    spec: PhaseLayerSpec,
    hardware: OscillatorHardware,
    plans: Mapping[str, PlanCounts | Refusal],
    book: Book,
    device: str = "h200",
    accuracies: Sequence[float] | None = None,
) -> EnergyReport:
    """Estimates and refusals for one evaluation of a layer, and everything needed to judge them.

    Oscillators of this hardware as pair cells and as one network (clamped layers: as they are), what the plan
    of every target counts (triton: a GPU at its best; lava: Loihi 1 energies; others: the oscillators that
    they simulate, as this hardware), and the digital baseline.

    Parameters
    ----------
    plans : target -> counts of its plan, or why it has none (``plan_counts.counts_by_target``).
    book : the constants. device : GPU of the best case. accuracies : points of the curve;
        None: a dozen; of networks four, since each of theirs integrates an ODE; of those above 1024
        oscillators the wanted one and one coarser.

    Raises
    ------
    EnergyError
        an unknown device, or an event without a price.
    """
    known = hardware_book(hardware, book)
    rows = [array_row(spec, hardware, known, dynamics) for dynamics in _ARRAYS[spec.dynamics]]
    rows[0] = replace(rows[0], remedies=remedies(rows[0], spec, hardware, book))
    own = rows[0]
    rows += [target_row(name, plan, spec, own, hardware, known, device) for name, plan in plans.items()]
    rows.append(digital_row(spec, hardware, known))
    layer = {
        "digest": spec.digest, "dynamics": spec.dynamics, "mask": spec.mask, "heads": spec.n_heads,
        "tokens": spec.n_oscillators, "valid_tokens": int(spec.valid.sum()), "channels": spec.n_channels,
        "carrier_hz": hardware.carrier_hz or spec.carrier_hz,
    }  # fmt: skip
    asked, note = _asked(spec, hardware)
    curve = accuracy_curve(spec, hardware, known, accuracies=accuracies or asked)
    boundary = boundary_note([row.answer for row in rows])
    found = replay(book)
    return EnergyReport(
        layer, hardware, tuple(rows), curve, boundary, found.sentence, brief(found.summaries),
        "" if accuracies else note,
    )  # fmt: skip


def _asked(spec: PhaseLayerSpec, hardware: OscillatorHardware) -> tuple[Sequence[float], str]:
    """Accuracies of the curve, coarse to fine, and why they are few."""
    oscillators = spec.n_heads * int(spec.valid.sum()) * spec.n_channels
    if spec.dynamics != "network" or oscillators <= _LARGE:
        return _ACCURACIES[spec.dynamics], ""
    wanted = [factor * hardware.accuracy for factor in _COARSER]
    few = [accuracy for accuracy in wanted if accuracy < 1.0]
    points = f"{len(few)} point{'s' if len(few) > 1 else ''}"
    return few, f"{points} only: each integrates the ODE of {oscillators} oscillators"


def constant_json(constant: Constant) -> dict[str, Any]:
    """A row of the table of constants."""
    names = ("value", "low", "high", "unit", "node_nm", "vdd_v", "conditions", "citation", "how",
             "range_from", "note")  # fmt: skip
    return {name: getattr(constant, name) for name in names}
