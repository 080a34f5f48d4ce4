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


def with_state(state: dict[str, Tensor]) -> list[str]:
    """Return the parameters that a state of :func:`optimiser_state` is of."""
    return sorted({name.partition(".")[2] for name in state})


def restore_optimiser(
    optimiser: torch.optim.Optimizer,
    model: LanguageModel,
    state: dict[str, Tensor],
    training: dict[str, Any],
    source: str,
) -> None:
    """Put a state of :func:`optimiser_state` back.

    Parameters
    ----------
    optimiser, model : whose state.
    state : tensors by name.
    training : ``step``, and in ``optimiser`` the parameters with a state; older files do not name them.
    source : the file, for messages.

    Raises
    ------
    SchemaError
        the state is not that of an optimiser of this model after so many steps.
    """
    parameters, step = dict(model.named_parameters()), training["step"]
    found = with_state(state)
    wanted = training.get("optimiser", found)
    differing = sorted({*wanted} ^ {*found})
    if differing or bool(found) != bool(step):
        which = differing[0] if differing else f"{len(found)} parameters"
        expected = f"that of {len(wanted)} parameters" if wanted else "that of the trained parameters"
        raise _unfit(source, which, f"{expected} after step {step}" if step else "none before the first step")
    for name in found:
        parts = {key: value for key in _KEYS if (value := state.get(f"{key}.{name}")) is not None}
        extra = len([entry for entry in state if entry.partition(".")[2] == name]) - len(parts)
        if name not in parameters or extra:
            raise _unfit(source, name, "parameters of this model only")
        expected = _expected(parameters[name], parts, step)
        if expected is not None:
            raise _unfit(source, name, expected)
        optimiser.state[parameters[name]] = {k: v.to(parameters[name].device) for k, v in parts.items()}


def _expected(parameter: Tensor, parts: dict[str, Tensor], step: int) -> str | None:
    """What was expected of the state of a parameter, or None when it is fine."""
    shapes = {"step": torch.Size(), "exp_avg": parameter.shape, "exp_avg_sq": parameter.shape}
    given = {key: (value.shape, value.dtype) for key, value in parts.items()}
    if given != {key: (shapes[key], torch.float32) for key in _KEYS}:
        return f"float32 {', '.join(_KEYS)} of shape {tuple(parameter.shape)}, step of ()"
    if not all(bool(torch.isfinite(value).all()) for value in parts.values()):
        return "finite numbers"
    if bool((parts["exp_avg_sq"] < 0.0).any()):
        return "mean squares, which are not negative"
    steps = float(parts["step"])
    return None if 1.0 <= steps <= step and steps.is_integer() else f"a step from 1 to {step}"


def _unfit(source: str, name: str, expected: str) -> SchemaError:
    return SchemaError(
        f"{source}: given an optimiser state of {name} that does not fit, expected {expected}; "
        "restore the file, or start over in another folder"
    )
