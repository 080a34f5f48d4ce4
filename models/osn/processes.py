"""A differentiable sum over the processes of a torch.distributed group; alone, nothing to do."""

from __future__ import annotations

from typing import Any, cast

import torch
import torch.distributed
from torch import Tensor


def process_count() -> int:
    """Return the size of the process group, 1 without one."""
    return torch.distributed.get_world_size() if _grouped() else 1


def process_rank() -> int:
    """Return the place in the process group, 0 without one."""
    return torch.distributed.get_rank() if _grouped() else 0


def sum_over_processes(share: Tensor) -> Tensor:
    """Return the sum of ``share`` over all processes, the same in each; every process must call it.

    >>> sum_over_processes(torch.ones(2)).tolist()
    [1.0, 1.0]
    """
    return cast(Tensor, _Sum.apply(share)) if process_count() > 1 else share


def _grouped() -> bool:
    return torch.distributed.is_available() and torch.distributed.is_initialized()


class _Sum(torch.autograd.Function):
    """Every process uses the sum, so the gradient of a share is the sum of all their gradients."""

    @staticmethod
    def forward(ctx: Any, share: Tensor) -> Tensor:
        total = share.clone()
        torch.distributed.all_reduce(total)
        return total

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> Tensor:
        total = grads[0].clone()
        torch.distributed.all_reduce(total)
        return total
