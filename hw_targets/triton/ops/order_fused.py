"""Prefix order parameter in Triton: chunk sums, their running total, then every chunk on its own.

Chunks add at most BLOCK phasors in float32; what came before a chunk is summed in float64 and rounded once,
so the error of r stays near 1e-7 at any length. Sums run in a fixed order; a later token reaches no earlier
sum.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from hw_targets.triton.run import load_kernels

BLOCK = 64
LARGEST_LANES = 32
WARPS = 4

# Rounding of float32 phasors: a sum below this share of its tokens has no direction.
VANISHING = 2.0**-21


class Launch(NamedTuple):
    """What the kernels share."""

    arguments: dict[str, Any]
    constants: dict[str, int]
    grid: tuple[int, int]
    count: Tensor
    shape: tuple[int, int, int, int]


def forward(theta: Tensor, valid: Tensor | None) -> Tensor:
    """r_i, (B, H, N) in the dtype of theta."""
    launch = _prepare(theta, valid)
    order = torch.empty(theta.shape[:-1], dtype=torch.float32, device=theta.device)
    _run(launch, "order_prefix", count=launch.count, carry=_before(launch), order=order)
    return order.to(theta.dtype)


def backward(theta: Tensor, valid: Tensor | None, d_order: Tensor) -> Tensor:
    """Gradient by theta."""
    launch = _prepare(theta, valid)
    shared: dict[str, Any] = {"count": launch.count, "carry": _before(launch), "d_order": d_order.float()}
    shared["vanishing"] = VANISHING
    sums = _sums(launch)
    _run(launch, "order_pull", **shared, after=sums, written=sums, SUMS=True)
    after = _exclusive(sums.flip(1)).flip(1).contiguous()
    grad = torch.empty(theta.shape, dtype=torch.float32, device=theta.device)
    _run(launch, "order_pull", **shared, after=after, written=grad, SUMS=False)
    return grad.to(theta.dtype)


def _prepare(theta: Tensor, valid: Tensor | None) -> Launch:
    batch, heads, n, channels = theta.shape
    if valid is None:
        valid = torch.ones(batch, n, dtype=torch.bool, device=theta.device)
    count = valid.cumsum(dim=-1).clamp(min=1).float()
    if theta.dtype == torch.float64:  # whole turns taken out before rounding
        theta = theta - 2.0 * math.pi * torch.round(theta / (2.0 * math.pi))
    arguments = {"theta": theta.float(), "valid": valid.to(torch.int8).contiguous(), "heads": heads, "n": n}
    grid = (-(-n // BLOCK), batch * heads)
    return Launch(arguments, constants(channels), grid, count, (batch, heads, n, channels))


def constants(channels: int) -> dict[str, int]:
    """Compile-time sizes.

    >>> constants(24)
    {'CHANNELS': 24, 'LANES': 32, 'BLOCK': 64}
    """
    lanes = min(LARGEST_LANES, 1 << (channels - 1).bit_length())
    return {"CHANNELS": channels, "LANES": lanes, "BLOCK": BLOCK}


def _run(launch: Launch, name: str, **arguments: Any) -> None:
    theta = launch.arguments["theta"]
    kernel = getattr(load_kernels(interpret=theta.device.type == "cpu"), name)
    with np.errstate(under="ignore", divide="raise", invalid="raise"):
        kernel[launch.grid](**launch.arguments, **arguments, **launch.constants, num_warps=WARPS)


def _sums(launch: Launch) -> Tensor:
    chunks, heads = launch.grid
    theta = launch.arguments["theta"]
    return torch.empty(heads, chunks, 2, launch.shape[-1], dtype=torch.float32, device=theta.device)


def _before(launch: Launch) -> Tensor:
    """Sum of the phasors before each chunk."""
    sums = _sums(launch)
    _run(launch, "order_sums", sums=sums)
    return _exclusive(sums)


def _exclusive(sums: Tensor) -> Tensor:
    total = sums.double().cumsum(dim=1)
    return torch.cat([torch.zeros_like(total[:, :1]), total[:, :-1]], dim=1).float()
