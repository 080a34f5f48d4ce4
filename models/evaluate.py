"""What a model is measured by: bits per byte."""

from __future__ import annotations

import math

import torch
from torch import Tensor
from torch.nn import functional

from .language_model import LanguageModel, evaluating
from .training.batches import windows


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
    return window_bits(model, tokens, batch, limit).mean().item()


def window_bits(model: LanguageModel, tokens: Tensor, batch: int = 64, limit: int | None = None) -> Tensor:
    """Return the bits per byte of each window, shape (W,), float64, on the CPU.

    Their mean is :func:`bits_per_byte`, whose parameters these are; the bits of two models on the same
    windows can be compared in pairs.
    """
    rows = []
    with evaluating(model):
        for chunk in windows(tokens, model.config.context, limit).split(batch):
            moved = chunk.to(model.device).long()
            logits, targets = model(moved[:, :-1]), moved[:, 1:]
            losses = functional.cross_entropy(logits.float().transpose(1, 2), targets, reduction="none")
            rows.append(losses.double().mean(dim=1).cpu())
    return torch.cat(rows) / math.log(2.0)


def standard_error(bits: Tensor) -> float:
    """Return the standard error of the mean over windows, sqrt(var / W); NaN for a single one.

    It takes windows as independent, and neighbouring windows of a text are not quite: rather too small.

    >>> standard_error(torch.tensor([1.0, 3.0]))
    1.0
    """
    return (bits.std(correction=1) / math.sqrt(len(bits))).item() if len(bits) > 1 else math.nan
