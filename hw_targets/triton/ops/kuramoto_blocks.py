"""Backward pass of softmax attention by blocks of rows, each with its own softmax: for very large scores.

A flash kernel recomputes weights as exp(score - log-sum-exp). Both are rounded, by 2^-24 of their size, and
what separates them is exponentiated: scores of 1e10 overflow. A softmax of the recomputed scores cannot.
"""

from __future__ import annotations

import torch
from torch import Tensor

ROWS = 64
"""Rows at a time: memory O(N ROWS) per batch element and head."""

LARGEST_SCORE = 2.0**20
"""Score from which rounding of float32, 2^-24 of it, and of the log-sum-exp can be off by 0.1 together."""


def needed(query: Tensor, key: Tensor, scale: float) -> bool:
    """Whether |score| <= scale max |query| max |key| (Cauchy and Schwarz) may pass LARGEST_SCORE."""
    if query.numel() == 0:
        return False
    largest = [x.double().norm(dim=-1).amax(dim=-1) for x in (query, key)]
    return bool((scale * largest[0] * largest[1]).max() > LARGEST_SCORE)


def backward(
    d_mean: Tensor, query: Tensor, key: Tensor, value: Tensor, causal: bool, scale: float
) -> tuple[Tensor, Tensor, Tensor]:
    """Gradients by query, key and value, (B, H, N, width) float32, of softmax(scale query key^T) value."""
    d_mean, query, key, value = (x.float() for x in (d_mean, query, key, value))
    d_query, d_key, d_value = (torch.zeros_like(x) for x in (query, key, value))
    n = query.shape[2]
    for first in range(0, n, ROWS):
        rows = slice(first, min(first + ROWS, n))
        seen = slice(0, rows.stop if causal else n)
        score = query[:, :, rows] @ key[:, :, seen].mT * scale
        if causal:
            hidden = torch.ones(score.shape[-2:], dtype=torch.bool).triu(first + 1)
            score = score.masked_fill(hidden, -torch.inf)
        weights = torch.softmax(score, dim=-1)
        upstream = d_mean[:, :, rows]
        d_value[:, :, seen] += weights.mT @ upstream
        change = upstream @ value[:, :, seen].mT
        change = weights * (change - (weights * change).sum(dim=-1, keepdim=True)) * scale
        d_query[:, :, rows] = change @ key[:, :, seen]
        d_key[:, :, seen] += change.mT @ query[:, :, rows]
    return d_query, d_key, d_value
