"""How a model is trained; the same for every model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from hw_targets.triton.ops import Implementation


@dataclass(frozen=True)
class TrainingConfig:
    """Everything that the course of a training depends on, besides the model's config and the data.

    Attributes
    ----------
    steps, batch : optimiser steps, and passages of one context per step over all processes.
    learning_rate, warm_up : peak of the schedule (cosine, down to a tenth), and steps to reach it.
    weight_decay, betas : of AdamW; only matrices decay.
    clip : largest gradient norm; longer gradients are scaled to it.
    seed : of parameters, batches and dropout. Batches depend on the seed and the step only.
    log_every, validate_every, checkpoint_every : steps between two rows of the log, two looks at
        ``validation_windows`` windows of the validation bytes, two checkpoints. The last step has all three.
    precision : "float32", or "bfloat16" for autocast (phases and frequencies stay float32).
    compile : let torch.compile build the training step.
    implementation : who computes the attention; None is the device's own.

    >>> TrainingConfig(learning_rate=3e-3).batch
    32
    """

    learning_rate: float
    steps: int = 2000
    batch: int = 32
    warm_up: int = 100
    weight_decay: float = 0.1
    betas: tuple[float, float] = (0.9, 0.95)
    clip: float = 1.0
    seed: int = 0
    log_every: int = 10
    validate_every: int = 250
    validation_windows: int = 128
    checkpoint_every: int = 250
    precision: Literal["float32", "bfloat16"] = "float32"
    compile: bool = False
    implementation: Implementation | None = None
