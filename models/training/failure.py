"""A loss or a gradient that is no number any more: where it began."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from oscsim.errors import TargetRunError

from ..language_model import LanguageModel


class TrainingDiverged(TargetRunError):
    """A loss or gradient became NaN or infinite: names the step, the layer and the last checkpoint."""


def first_not_finite(objective: nn.Module, model: LanguageModel, passages: Tensor) -> str | None:
    """Repeat a step and return the first thing in it that is not finite, or None.

    Looked at in this order: parameters, the output of each layer as it is computed, the losses, and
    the gradient of each parameter.
    """
    for name, parameter in model.named_parameters():
        if not finite(parameter):
            return f"parameter {name}"
    found: list[str] = []

    def watch(name: str) -> Any:
        def look(_: nn.Module, __: Any, output: Any) -> None:
            if not found and not finite(output):
                found.append(f"the output of layer {name} ({type(model.get_submodule(name)).__name__})")

        return look

    hooks = [module.register_forward_hook(watch(name)) for name, module in model.named_modules() if name]
    try:
        model.zero_grad()
        losses = objective(passages)
    finally:
        for hook in hooks:
            hook.remove()
    if found:
        return found[0]
    for name, value in losses._asdict().items():
        if not finite(value):
            return f"the {name.replace('_', '-')}"
    (losses.cross_entropy + losses.penalty).backward()
    for name, parameter in model.named_parameters():
        if parameter.grad is not None and not finite(parameter.grad):
            return f"the gradient of {name}"
    return None


def finite(value: Any) -> bool:
    """Whether all numbers in a tensor, or in a tree of tuples, lists and dictionaries, are finite."""
    if isinstance(value, Tensor):
        return bool(torch.isfinite(value).all())
    if isinstance(value, dict):
        return all(finite(part) for part in value.values())
    if isinstance(value, list | tuple):
        return all(finite(part) for part in value)
    return True
