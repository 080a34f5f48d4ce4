"""One optimiser step."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from oscsim.errors import ConfigError, TargetRunError

from ..language_model import LanguageModel, Losses
from .batches import batch, step_seed
from .config import TrainingConfig
from .failure import forward_not_finite, gradient_not_finite
from .processes import Processes
from .schedule import learning_rate_factor


class StepRecord(NamedTuple):
    """What a step measured, the same in every process."""

    bits_per_byte: float
    penalty: float
    learning_rate: float
    gradient_norm: float


class Objective(nn.Module):
    """The losses of a model as a module, so that torch can compile them.

    Parameters
    ----------
    model : whose losses.
    precision : "bfloat16" for autocast.
    """

    def __init__(self, model: LanguageModel, precision: str) -> None:
        super().__init__()
        self.model = model
        self.precision = precision

    def forward(self, passages: Tensor) -> Losses:
        """Return the losses of passages (B, context + 1)."""
        with autocast(passages.device, self.precision):
            return self.model.losses(passages[:, :-1], passages[:, 1:])


def autocast(device: torch.device, precision: str) -> AbstractContextManager[Any]:
    """Return the context of a forward pass in the given precision.

    Raises
    ------
    ConfigError
        a GPU without bfloat16.
    """
    wanted = precision == "bfloat16"
    if wanted and device.type == "cuda" and not torch.cuda.is_bf16_supported(including_emulation=False):
        raise ConfigError("precision: given 'bfloat16' on a GPU without it; use 'float32'")
    return torch.autocast(device.type, torch.bfloat16, enabled=wanted)


@contextmanager
def _compiler() -> Iterator[None]:
    """Say what torch.compile could not do; its errors are pages long."""
    try:
        yield
    except RuntimeError as error:
        if error.__class__.__module__ not in ("torch._dynamo.exc", "torch._inductor.exc"):
            raise
        reason = str(error).strip().splitlines()[0]
        raise TargetRunError(f"compile: torch.compile failed: {reason}; train without compile") from error


class Stepper:
    """Steps of one run: step ``n`` depends on the parameters before it, the seed and ``n``, nothing else."""

    def __init__(
        self,
        model: LanguageModel,
        optimiser: torch.optim.Optimizer,
        tokens: Tensor,
        config: TrainingConfig,
        group: Processes,
    ) -> None:
        self.model, self.optimiser, self.tokens = model, optimiser, tokens
        self.config, self.group = config, group
        self.plain = Objective(model, config.precision)
        self.objective: Any = torch.compile(self.plain) if config.compile else self.plain

    def passages(self, step: int) -> Tensor:
        """Return this process's share of a step's batch, and seed what the step draws."""
        config, group = self.config, self.group
        torch.manual_seed(step_seed(config.seed, step, group.rank + 1))
        context = self.model.config.context
        drawn = batch(self.tokens, context, config.batch, config.seed, step, group.rank, group.size)
        return drawn.to(group.device)

    def gradients(self, step: int) -> StepRecord:
        """Compute the clipped gradients of step 1, 2, ... and return what they were computed from."""
        config = self.config
        factor = learning_rate_factor(step - 1, config.steps, config.warm_up)
        for group in self.optimiser.param_groups:
            group["lr"] = group["peak"] * factor
        self.optimiser.zero_grad()
        with _compiler():
            losses = Losses(*self.objective(self.passages(step)))
            (losses.cross_entropy + losses.penalty).backward()
        self.group.average_gradients(self.model.parameters())
        norm = nn.utils.clip_grad_norm_(self.model.parameters(), config.clip)
        both = torch.stack((losses.cross_entropy.detach().float(), losses.penalty.detach().float()))
        cross_entropy, penalty = self.group.mean(both).tolist()
        rate = config.learning_rate * factor
        return StepRecord(cross_entropy / math.log(2.0), penalty, rate, norm.item())

    def apply(self) -> None:
        """Change the parameters by the gradients."""
        self.optimiser.step()

    def first_not_finite(self, step: int) -> str:
        """Repeat a step whose loss or gradient is not finite, and return where that begins."""
        losses, place = forward_not_finite(self.plain, self.model, self.passages(step))
        found = [*self.group.gather(place)]  # every process has its own part of the batch
        if not any(found):
            found = self.group.gather(gradient_not_finite(losses, self.model))
        return next((place for place in found if place is not None), "the norm of all gradients")
