"""Fit a character model to a text.

One thread, one seed, deterministic kernels: the same machine and versions give the same bytes.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import partial

import torch
from torch import Tensor, nn
from torch.nn import functional

from hw_targets.triton.ops import Implementation
from oscsim.errors import SpecError

from .evaluate import locked_fractions, measure, passages
from .initialise import initialise_model
from .locked_range import locked_fraction_penalty, warn_if_outside
from .osn import OSNConfig, OSNLanguageModel
from .schedule import learning_rate_factor, parameter_groups
from .text import Vocabulary, text_digest

Report = Callable[[int, float, Tensor], None]
"""Called with the steps done, the loss in bits per character, and locked fractions (blocks, H)."""


@dataclass(frozen=True)
class TrainingConfig:
    """How a model is trained; the defaults train the shipped one.

    Attributes
    ----------
    steps, batch : optimiser steps, and passages of one context per step.
    learning_rate, warm_up : peak of the schedule, and steps to reach it.
    frequency_rate : learning rate of what sets locking, relative to the rest.
    weight_decay, clip : decay of matrices; largest gradient norm.
    held_out : share of the text, at its end, that is never trained on.
    wanted_locked : locked fraction to start from.
    locked_target, locked_weight : see :func:`locked_fraction_penalty`.
    penalty_batch : passages of each batch that the penalty looks at.
    monitor_every : steps between two looks at the locked fractions.
    implementation : who computes the attention; another one gives the same model up to rounding.
    seed : of parameters, batches and dropout.

    >>> TrainingConfig(steps=30).seed
    2026
    """

    steps: int = 2500
    batch: int = 32
    learning_rate: float = 8e-3
    frequency_rate: float = 0.25
    warm_up: int = 100
    weight_decay: float = 0.1
    clip: float = 1.0
    held_out: float = 0.1
    wanted_locked: float = 0.5
    locked_target: tuple[float, float] = (0.25, 0.75)
    locked_weight: float = 10.0
    penalty_batch: int = 8
    monitor_every: int = 50
    implementation: Implementation = "eager"
    seed: int = 2026


def split_text(text: str, held_out: float) -> tuple[str, str]:
    """Return the training part and the held-out end of a text.

    >>> split_text("abcdefghij", 0.2)
    ('abcdefgh', 'ij')
    """
    if not 0.0 < held_out < 1.0:
        raise SpecError(f"given held_out {held_out}; expected a share between 0 and 1; change it")
    cut = len(text) - int(len(text) * held_out)
    return text[:cut], text[cut:]


@contextmanager
def reproducible(seed: int) -> Iterator[None]:
    """Run with one thread, deterministic kernels and a seed; leave global state as it was."""
    threads = torch.get_num_threads()
    deterministic = torch.are_deterministic_algorithms_enabled()
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        torch.set_num_threads(1)
        torch.use_deterministic_algorithms(True)
        try:
            yield
        finally:
            torch.set_num_threads(threads)
            torch.use_deterministic_algorithms(deterministic)


def train(
    text: str, shape: OSNConfig, config: TrainingConfig, report: Report | None = None
) -> OSNLanguageModel:
    """Train a model on a text, and measure it on the held-out end.

    Parameters
    ----------
    text : the whole text, at least a few contexts long.
    shape : the shape of the model.
    config : how to train.
    report : called every ``monitor_every`` steps, for a progress display.

    Returns
    -------
    the model in evaluation mode, with ``record`` filled in.

    Raises
    ------
    SpecError
        the text is too short, or a configuration value is impossible.

    Warns
    -----
    LockedFractionWarning
        the locked fraction of a head left its range.
    """
    with reproducible(config.seed):
        vocabulary = Vocabulary.of(text)
        train_text, held_out = (vocabulary.encode(part) for part in split_text(text, config.held_out))
        model = OSNLanguageModel(shape, vocabulary)
        model.use(config.implementation)
        monitor = passages(train_text, shape.context, max(1, train_text.numel() // 16))[:16]
        initialise_model(model, monitor, config.wanted_locked)
        _optimise(model, train_text, monitor, config, report)
        model.eval()
        model.record = {
            "text_sha256": text_digest(text),
            "training": asdict(config),
            "torch": str(torch.__version__),
            **measure(model, held_out),
        }
    return model


def _optimise(
    model: OSNLanguageModel, tokens: Tensor, monitor: Tensor, config: TrainingConfig, report: Report | None
) -> None:
    groups = parameter_groups(model, config.learning_rate, config.frequency_rate, config.weight_decay)
    optimiser = torch.optim.AdamW(groups, betas=(0.9, 0.98))
    factor = partial(learning_rate_factor, steps=config.steps, warm_up=config.warm_up)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimiser, factor)
    for step in range(1, config.steps + 1):
        loss, penalty = _losses(model, tokens, config)
        optimiser.zero_grad()
        (loss + config.locked_weight * penalty).backward()
        nn.utils.clip_grad_norm_(model.parameters(), config.clip, error_if_nonfinite=True)
        optimiser.step()
        schedule.step()
        if step % config.monitor_every == 0 or step == config.steps:
            fractions = locked_fractions(model, monitor)
            warn_if_outside(fractions, step)
            if report is not None:
                report(step, loss.item() / math.log(2.0), fractions)


def _losses(model: OSNLanguageModel, tokens: Tensor, config: TrainingConfig) -> tuple[Tensor, Tensor]:
    """Cross-entropy (nats per character) of random passages, and the locked-fraction penalty."""
    context = model.config.context
    starts = torch.randint(tokens.numel() - context, (config.batch, 1))
    chunk = tokens[starts + torch.arange(context + 1)]
    logits, inputs = model.trace(chunk[:, :-1])
    loss = functional.cross_entropy(logits.flatten(0, 1), chunk[:, 1:].flatten())
    some = [hidden[: config.penalty_batch] for hidden in inputs]
    return loss, locked_fraction_penalty(model, some, config.locked_target)
