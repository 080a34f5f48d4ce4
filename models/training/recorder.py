"""What a run leaves in its folder; only process 0 has one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from ..checkpoint import save_checkpoint
from ..language_model import LanguageModel
from . import folder as names
from .clock import Clock
from .config import TrainingConfig
from .events import Events
from .folder import write_json
from .log import START, Log, Row
from .saved import saved_environments
from .state import optimiser_state, with_state
from .step import StepRecord

Report = Callable[[int, float, float, float | None], None]
"""Called at every row of the log: step, bits per byte, tokens per second, validation bits per byte."""


@dataclass(frozen=True)
class Facts:
    """What a run is, how it is watched, and what it runs on (see :mod:`models.training.facts`)."""

    folder: Path
    config: TrainingConfig
    report: Report | None
    identity: dict[str, Any]
    environment: dict[str, Any]


class Recorder:
    """Writes the log, the event files, checkpoints and results of a run.

    A new run first gets a checkpoint of step 0, so that there always is one.

    Parameters
    ----------
    facts : of the run.
    model, optimiser : as they are at the start, or restored from a checkpoint.
    saved : the training state in that checkpoint; None begins a run.
    """

    def __init__(
        self,
        facts: Facts,
        model: LanguageModel,
        optimiser: torch.optim.Optimizer,
        saved: dict[str, Any] | None,
    ) -> None:
        self.facts, self.model, self.optimiser = facts, model, optimiser
        done, mark = (0, START) if saved is None else (saved["step"], saved["log"])
        self.environments: list[Any] = [] if saved is None else saved_environments(saved)
        if facts.environment not in self.environments:
            self.environments = [*self.environments, facts.environment]
        self.clock = Clock(facts.folder / names.WALL_TIME, done)
        if saved is None:
            self._write_checkpoint(0, START)
        self.log = Log(facts.folder / names.LOG, mark)
        for rest in names.unfinished(facts.folder):  # nothing refuses the folder any more
            rest.unlink()
        self.events = Events(facts.folder / names.EVENTS, done)

    def row(self, step: int, record: StepRecord, validation: float | None) -> None:
        """Log what a step and a look at the validation bytes measured, and show it."""
        facts = self.facts
        tokens = facts.config.batch * self.model.config.context * self.clock.steps_per_second(step)
        row = Row(step, record.bits_per_byte, record.learning_rate, record.gradient_norm, validation)
        self.log.append(row)
        shown = {**row._asdict(), "penalty": record.penalty, "tokens_per_second": tokens}
        self.events.add(shown.pop("step"), shown)
        if facts.report is not None:
            facts.report(step, record.bits_per_byte, tokens, validation)

    def checkpoint(self, step: int) -> None:
        """Write a checkpoint, after everything that it says is there."""
        self.events.flush()
        self._write_checkpoint(step, self.log.mark())

    def _write_checkpoint(self, step: int, mark: dict[str, Any]) -> None:
        facts = self.facts
        if step > 0:  # before the first checkpoint nothing may lie in the folder
            self.clock.save()
        state = optimiser_state(self.optimiser, self.model)
        training = {
            "step": step, "identity": facts.identity, "log": mark, "optimiser": with_state(state),
            "environment": facts.environment, "environments": self.environments,
        }  # fmt: skip
        save_checkpoint(self.model, facts.folder / names.CHECKPOINT, training, state)

    def finish(self, measured: dict[str, Any]) -> None:
        """Write the model and, last, the results, which make the run complete."""
        facts = self.facts
        self.model.record = {**facts.identity, **measured}
        save_checkpoint(self.model, facts.folder / names.MODEL)
        results = {
            **self.model.record,
            "seed": facts.config.seed,
            "parameters": self.model.parameter_count(),
            "environment": facts.environment,
            "environments": self.environments,
            "wall_time_s": self.clock.seconds(),
        }
        write_json(facts.folder / names.RESULTS, results)

    def close(self) -> None:
        """Close the files."""
        self.log.close()
        self.events.close()
