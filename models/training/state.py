"""The optimiser, and its state by the names of the parameters it belongs to."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from oscsim.errors import SchemaError, SpecError

from ..language_model import LanguageModel
from .config import TrainingConfig

_KEYS = ("step", "exp_avg", "exp_avg_sq")


def optimiser_of(model: LanguageModel, config: TrainingConfig) -> torch.optim.AdamW:
    """Return AdamW over the model's own parameter groups, which must hold every parameter once.

    Each group keeps its own rate as ``peak``: the schedule scales it.
    """
    groups = model.parameter_groups(config.learning_rate, config.weight_decay)
    given = sorted(id(parameter) for group in groups for parameter in group["params"])
    if given != sorted(id(parameter) for parameter in model.parameters()):
        raise SpecError(
            f"{model.name}: given parameter groups of {len(given)} tensors, expected each of the "
            f"{sum(1 for _ in model.parameters())} parameters once; correct parameter_groups"
        )
    kept: list[dict[str, Any]] = [{**group, "peak": group["lr"]} for group in groups if group["params"]]
    return torch.optim.AdamW(kept, betas=config.betas, fused=True)


def optimiser_state(optimiser: torch.optim.Optimizer, model: LanguageModel) -> dict[str, Tensor]:
    """Return the state as tensors by name, such as ``exp_avg.head.weight``."""
    state = {}
    for name, parameter in model.named_parameters():
        for key, value in optimiser.state.get(parameter, {}).items():
            state[f"{key}.{name}"] = value
    return state


def restore_optimiser(
    optimiser: torch.optim.Optimizer, model: LanguageModel, state: dict[str, Tensor], source: str
) -> None:
    """Put a state of :func:`optimiser_state` back.

    Raises
    ------
    SchemaError
        the state is not that of an optimiser of this model.
    """
    rest = dict(state)
    for name, parameter in model.named_parameters():
        found = {key: rest.pop(f"{key}.{name}") for key in _KEYS if f"{key}.{name}" in rest}
        shapes = {key: value.shape for key, value in found.items() if key != "step"}
        if found and (len(found) < len(_KEYS) or any(s != parameter.shape for s in shapes.values())):
            raise SchemaError(
                f"{source}: given an optimiser state of {name} that does not fit it, expected "
                f"{', '.join(_KEYS)} of shape {tuple(parameter.shape)}; start over in another folder"
            )
        if found:
            optimiser.state[parameter] = {k: v.to(parameter.device) for k, v in found.items()}
    if rest:
        raise SchemaError(
            f"{source}: given an optimiser state of {sorted(rest)[0]}, expected parameters of this model "
            "only; start over in another folder"
        )
