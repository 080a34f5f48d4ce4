"""The dense matrix of attention weights, and how spread out it is; for diagnostics and exports."""

from __future__ import annotations

import math

import torch
from torch import Tensor


def causal_softmax(query: Tensor, key: Tensor, width: int) -> Tensor:
    """Return softmax over u <= t of query_t . key_u / sqrt(width), shape (..., N, N).

    >>> causal_softmax(torch.zeros(2, 4), torch.zeros(2, 4), 4).tolist()
    [[1.0, 0.0], [0.5, 0.5]]
    """
    scores = query @ key.transpose(-1, -2) / math.sqrt(width)
    later = torch.ones(scores.shape[-2:], device=scores.device).triu(1).bool()
    return scores.masked_fill(later, -math.inf).softmax(dim=-1)


def mean_entropy(weights: Tensor) -> float:
    """Return the mean entropy of rows of attention weights, -sum_u W_tu log2 W_tu, in bits.

    Parameters
    ----------
    weights : shape (..., N, N), rows that sum to 1 (or to 0, which count as entropy 0).

    >>> mean_entropy(torch.tensor([[1.0, 0.0], [0.5, 0.5]]))
    0.5
    """
    return float(torch.special.entr(weights.double()).sum(dim=-1).mean() / math.log(2.0))
