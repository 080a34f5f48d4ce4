"""Prefix order parameter in Triton: chunk sums, their running total, then every chunk on its own.

Chunks add at most BLOCK phasors in float32; what came before a chunk is summed in float64 and rounded once,
so the error of r stays near 1e-7 at any length. Sums run in a fixed order; a later token reaches no earlier
sum.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import torch
from torch import Tensor

from hw_targets.triton.ops.fused_launch import Launch
from hw_targets.triton.ops.fused_run import empty, run

BLOCK = 64
LARGEST_LANES = 16
JOINED_LANES, JOINED_BLOCK = 32, 32
WARPS = 4

# Rounding of float32 phasors: a sum below this share of its tokens has no direction.
VANISHING = 2.0**-21


class Prepared(NamedTuple):
    """Arguments that the kernels share, by name, and the grid: chunks by batch and heads."""

    arguments: dict[str, Any]
    grid: tuple[int, int]
    sums_shape: tuple[int, int, int, int]


def order_launches(channels: int) -> dict[str, Launch]:
    """Every kernel by what it does; ahead-of-time compilation reads them too.

    >>> order_launches(24)["prefix"].constants
    {'CHANNELS': 24, 'LANES': 16, 'BLOCK': 64}
    """
    lanes = min(LARGEST_LANES, 1 << (channels - 1).bit_length())
    sizes = {"CHANNELS": channels, "LANES": lanes, "BLOCK": BLOCK}
    joined = {"WIDTH": 2 * channels, "LANES": JOINED_LANES, "BLOCK": JOINED_BLOCK}
    return {
        "sums": Launch("order_sums", sizes, BLOCK, WARPS, 1),
        "before": Launch("order_carry", {**joined, "REVERSE": False}, BLOCK, WARPS, 1),
        "after": Launch("order_carry", {**joined, "REVERSE": True}, BLOCK, WARPS, 1),
        "prefix": Launch("order_prefix", sizes, BLOCK, WARPS, 1),
        "pull_sums": Launch("order_pull", {**sizes, "SUMS": True}, BLOCK, WARPS, 1),
        "pull": Launch("order_pull", {**sizes, "SUMS": False}, BLOCK, WARPS, 1),
    }


def forward(theta: Tensor, valid: Tensor | None) -> Tensor:
    """r_i, (B, H, N) in the dtype of theta."""
    prepared = _prepare(theta, valid)
    order = empty(theta.shape[:-1], torch.float32, theta.device)
    _run("prefix", prepared, carry=_before(prepared), order=order)
    return order.to(theta.dtype)


def backward(theta: Tensor, valid: Tensor | None, d_order: Tensor) -> Tensor:
    """Gradient by theta."""
    prepared = _prepare(theta, valid)
    shared = {"carry": _before(prepared), "d_order": d_order.float(), "vanishing": VANISHING}
    sums = empty(prepared.sums_shape, torch.float32, theta.device)
    _run("pull_sums", prepared, **shared, after=sums, written=sums)
    after = _join("after", sums)
    grad = empty(theta.shape, torch.float32, theta.device)
    _run("pull", prepared, **shared, after=after, written=grad)
    return grad.to(theta.dtype)


def _prepare(theta: Tensor, valid: Tensor | None) -> Prepared:
    batch, heads, n, channels = theta.shape
    if valid is None:
        valid = torch.ones(batch, n, dtype=torch.bool, device=theta.device)
    if theta.dtype == torch.float64:  # whole turns taken out before rounding
        theta = theta - 2.0 * math.pi * torch.round(theta / (2.0 * math.pi))
    arguments = {
        "theta": theta.float(),
        "valid": valid.to(torch.int8).contiguous(),
        "count": valid.cumsum(dim=-1).clamp(min=1).float(),
        "heads": heads,
        "n": n,
    }
    chunks = -(-n // BLOCK)
    return Prepared(arguments, (chunks, batch * heads), (batch * heads, chunks, 2, channels))


def _run(name: str, prepared: Prepared, **arguments: Any) -> None:
    launch = order_launches(prepared.sums_shape[-1])[name]
    run(launch, prepared.grid, {**prepared.arguments, **arguments})


def _before(prepared: Prepared) -> Tensor:
    """Sum of the phasors before each chunk."""
    sums = empty(prepared.sums_shape, torch.float32, prepared.arguments["theta"].device)
    _run("sums", prepared, sums=sums)
    return _join("before", sums)


def _join(name: str, sums: Tensor) -> Tensor:
    """Running total of the chunks before or after each one."""
    heads, chunks, _, channels = sums.shape
    carry = torch.empty_like(sums)
    grid = (-(-2 * channels // JOINED_LANES), heads)
    run(order_launches(channels)[name], grid, {"sums": sums, "carry": carry, "chunks": chunks})
    return carry
