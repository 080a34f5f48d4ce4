"""How spread out attention is; for diagnostics, computed from the dense matrix of weights."""

from __future__ import annotations

import math

import torch
from torch import Tensor


def mean_entropy(weights: Tensor) -> float:
    """Return the mean entropy of rows of attention weights, -sum_u W_tu log2 W_tu, in bits.

    Parameters
    ----------
    weights : shape (..., N, N), rows that sum to 1 (or to 0, which count as entropy 0).

    >>> mean_entropy(torch.tensor([[1.0, 0.0], [0.5, 0.5]]))
    0.5
    """
    return float(torch.special.entr(weights.double()).sum(dim=-1).mean() / math.log(2.0))
