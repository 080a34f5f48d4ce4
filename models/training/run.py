"""The course of a run: steps, looks at the validation bytes, checkpoints, results."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

from torch import Tensor

from ..checkpoint import load_parameters, optimiser_arrays
from ..evaluate import bits_per_byte
from ..language_model import LanguageModel
from . import folder as names
from .batches import Data, spaced_passages
from .failure import TrainingDiverged, state_not_finite
from .finished import finished_results
from .folder import Saved, read_json, saved_run
from .processes import Processes
from .recorder import Facts, Recorder
from .state import optimiser_of, optimiser_state, restore_optimiser
from .step import Stepper, StepRecord


class EnvironmentWarning(UserWarning):
    """A run goes on in another environment than it was begun in, and may differ in its last digits."""


class Outcome(NamedTuple):
    """What a call of :func:`models.training.train` did.

    results : the contents of ``results.json``.
    steps_before : steps that earlier calls had done.
    steps_done : steps that this call did.
    already_complete : whether there was nothing to do, and nothing was touched.
    """

    results: dict[str, Any]
    steps_before: int
    steps_done: int
    already_complete: bool


class Run:
    """One call of :func:`models.training.train`, with a model whose parameters are as drawn."""

    def __init__(self, model: LanguageModel, data: Data, facts: Facts, group: Processes) -> None:
        self.model, self.data, self.facts, self.group = model, data, facts, group
        self.config = facts.config
        self.path = facts.folder / names.CHECKPOINT
        self.saved_step = 0
        self.recorder: Recorder | None = None

    def go(self, resume: bool) -> Outcome:
        """Train to the end, from wherever the folder's run stands."""
        facts, steps = self.facts, self.config.steps
        saved = self.group.once(lambda: saved_run(facts.folder, resume, facts.identity))
        before = self._start(saved)
        if saved is not None:
            found = self.group.once(lambda: finished_results(facts.folder, facts.identity, self.model))
            if found is not None:
                return Outcome(found, steps, 0, already_complete=True)
            self._compare(saved[0]["environment"])
        self.group.once(lambda: self._open(saved))
        try:
            self._steps(before + 1)
            self._finish()
        except KeyboardInterrupt:
            raise KeyboardInterrupt(
                f"interrupted; {self.path} holds step {self.saved_step} of {steps}: resume the run to go on"
            ) from None
        finally:
            if self.recorder is not None:
                self.recorder.close()
        results = read_json(facts.folder / names.RESULTS)
        return Outcome(results, before, steps - before, already_complete=False)

    def _start(self, saved: Saved | None) -> int:
        """Initialise the model, or restore it; return the steps that were done before."""
        if saved is None:
            passages = spaced_passages(self.data.train, self.model.config.context)
            self.model.prepare(passages.to(self.group.device))
            self.group.share(self.model)
            self.optimiser = optimiser_of(self.model, self.config)
            return 0
        training, arrays = saved
        load_parameters(self.model, arrays, self.path)
        self.optimiser = optimiser_of(self.model, self.config)
        restore_optimiser(self.optimiser, self.model, optimiser_arrays(arrays), training, str(self.path))
        self.saved_step = training["step"]
        return training["step"]

    def _compare(self, begun: dict[str, Any]) -> None:
        now = self.facts.environment
        changed = [f"{key} {now[key]} (it was {begun.get(key)})" for key in now if now[key] != begun.get(key)]
        if changed and self.group.first:
            warnings.warn(
                f"{self.path}: the run goes on with {', '.join(changed)}; "
                "its last digits may differ from those of an unbroken run",
                EnvironmentWarning,
                stacklevel=4,
            )

    def _open(self, saved: Saved | None) -> None:
        self.recorder = Recorder(self.facts, self.model, self.optimiser, None if saved is None else saved[0])

    def _steps(self, first: int) -> None:
        stepper = Stepper(self.model, self.optimiser, self.data.train, self.config, self.group)
        self.model.train()
        for step in range(first, self.config.steps + 1):
            record = stepper.gradients(step)
            if not all(math.isfinite(value) for value in record):
                raise self._diverged(step, stepper.first_not_finite(step))
            stepper.apply()
            self._after(step, record)

    def _after(self, step: int, record: StepRecord) -> None:
        """Validate, log and save when it is time; the last step has all three."""
        config = self.config
        validation = None
        if self._due(step, config.validate_every):
            validation = self._measure(step, self.data.validation, config.validation_windows)
            self._watch(step)
        if validation is not None or self._due(step, config.log_every):
            self._write(lambda recorder: recorder.row(step, record, validation))
        if self._due(step, config.checkpoint_every):
            self._require_finite(step)
            self._write(lambda recorder: recorder.checkpoint(step))
            self.saved_step = step

    def _due(self, step: int, every: int) -> bool:
        return step % every == 0 or step == self.config.steps

    def _measure(self, step: int, tokens: Tensor, limit: int | None = None) -> float:
        bits = self.group.once(lambda: bits_per_byte(self.model, tokens, limit=limit))
        if not math.isfinite(bits):
            self._require_finite(step)
            raise self._diverged(step, "the loss of held-out bytes")
        return bits

    def _watch(self, step: int) -> None:
        """Let the model warn of what goes wrong inside, once for all processes."""
        passages = spaced_passages(self.data.validation, self.model.config.context)
        self.group.once(lambda: self.model.watch(passages.to(self.group.device), step))

    def _require_finite(self, step: int) -> None:
        """Keep what is not finite out of every file."""
        place = state_not_finite(self.model, optimiser_state(self.optimiser, self.model))
        if place is not None:
            raise self._diverged(step, place)

    def _diverged(self, step: int, place: str) -> TrainingDiverged:
        return TrainingDiverged(
            f"step {step}: NaN or infinity, first in {place}; the last good checkpoint, of step "
            f"{self.saved_step}, is {self.path}; train in another folder with a lower learning rate or clip"
        )

    def _write(self, action: Callable[[Recorder], None]) -> None:
        """Let process 0 write, and stop all where it cannot."""
        self.group.once(lambda: None if self.recorder is None else action(self.recorder))

    def _finish(self) -> None:
        """Measure the trained model on all held-out bytes, and complete the run."""
        steps = self.config.steps
        measured = {
            "validation_bits_per_byte": self._measure(steps, self.data.validation),
            "test_bits_per_byte": self._measure(steps, self.data.test),
        }
        source = {"name": self.data.name, **self.facts.identity["data"]}
        self._write(lambda recorder: recorder.finish({"data": source, **measured}))
