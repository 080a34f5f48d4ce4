"""Text from a trained model, one byte after the other."""

from __future__ import annotations

import math
from collections.abc import Iterator

import torch
from torch import Tensor

from oscsim.errors import SpecError, TargetRunError

from .language_model import LanguageModel, evaluating

START = b"\n"
"""What stands in for an empty prompt: a model predicts only what follows at least one byte."""


def generate(
    model: LanguageModel, prompt: str | bytes, count: int, temperature: float = 1.0, seed: int = 0
) -> bytes:
    """Return ``count`` bytes that a model continues a prompt with.

    p(v) = softmax(logits / temperature)_v, drawn in float64 on the CPU; at temperature 0 the byte with
    the largest logit. The model sees the last ``context`` bytes of what stands there so far.

    Parameters
    ----------
    model : the model; dropout is off while generating.
    prompt : text (as UTF-8) or bytes; where it is empty, a line break is taken in its place.
    count : bytes to add, >= 0.
    temperature : >= 0.
    seed : of the draws; without effect at temperature 0.

    Returns
    -------
    the new bytes only; equal arguments on one device give equal bytes.

    Raises
    ------
    SpecError
        a negative or infinite temperature, a negative count, a seed that is none.
    TargetRunError
        the model's scores are not finite.

    >>> from models.transformer import TransformerConfig, TransformerLanguageModel
    >>> model = TransformerLanguageModel(TransformerConfig(width=8, heads=2, blocks=1))
    >>> len(generate(model, "Alice", 3))
    3
    """
    if not (math.isfinite(temperature) and temperature >= 0.0):
        raise SpecError(
            f"temperature: given {temperature}; expected a number >= 0 (0 takes the likeliest byte)"
        )
    if count < 0:
        raise SpecError(f"bytes: given {count}; expected 0 or more")
    if not 0 <= seed < 2**63:
        raise SpecError(f"seed: given {seed}; expected 0 to 2^63 - 1")
    with evaluating(model):
        return bytes(_draws(model, model.encode(prompt or START), count, temperature, seed))


def _draws(model: LanguageModel, tokens: Tensor, count: int, temperature: float, seed: int) -> Iterator[int]:
    generator = torch.Generator().manual_seed(seed)
    for _ in range(count):
        window = tokens[-model.config.context :].to(model.device)
        logits = model(window.unsqueeze(0))[0, -1].double().cpu()
        if not logits.isfinite().all():
            raise TargetRunError(
                f"after {len(tokens)} bytes the model's scores are not finite; expected numbers; "
                "train the model again, or take an earlier checkpoint"
            )
        token = _choose(logits, temperature, generator)
        tokens = torch.cat([tokens, token])
        yield int(token)


def _choose(logits: Tensor, temperature: float, generator: torch.Generator) -> Tensor:
    """One token of shape (1,) for logits (256,)."""
    if temperature == 0.0:
        return logits.argmax(keepdim=True)
    # relative to the largest: a tiny temperature gives -inf, never inf - inf
    weights = ((logits - logits.max()) / temperature).softmax(dim=-1)
    return torch.multinomial(weights, 1, generator=generator)
