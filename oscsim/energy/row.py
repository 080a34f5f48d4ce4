"""One kind of hardware in an energy report: its estimate or refusal, its schedule, its noise floor."""

import re
from dataclasses import dataclass
from typing import Any, Literal

from oscsim.energy.constants import Constant
from oscsim.energy.estimate import Estimate, Refusal
from oscsim.energy.interval import Interval
from oscsim.energy.noise.floor import NoiseFloor
from oscsim.energy.noise.verdict import oscillator_energy, position
from oscsim.energy.schedule import Schedule

Group = Literal["oscillators", "target", "baseline"]
_POSITIONS = {
    "below": "BELOW THE NOISE FLOOR",
    "straddles": "straddles the noise floor",
    "above": "above the noise floor",
    "no floor": "no locked cell, no noise floor",
}


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
    """

    label: str
    group: Group
    answer: Estimate | Refusal
    schedule: Schedule | None = None
    floor: NoiseFloor | Refusal | None = None
    verdict: str = ""

    @property
    def floor_interval(self) -> Interval | None:
        """The floor's energy, None where there is none."""
        return self.floor.energy if isinstance(self.floor, NoiseFloor) else None

    @property
    def energy(self) -> str:
        """Best value and range for people, "" where there is none."""
        if isinstance(self.answer, Refusal):
            return ""
        return str(self.answer.total).removesuffix(", uninformative")

    @property
    def includes(self) -> str:
        """What is in the number, in a few words: the beginning of its boundary."""
        return "" if isinstance(self.answer, Refusal) else re.split("[:(]", self.answer.boundary)[0].strip()

    @property
    def status(self) -> str:
        """In a few words: refused and why, uninformative, a lower bound, what noise allows, or ok."""
        if isinstance(self.answer, Refusal):
            return f"refused: {self.answer.reason}"
        words = ["uninformative"] if self.answer.total.uninformative else []
        if self.schedule is not None and self.schedule.lower_bound:
            words.append("at least: an average had not converged")
        if isinstance(self.floor, NoiseFloor):
            where = _POSITIONS[position(oscillator_energy(self.answer), self.floor)]
            if self.floor.bound_only:  # nature's bound: to lie above it is not to lie above a circuit's noise
                where = where.replace("NOISE FLOOR", "BOUND").replace("the noise floor", "the bound")
            words.append(where)
        return ", ".join(words) or "ok"

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
        return {
            "label": self.label, "group": self.group, "status": self.status, **self.answer.to_json(),
            "schedule": None if self.schedule is None else self.schedule.to_json(),
            "noise_floor": None if self.floor is None else self.floor.to_json(),
            "verdict": self.verdict or None,
        }  # fmt: skip
