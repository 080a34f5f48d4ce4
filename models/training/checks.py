"""What is refused before a run begins."""

from __future__ import annotations

import math

from oscsim.errors import ConfigError

from ..language_model import ModelConfig
from .batches import Data, require
from .config import TrainingConfig
from .events import require_tensorboard
from .processes import Processes
from .step import autocast

_COUNTS = ("steps", "batch", "log_every", "validate_every", "validation_windows", "checkpoint_every")
_POSITIVE = ("learning_rate", "clip")
_NOT_NEGATIVE = ("warm_up", "weight_decay")


def check(config: TrainingConfig, model_config: ModelConfig, data: Data, group: Processes) -> None:
    """Refuse settings nobody can train with, data that are too short, and a missing package.

    Raises
    ------
    ConfigError
        an impossible setting, or one that the device or the number of processes does not allow.
    SpecError
        too few bytes for one context.
    TargetUnavailable
        TensorBoard's package is not installed.
    """
    for name, least in [(n, 1) for n in _COUNTS] + [(n, 0) for n in _NOT_NEGATIVE]:
        if not least <= getattr(config, name) < math.inf:
            raise ConfigError(f"{name}: given {getattr(config, name)}, expected at least {least}")
    for name in _POSITIVE:
        if not 0.0 < getattr(config, name) < math.inf:
            raise ConfigError(f"{name}: given {getattr(config, name)}, expected a positive number")
    if config.precision not in ("float32", "bfloat16"):
        raise ConfigError(f"precision: given {config.precision!r}, expected 'float32' or 'bfloat16'")
    autocast(group.device, config.precision)
    if config.batch % group.size:
        raise ConfigError(
            f"batch: given {config.batch} for {group.size} processes, expected a multiple of "
            f"{group.size}; change the batch or the number of processes"
        )
    for part in ("train", "validation", "test"):
        require(getattr(data, part), model_config.context, f"{data.name} {part}")
    require_tensorboard()
