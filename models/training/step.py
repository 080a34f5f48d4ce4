"""One optimiser step."""

from __future__ import annotations

import math
from contextlib import AbstractContextManager
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn.parallel import DistributedDataParallel

from oscsim.errors import ConfigError

from ..language_model import LanguageModel, Losses
from .batches import batch, step_seed
from .config import TrainingConfig
from .failure import TrainingDiverged, first_not_finite
from .processes import Processes
from .schedule import learning_rate_factor


class StepRecord(NamedTuple):
    """What a step measured, the same in every process."""

    bits_per_byte: float
    penalty: float
    learning_rate: float
    gradient_norm: float


class Objective(nn.Module):
    """The losses of a model as a module, so that torch can distribute and compile them.

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
        shared = DistributedDataParallel(self.plain) if group.size > 1 else self.plain
        self.objective: Any = torch.compile(shared) if config.compile else shared

    def passages(self, step: int) -> Tensor:
        """Return this process's share of a step's batch, and seed what the step draws."""
        config, group = self.config, self.group
        torch.manual_seed(step_seed(config.seed, step, group.rank + 1))
        context = self.model.config.context
        drawn = batch(self.tokens, context, config.batch, config.seed, step, group.rank, group.size)
        return drawn.to(group.device)

    def run(self, step: int) -> StepRecord:
        """Do step 1, 2, ... and return what it measured."""
        config = self.config
        factor = learning_rate_factor(step - 1, config.steps, config.warm_up)
        for group in self.optimiser.param_groups:
            group["lr"] = group["peak"] * factor
        self.optimiser.zero_grad()
        losses = Losses(*self.objective(self.passages(step)))
        (losses.cross_entropy + losses.penalty).backward()
        norm = nn.utils.clip_grad_norm_(self.model.parameters(), config.clip)
        both = torch.stack((losses.cross_entropy.detach().float(), losses.penalty.detach().float()))
        measured = [*self.group.mean(both).tolist(), norm.item()]
        if not all(math.isfinite(value) for value in measured):
            raise self._diverged(step)
        self.optimiser.step()
        return StepRecord(
            measured[0] / math.log(2.0), measured[1], config.learning_rate * factor, measured[2]
        )

    def _diverged(self, step: int) -> TrainingDiverged:
        found = first_not_finite(self.plain, self.model, self.passages(step))
        places = [place for place in self.group.gather(found) if place is not None]
        return TrainingDiverged(
            f"step {step}: the loss or its gradient is not finite any more, first in "
            f"{places[0] if places else 'the gradient norm'}"
        )
