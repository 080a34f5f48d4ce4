"""A loss or a gradient that is no number any more: where that begins."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from oscsim.errors import TargetRunError

from ..language_model import LanguageModel, Losses


class TrainingDiverged(TargetRunError):
    """A loss or gradient became NaN or infinite: names the step, the layer and the last checkpoint."""


def state_not_finite(model: LanguageModel, optimiser: dict[str, Tensor]) -> str | None:
    """Return the first parameter, or entry of the optimiser's state, that is not finite."""
    for name, tensor in model.state_dict().items():
        if not _finite(tensor):
            return f"parameter {name}"
    for name, tensor in optimiser.items():
        if not _finite(tensor):
            return f"the optimiser's {name}"
    return None


def forward_not_finite(
    objective: nn.Module, model: LanguageModel, passages: Tensor
) -> tuple[Losses, str | None]:
    """Compute the losses, and return the first parameter, layer output or loss that is not finite."""
    found = [place for place in [state_not_finite(model, {})] if place is not None]

    def watch(name: str) -> Any:
        def look(layer: nn.Module, _: Any, output: Any) -> None:
            if not _finite(output):
                found.append(f"the output of layer {name} ({type(layer).__name__})")

        return look

    hooks = [layer.register_forward_hook(watch(name)) for name, layer in model.named_modules() if name]
    try:
        model.zero_grad()
        losses: Losses = objective(passages)
    finally:
        for hook in hooks:
            hook.remove()
    found += [
        f"the {name.replace('_', '-')}" for name, value in losses._asdict().items() if not _finite(value)
    ]
    return losses, found[0] if found else None


def gradient_not_finite(losses: Losses, model: LanguageModel) -> str | None:
    """Return the first parameter whose gradient of the losses is not finite."""
    (losses.cross_entropy + losses.penalty).backward()
    for name, parameter in model.named_parameters():
        if parameter.grad is not None and not _finite(parameter.grad):
            return f"the gradient of {name}"
    return None


def _finite(value: Any) -> bool:
    """Whether all numbers in a tensor, or in a tree of tuples, lists and dictionaries, are finite."""
    if isinstance(value, Tensor):
        return bool(torch.isfinite(value).all())
    if isinstance(value, dict):
        return all(_finite(part) for part in value.values())
    if isinstance(value, list | tuple):
        return all(_finite(part) for part in value)
    return True
