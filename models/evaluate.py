"""What a model is measured by: bits per byte."""

from __future__ import annotations

import math

import torch
from torch import Tensor
from torch.nn import functional

from .language_model import LanguageModel
from .training.batches import windows


@torch.no_grad()
def bits_per_byte(model: LanguageModel, tokens: Tensor, batch: int = 64, limit: int | None = None) -> float:
    """Return the mean code length of bytes under the model, -mean log2 p(next | window before).

    The bytes are cut into non-overlapping windows of one context and every position is scored, the
    first of a window with one byte before it only (see :func:`models.training.batches.windows`).

    Parameters
    ----------
    model : the model; it computes in its parameters' precision, dropout is off while measuring.
    tokens : held-out bytes, shape (N,), N > context.
    batch : windows per forward pass.
    limit : at most so many windows, evenly spaced; None for all.

    Returns
    -------
    bits per byte, >= 0.

    Raises
    ------
    SpecError
        fewer bytes than one window.
    """
    training = model.training
    model.eval()
    total, count = 0.0, 0
    try:
        for chunk in windows(tokens, model.config.context, limit).split(batch):
            moved = chunk.to(model.device).long()
            logits, targets = model(moved[:, :-1]), moved[:, 1:].flatten()
            losses = functional.cross_entropy(logits.flatten(0, 1).float(), targets, reduction="none")
            total, count = total + losses.double().sum().item(), count + targets.numel()
    finally:
        model.train(training)
    return total / count / math.log(2.0)
