"""One kind of hardware in an energy report: its estimate or refusal, its schedule, its noise floor."""

import re
from dataclasses import dataclass
from typing import Any, Literal

from oscsim.energy.constants import Constant
from oscsim.energy.estimate import Estimate, Refusal
from oscsim.energy.interval import Interval
from oscsim.energy.noise.floor import NoiseFloor
from oscsim.energy.noise.verdict import Position, at_floor, oscillator_energy, position
from oscsim.energy.remedy import Remedy
from oscsim.energy.schedule import Schedule

Group = Literal["oscillators", "target", "baseline"]
# What is true of a number, for programs; a row may have several.
StatusCode = Literal[
    "ok", "refused", "uninformative", "lower_bound", "no_accuracy", "noise", "noise_possible"
]
_POSITIONS: dict[Position, tuple[str, StatusCode]] = {
    "below": ("NOT ATTAINABLE (noise)", "noise"),
    "straddles": ("straddles the noise floor", "noise_possible"),
    "above": ("above the noise floor", "ok"),
    "no floor": ("no locked cell, no noise floor", "ok"),
}
_INCOMPLETE = "left out"


@dataclass(frozen=True)
class Row:
    """One kind of hardware.

    Parameters
    ----------
    label : for tables and pictures. group : "oscillators" (this layer as such hardware), "target" (what the
        plan of a target counts), "baseline".
    answer : the estimate, or why there is none.
    schedule : of oscillators: how long they run, and why.
    floor : energy below which phase noise spoils the read-out, or why it is not known.
    verdict : how the estimate compares with the floor, one sentence; "" where there is no floor.
    remedies : what would lift it to the floor, where it lies below; only of the first row of a report.
    """

    label: str
    group: Group
    answer: Estimate | Refusal
    schedule: Schedule | None = None
    floor: NoiseFloor | Refusal | None = None
    verdict: str = ""
    remedies: tuple[Remedy, ...] = ()

    @property
    def floor_interval(self) -> Interval | None:
        """The floor's energy, None where there is none."""
        return self.floor.energy if isinstance(self.floor, NoiseFloor) else None

    @property
    def total(self) -> Interval | None:
        """The energy, None where it is refused."""
        return None if isinstance(self.answer, Refusal) else self.answer.total

    @property
    def oscillators(self) -> Interval | None:
        """What the oscillators alone take, as the floor has them; None where there is no floor."""
        if isinstance(self.answer, Refusal) or self.floor_interval is None:
            return None
        return oscillator_energy(self.answer)

    @property
    def at_floor(self) -> Interval | None:
        """The total with the oscillators raised to the floor, None where they lie above it."""
        if isinstance(self.answer, Refusal) or not isinstance(self.floor, NoiseFloor):
            return None
        return at_floor(self.answer, self.floor)

    @property
    def energy(self) -> str:
        """Best value and range for people, "" where there is none."""
        if isinstance(self.answer, Refusal):
            return ""
        return str(self.answer.total).removesuffix(", uninformative")

    @property
    def includes(self) -> str:
        """What is in the number, in a few words: the beginning of its boundary."""
        if isinstance(self.answer, Refusal):
            return ""
        return re.split(r":|;| \((?!\d)", self.answer.boundary)[0].strip().removesuffix(", whole layer")

    @property
    def status(self) -> str:
        """In a few words: refused and why, or everything that is true of the number, or ok."""
        return ", ".join(words for words, _ in self._found) or "ok"

    @property
    def status_codes(self) -> tuple[StatusCode, ...]:
        """The same for programs."""
        codes: dict[StatusCode, None] = {code: None for _, code in self._found if code != "ok"}
        return tuple(codes) or ("ok",)

    @property
    def _found(self) -> list[tuple[str, StatusCode]]:
        """(words, code) of everything that is true of the number."""
        if isinstance(self.answer, Refusal):
            return [(f"refused: {self.answer.brief}", "refused")]
        found: list[tuple[str, StatusCode]] = []
        if self.answer.total.uninformative:
            found.append(("uninformative", "uninformative"))
        if self.schedule is not None and self.schedule.lower_bound:
            found.append(("at least (not converged)", "lower_bound"))
        if self.schedule is not None and self.schedule.promised is None:
            found.append(("everything that counts is left out: no accuracy", "no_accuracy"))
        without = self.answer.boundary.partition("; ")[2]
        if without.endswith(_INCOMPLETE):
            found.append((without, "lower_bound"))
        if isinstance(self.floor, NoiseFloor):
            where, code = _POSITIONS[position(oscillator_energy(self.answer), self.floor)]
            if self.floor.bound_only:  # nature's bound: to lie above it is not to lie above a circuit's noise
                where = where.replace("the noise floor", "the bound")
            found.append((where, code))
        return found

    @property
    def advice(self) -> str:
        """What helps against noise, "" where nothing is needed or was tried."""
        tried = [f"{remedy.option} (total {_best(remedy.total)})" for remedy in self.remedies]
        return f"what helps, calculated for this layer: {', '.join(tried)}" if tried else ""

    @property
    def notes(self) -> tuple[str, ...]:
        """What is not exact about the estimate; whether there is a noise floor."""
        said = list(self.answer.notes) if isinstance(self.answer, Estimate) else []
        if isinstance(self.floor, Refusal):
            said.append(f"noise floor refused: {self.floor.reason}")
        return tuple(said)

    @property
    def floor_notes(self) -> tuple[str, ...]:
        """Criterion, assumptions and limits of the noise floor."""
        return self.floor.notes if isinstance(self.floor, NoiseFloor) else ()

    @property
    def constants(self) -> dict[str, Constant]:
        """Constants behind the estimate and behind the floor, by name."""
        answer = self.answer.constants if isinstance(self.answer, Estimate) else {}
        floor = self.floor.constants if isinstance(self.floor, NoiseFloor) else ()
        return answer | {constant.name: constant for constant in floor}

    def to_json(self) -> dict[str, Any]:
        """Label, group, status, the estimate or refusal, schedule and noise floor."""
        raised = self.at_floor
        return {
            "label": self.label, "group": self.group, "status": self.status,
            "status_code": list(self.status_codes), **self.answer.to_json(),
            "schedule": None if self.schedule is None else self.schedule.to_json(),
            "noise_floor": None if self.floor is None else self.floor.to_json(),
            "verdict": self.verdict or None,
            "total_with_oscillators_at_floor": None if raised is None else raised.to_json(),
            "remedies": [remedy.to_json() for remedy in self.remedies],
        }  # fmt: skip


def _best(energy: Interval) -> str:
    return str(energy).partition(" (")[0]
