"""Inputs of Kuramoto attention, drawn where its training starts."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from hw_targets.triton.bench.options import Case

# Small initial phases and tau sqrt(k) of a few: where the layer learns from the first steps.
LARGEST_PHASE = 0.5
SHARPNESS = 3.0
LARGEST_DRIFT = 0.1


def draw(
    case: Case, shape: tuple[int, ...], generator: torch.Generator
) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """Arguments of ``kuramoto_attention`` that can be learned; shape (B, H, N, k).

    Phases are uniform within 0.5 rad, gates are softplus of normal numbers divided by their mean over the
    coordinates, drifts spread geometrically over the coordinates as in rotary embeddings.
    """
    del case
    heads, channels = shape[1], shape[3]

    def gate() -> Tensor:
        raw = functional.softplus(torch.randn(shape, generator=generator))
        return raw / raw.mean(dim=-1, keepdim=True)

    tau = SHARPNESS / math.sqrt(channels)
    learned = {
        "theta": LARGEST_PHASE * (2 * torch.rand(shape, generator=generator) - 1),
        "gate_q": gate(),
        "gate_k": gate(),
        "drift": LARGEST_DRIFT * torch.logspace(0, -3, channels).expand(heads, channels).contiguous(),
        "tau": torch.full((heads,), tau),
    }
    return learned, {"tau_sqrt_k": SHARPNESS}
