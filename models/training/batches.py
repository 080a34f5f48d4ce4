"""Which bytes a step trains on: a function of the seed and the step alone, so no state has to be kept."""

from __future__ import annotations

import hashlib
from typing import Protocol

import torch
from torch import Tensor

from oscsim.errors import SpecError


class Data(Protocol):
    """Bytes to train and to be measured on; the three parts are uint8 tensors of shape (N,).

    name : how the data are called.
    digest : SHA-256 of all bytes, in hexadecimal.
    """

    @property
    def name(self) -> str: ...
    @property
    def digest(self) -> str: ...
    @property
    def train(self) -> Tensor: ...
    @property
    def validation(self) -> Tensor: ...
    @property
    def test(self) -> Tensor: ...


def step_seed(seed: int, step: int, stream: int = 0) -> int:
    """Return a seed of 63 bits; neighbouring arguments give unrelated ones.

    Stream 0 draws the batches, stream r + 1 everything else that process r draws in the step.

    >>> step_seed(0, 1) == step_seed(0, 1), step_seed(0, 1) == step_seed(0, 2)
    (True, False)
    """
    digest = hashlib.sha256(f"{seed} {step} {stream}".encode()).digest()
    return int.from_bytes(digest[:8], "little") >> 1


def batch(
    tokens: Tensor, context: int, size: int, seed: int, step: int, rank: int = 0, world: int = 1
) -> Tensor:
    """Return random passages of one step, shape (size / world, context + 1), int64.

    Process ``rank`` of ``world`` gets rows rank, rank + world, ... of the same batch.

    >>> whole = batch(torch.arange(50), 4, 6, seed=1, step=1)
    >>> torch.equal(batch(torch.arange(50), 4, 6, seed=1, step=1, rank=1, world=2), whole[1::2])
    True
    """
    require(tokens, context)
    generator = torch.Generator().manual_seed(step_seed(seed, step))
    starts = torch.randint(tokens.numel() - context, (size,), generator=generator)[rank::world]
    return tokens[starts[:, None] + torch.arange(context + 1)].long()


def windows(tokens: Tensor, context: int, limit: int | None = None) -> Tensor:
    """Return windows of shape (W, context + 1); each begins with the last byte of the one before.

    So every byte after the first is predicted once, up to a remainder shorter than a context.

    Parameters
    ----------
    tokens : shape (N,), N > context.
    context : bytes predicted per window.
    limit : at most so many windows, evenly spaced; None for all.

    >>> windows(torch.arange(8), 3).tolist()
    [[0, 1, 2, 3], [3, 4, 5, 6]]
    """
    require(tokens, context)
    found = tokens.unfold(0, context + 1, context)
    count = found.shape[0]
    if limit is None or limit >= count:
        return found
    return found[torch.arange(limit) * count // limit]


def spaced_passages(tokens: Tensor, context: int, count: int = 16) -> Tensor:
    """Return evenly spaced passages, shape (count, context), int64, the first and last at the ends.

    >>> spaced_passages(torch.arange(10), 4, 3).tolist()
    [[0, 1, 2, 3], [3, 4, 5, 6], [6, 7, 8, 9]]
    """
    require(tokens, context)
    starts = torch.arange(count) * (tokens.numel() - context) // max(1, count - 1)
    return tokens[starts[:, None] + torch.arange(context)].long()


def require(tokens: Tensor, context: int, part: str = "data") -> None:
    """Refuse a part that is shorter than one context and the byte after it."""
    if tokens.dim() != 1 or tokens.numel() <= context:
        raise SpecError(
            f"{part}: given tokens of shape {tuple(tokens.shape)}, expected one passage of more than "
            f"{context} bytes; pass more data or use a shorter context"
        )
