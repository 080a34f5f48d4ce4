"""What is refused before a run begins."""

from __future__ import annotations

import math
from typing import Any, get_args

from hw_targets.triton.ops import Implementation
from oscsim.errors import ConfigError

from ..language_model import ModelConfig
from .batches import Data, require
from .config import TrainingConfig
from .events import require_tensorboard
from .processes import Processes
from .step import autocast

_COUNTS = ("steps", "batch", "log_every", "validate_every", "validation_windows", "checkpoint_every")
_SEEDS = 2**63


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
    for name, fine, expected in _wanted(config):
        if not fine:
            raise ConfigError(f"{name}: given {getattr(config, name)!r}, expected {expected}; change it")
    autocast(group.device, config.precision)
    if config.batch % group.size:
        raise ConfigError(
            f"batch: given {config.batch} for {group.size} processes, expected a multiple of "
            f"{group.size}; change the batch or the number of processes"
        )
    for part in ("train", "validation", "test"):
        require(getattr(data, part), model_config.context, f"{data.name} {part}")
    require_tensorboard()


def _wanted(config: TrainingConfig) -> list[tuple[str, bool, str]]:
    """Each setting: its name, whether its value is fine, and what was expected."""
    betas: Any = config.betas
    pair = isinstance(betas, tuple | list) and len(betas) == 2
    words = get_args(Implementation)
    return [
        *((name, _whole(getattr(config, name)) >= 1, "a whole number, at least 1") for name in _COUNTS),
        ("warm_up", _whole(config.warm_up) >= 0, "a whole number, at least 0"),
        ("weight_decay", 0.0 <= _number(config.weight_decay) < math.inf, "a number, at least 0"),
        ("learning_rate", 0.0 < _number(config.learning_rate) < math.inf, "a positive number"),
        ("clip", 0.0 < _number(config.clip) < math.inf, "a positive number"),
        ("betas", pair and all(0.0 <= _number(b) < 1.0 for b in betas), "two numbers from 0 to below 1"),
        ("seed", 0 <= _whole(config.seed) < _SEEDS, "a whole number from 0 to 2^63 - 1"),
        ("precision", config.precision in ("float32", "bfloat16"), "'float32' or 'bfloat16'"),
        ("compile", isinstance(config.compile, bool), "True or False"),
        (
            "implementation", config.implementation is None or config.implementation in words,
            f"None or one of {', '.join(map(repr, words))}",
        ),
    ]  # fmt: skip


def _number(value: Any) -> float:
    """The value, or NaN, which no comparison holds for, when it is no number."""
    return value if isinstance(value, int | float) and not isinstance(value, bool) else math.nan


def _whole(value: Any) -> float:
    return value if type(value) is int else math.nan
