"""Train a model in a folder: reproducible, resumable after any kind of end."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path

import torch

from ..language_model import LanguageModel, ModelConfig
from ..registry import model_class
from .batches import Data
from .checks import check
from .config import TrainingConfig
from .facts import environment, identity
from .folder import locked
from .processes import processes, reproducible
from .recorder import Facts, Report
from .run import Outcome, Run


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
    SchemaError
        the folder's checkpoint or log was altered, or a complete run's model or results.
    TrainingDiverged
        the loss or a gradient became NaN or infinite; the last checkpoint is kept.
    TargetUnavailable
        TensorBoard's package is not installed.
    KeyboardInterrupt
        the user stopped the training; says how far the checkpoint is.

    Warns
    -----
    EnvironmentWarning
        a run goes on with other versions, another device, or another number of threads or processes
        than it was begun with, so its last digits may differ from an unbroken one's.
    WallTimeWarning
        a run goes on without the file that knows how long its earlier parts took.
    """
    kind = model_class(model) if isinstance(model, str) else model
    with processes(device) as group, reproducible(group.device), ExitStack() as stack:
        check(training_config, model_config, data, group)
        group.once(lambda: stack.enter_context(locked(Path(folder))))
        facts = Facts(
            Path(folder), training_config, report,
            identity(kind, model_config, training_config, data), environment(group),
        )  # fmt: skip
        torch.manual_seed(training_config.seed)
        built = kind(model_config).to(group.device)
        built.use(training_config.implementation)
        return Run(built, data, facts, group).go(resume)
