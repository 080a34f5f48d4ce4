"""Which weights attention dropout keeps: a hash of (seed, batch and head, row, column), the same everywhere.

Every implementation computes the mask where it needs it, forwards and backwards, so nothing of size N^2 is
stored and all implementations drop the same weights. The mixing steps are those of the 32-bit finaliser of
MurmurHash3 (A. Appleby, public domain).
"""

from __future__ import annotations

import torch
from torch import Tensor

WORD = 0xFFFFFFFF
STEP_HEAD, STEP_ROW, STEP_COLUMN = 0x9E3779B1, 0x85EBCA77, 0xC2B2AE3D


def mix(x: Tensor) -> Tensor:
    """Spread a 32-bit word (held in int64) over all its bits."""
    x = x ^ (x >> 16)
    x = (x * 0x85EBCA6B) & WORD
    x = x ^ (x >> 13)
    x = (x * 0xC2B2AE35) & WORD
    return x ^ (x >> 16)


def threshold(dropout: float) -> int:
    """Words below this are dropped; a probability in units of 2^-32.

    >>> threshold(0.5) == 2**31
    True
    """
    return min(round(dropout * 2.0**32), WORD)


def keep_mask(seed: Tensor, batch_heads: int, rows: Tensor, columns: Tensor, dropout: float) -> Tensor:
    """Return which weights stay, (batch_heads, rows, columns) bool.

    x = mix(seed + head STEP_HEAD), x = mix(x + row STEP_ROW), x = mix(x + column STEP_COLUMN), modulo 2^32.

    >>> kept = keep_mask(torch.tensor(7), 2, torch.arange(64), torch.arange(64), 0.25)
    >>> kept.shape, bool(abs(kept.double().mean() - 0.75) < 0.02)
    (torch.Size([2, 64, 64]), True)
    """
    head = torch.arange(batch_heads, device=rows.device)
    word = mix((seed.to(rows.device) + head * STEP_HEAD) & WORD)[:, None]
    word = mix((word + rows * STEP_ROW) & WORD)[:, :, None]
    return mix((word + columns * STEP_COLUMN) & WORD) >= threshold(dropout)
