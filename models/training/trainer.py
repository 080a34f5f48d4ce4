"""Train a model in a folder: reproducible, resumable after any kind of end."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import torch

from oscsim.errors import ConfigError
from oscsim.io import Arrays

from ..checkpoint import load_parameters, optimiser_arrays, save_checkpoint
from ..evaluate import bits_per_byte
from ..language_model import LanguageModel, ModelConfig
from ..registry import model_class
from . import folder as names
from .batches import Data, require, spaced_passages
from .clock import Clock
from .config import TrainingConfig
from .facts import environment, identity
from .folder import locked, read_json, saved_run
from .log import START, Log, Row
from .processes import Processes, processes, reproducible
from .state import optimiser_of, optimiser_state, restore_optimiser
from .step import Stepper, StepRecord, autocast

Report = Callable[[int, float, float, float | None], None]
"""Called at every row of the log: step, bits per byte, tokens per second, validation bits per byte."""


class Outcome(NamedTuple):
    """What a call of :func:`train` did.

    results : the contents of ``results.json``.
    steps_before : steps that an earlier call had done; all of them when the run was complete already.
    steps_done : steps that this call did.
    """

    results: dict[str, Any]
    steps_before: int
    steps_done: int


def train(
    model: str | type[LanguageModel],
    model_config: ModelConfig,
    training_config: TrainingConfig,
    data: Data,
    folder: str | Path,
    report: Report | None = None,
    *,
    resume: bool = False,
    device: str | torch.device | None = None,
) -> Outcome:
    """Train a model, or go on where an earlier call was stopped, and measure it.

    The folder then holds ``model.safetensors``, ``results.json``, ``log.csv``, the last checkpoint, and
    event files for TensorBoard. Under ``torchrun`` all processes call this with the same arguments.

    Parameters
    ----------
    model : name of a model, or its class.
    model_config : shape of the model.
    training_config : how to train.
    data : what to train and to measure on.
    folder : of this run; made if it is not there.
    report : for a progress display.
    resume : go on from the folder's checkpoint if it has one; otherwise the folder must be empty.
    device : where to compute; None is the GPU where there is one, else the CPU.

    Raises
    ------
    ConfigError
        an impossible setting, or a folder that holds something else: another run, or one that nobody
        asked to resume.
    SpecError
        too few bytes for one context.
    """
    kind = model_class(model) if isinstance(model, str) else model
    with processes(device) as group, reproducible(group.device):
        _check(training_config, model_config, data, group)
        run = _Run(kind, model_config, training_config, data, Path(folder), report, group)
        if not group.first:
            return run.go(resume)
        with locked(run.folder):
            return run.go(resume)


def _check(config: TrainingConfig, model_config: ModelConfig, data: Data, group: Processes) -> None:
    positive = ("steps", "batch", "log_every", "validate_every", "validation_windows", "checkpoint_every")
    for name in positive:
        if getattr(config, name) < 1:
            raise ConfigError(f"{name}: given {getattr(config, name)}, expected at least 1")
    if config.batch % group.size:
        raise ConfigError(
            f"batch: given {config.batch} for {group.size} processes, expected a multiple of "
            f"{group.size}; change the batch or the number of processes"
        )
    for part in ("train", "validation", "test"):
        require(getattr(data, part), model_config.context, f"{data.name} {part}")
    autocast(group.device, config.precision)


class _Run:
    """One call of :func:`train`."""

    def __init__(
        self,
        kind: type[LanguageModel],
        model_config: ModelConfig,
        config: TrainingConfig,
        data: Data,
        folder: Path,
        report: Report | None,
        group: Processes,
    ) -> None:
        self.config, self.data, self.folder = config, data, folder
        self.report, self.group = report, group
        self.identity = identity(kind, model_config, config, data)
        torch.manual_seed(config.seed)
        self.model = kind(model_config).to(group.device)
        self.model.use(config.implementation)

    def go(self, resume: bool) -> Outcome:
        """Train to the end, from wherever the folder's run stands."""
        steps = self.config.steps
        saved = self.group.once(lambda: saved_run(self.folder, resume, self.identity))
        if saved is not None and self.group.once((self.folder / names.RESULTS).exists):
            return Outcome(read_json(self.folder / names.RESULTS), steps, 0)
        self.clock = Clock(self.folder / names.WALL_TIME, 0 if saved is None else saved[0]["step"])
        before = self._begin() if saved is None else self._restore(*saved)
        stepper = Stepper(self.model, self.optimiser, self.data.train, self.config, self.group)
        self.model.train()
        for step in range(before + 1, steps + 1):
            self._after(step, stepper.run(step))
        return Outcome(self.group.once(self._finish), before, steps - before)

    def _begin(self) -> int:
        """Initialise the model, and leave a checkpoint of step 0, so that there always is one."""
        context = self.model.config.context
        self.model.prepare(spaced_passages(self.data.train, context).to(self.group.device))
        self.optimiser = optimiser_of(self.model, self.config)
        if self.group.first:
            self._save(0, START)
            self.log = Log(self.folder / names.LOG, START)
        return 0

    def _restore(self, training: dict[str, Any], arrays: Arrays) -> int:
        source = self.folder / names.CHECKPOINT
        load_parameters(self.model, arrays, source)
        self.optimiser = optimiser_of(self.model, self.config)
        restore_optimiser(self.optimiser, self.model, optimiser_arrays(arrays), str(source))
        if self.group.first:
            self.log = Log(self.folder / names.LOG, training["log"])
        return training["step"]

    def _after(self, step: int, record: StepRecord) -> None:
        """Validate, log and save when it is time; the last step has all three."""

        def due(every: int) -> bool:
            return step % every == 0 or step == self.config.steps

        validation = self.group.once(self._validation) if due(self.config.validate_every) else None
        if not self.group.first:
            return
        if validation is not None or due(self.config.log_every):
            row = Row(step, record.bits_per_byte, record.learning_rate, record.gradient_norm, validation)
            self.log.append(row)
            tokens = self.clock.steps_per_second(step) * self.config.batch * self.model.config.context
            if self.report is not None:
                self.report(step, record.bits_per_byte, tokens, validation)
        if due(self.config.checkpoint_every):
            self._save(step, self.log.mark())

    def _validation(self) -> float:
        return bits_per_byte(self.model, self.data.validation, limit=self.config.validation_windows)

    def _save(self, step: int, mark: dict[str, Any]) -> None:
        self.clock.save()
        training = {
            "step": step, "identity": self.identity, "log": mark, "environment": environment(self.group)
        }  # fmt: skip
        state = optimiser_state(self.optimiser, self.model)
        save_checkpoint(self.model, self.folder / names.CHECKPOINT, training, state)

    def _finish(self) -> dict[str, Any]:
        """Measure the model and write what is left when a run is complete; the results come last."""
        self.log.close()
        measured = {
            f"{part}_bits_per_byte": bits_per_byte(self.model, getattr(self.data, part))
            for part in ("validation", "test")
        }
        self.model.record = {**self.identity, **measured}
        self.model.record["data"] = {"name": self.data.name, **self.identity["data"]}
        save_checkpoint(self.model, self.folder / names.MODEL)
        results = {
            **self.model.record,
            "parameters": self.model.parameter_count(),
            "environment": environment(self.group),
            "wall_time_s": self.clock.seconds(),
        }
        names.write_json(self.folder / names.RESULTS, results)
        return read_json(self.folder / names.RESULTS)
