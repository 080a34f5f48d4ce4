"""What a trained model is measured by: bits per character and locked fractions."""

from __future__ import annotations

import math
from collections.abc import Collection
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from oscsim.errors import SpecError

from .osn import OSNLanguageModel


def passages(tokens: Tensor, length: int, stride: int) -> Tensor:
    """Return overlapping passages of a text, shape (passages, length).

    >>> passages(torch.arange(6), length=4, stride=2).tolist()
    [[0, 1, 2, 3], [2, 3, 4, 5]]
    """
    if tokens.numel() < length:
        raise SpecError(
            f"given a text of {tokens.numel()} tokens; expected at least {length}; "
            "pass a longer text or use a shorter context"
        )
    return tokens.unfold(0, length, stride)


@torch.no_grad()
def bits_per_character(
    model: OSNLanguageModel, tokens: Tensor, silent: Collection[int] = (), batch: int = 64
) -> float:
    """Return the mean code length of a text under the model, -mean log2 p(next | before).

    Passages of ``context`` characters overlap by half and only their later half is scored, so
    every scored character is predicted from at least half a context.

    Parameters
    ----------
    model : the model; dropout is off while measuring.
    tokens : held-out text, shape (N,), N > context.
    silent : blocks whose synchronization output is set to zero.
    batch : passages per forward pass.

    Returns
    -------
    bits per character, >= 0.

    Raises
    ------
    SpecError
        the text is shorter than one context.
    """
    context = model.config.context
    half = context // 2
    training = model.training
    model.eval()
    total, count = 0.0, 0
    try:
        for chunk in passages(tokens, context + 1, half).split(batch):
            logits = model(chunk[:, :-1], silent)[:, half:]
            target = chunk[:, 1:][:, half:]
            loss = functional.cross_entropy(logits.flatten(0, 1).double(), target.flatten(), reduction="sum")
            total, count = total + loss.item(), count + target.numel()
    finally:
        model.train(training)
    return total / count / math.log(2.0)


@torch.no_grad()
def locked_fractions(model: OSNLanguageModel, tokens: Tensor) -> Tensor:
    """Return the share of locked pairs j < i (off-diagonal, unmasked) of every block and head.

    Parameters
    ----------
    model : the model.
    tokens : passages, shape (B, N), N >= 2.

    Returns
    -------
    shape (blocks, H), float64, in [0, 1].
    """
    below = torch.ones(tokens.shape[1], tokens.shape[1], device=tokens.device).tril(-1).bool()
    rows = []
    for block, hidden in enumerate(model.layer_inputs(tokens)):
        locked = model.layer(block).locked(hidden)[..., below]
        rows.append(locked.double().mean(dim=(0, 2)))
    return torch.stack(rows)


def measure(model: OSNLanguageModel, held_out: Tensor) -> dict[str, Any]:
    """Return the measured part of a training record, on held-out text of shape (N,).

    Keys: ``bits_per_character``, ``bits_without_synchronization`` (every block's output zeroed),
    ``bits_without_block`` (one block's at a time), ``locked_fraction`` (blocks by heads, at the
    length of one context).

    Zeroing a path the model was trained with overstates what it is worth: the shipped shape trained
    without any synchronization reaches 3.54 bits per character, which is the fairer comparison.
    """
    blocks = range(len(model.blocks))
    context = model.config.context
    return {
        "bits_per_character": bits_per_character(model, held_out),
        "bits_without_synchronization": bits_per_character(model, held_out, blocks),
        "bits_without_block": [bits_per_character(model, held_out, {b}) for b in blocks],
        "locked_fraction": locked_fractions(model, passages(held_out, context, context)).tolist(),
    }
