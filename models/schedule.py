"""Learning rates: over time, and for different kinds of parameters."""

from __future__ import annotations

import math
from typing import Any

from torch import Tensor, nn


def learning_rate_factor(step: int, steps: int, warm_up: int) -> float:
    """Return the factor at a step: linear warm-up, then half a cosine down to one tenth.

    >>> [round(learning_rate_factor(step, 110, 10), 2) for step in (0, 10, 60, 110)]
    [0.1, 1.0, 0.55, 0.1]
    """
    if step < warm_up:
        return (step + 1) / warm_up
    done = (step - warm_up) / max(1, steps - warm_up)
    return 0.1 + 0.45 * (1.0 + math.cos(math.pi * min(done, 1.0)))


def parameter_groups(
    model: nn.Module, learning_rate: float, frequency_rate: float, weight_decay: float
) -> list[dict[str, Any]]:
    """Return optimiser groups: what sets locking learns slower, and only matrices decay.

    Frequencies, alpha and K decide which pairs lock, and locking is sharp: their learning rate is
    ``frequency_rate`` times the others', without decay.

    >>> groups = parameter_groups(nn.Linear(2, 2), 0.1, 0.5, 0.01)
    >>> [(len(group["params"]), group["lr"], group["weight_decay"]) for group in groups]
    [(0, 0.05, 0.0), (1, 0.1, 0.01), (1, 0.1, 0.0)]
    """
    frequency: list[Tensor] = []
    matrices: list[Tensor] = []
    vectors: list[Tensor] = []
    for name, parameter in model.named_parameters():
        if name.endswith(("ramp", "alpha_raw", "gain_raw", "frequency.weight")):
            frequency.append(parameter)
        elif parameter.dim() > 1:
            matrices.append(parameter)
        else:
            vectors.append(parameter)
    return [
        {"params": frequency, "lr": learning_rate * frequency_rate, "weight_decay": 0.0},
        {"params": matrices, "lr": learning_rate, "weight_decay": weight_decay},
        {"params": vectors, "lr": learning_rate, "weight_decay": 0.0},
    ]
