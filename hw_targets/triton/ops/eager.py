"""The readable reference of selective synchronization attention: dense, pure torch, any float type.

Everything is a matrix of shape (B, H, N, N), so memory grows with N^2. ``precision="fast"`` rounds the
operands of both products to 16 bits, the yardstick of the low-precision kernels; "accurate" and "fp32" are
the same here: differences are formed directly, without a product that could cancel.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import torch
from torch import Tensor

from hw_targets.triton.ops.dropout import keep_mask
from hw_targets.triton.ops.problem import SSAForward, SSAGradients, SSAProblem


class Scores(NamedTuple):
    """What forward and backward share, (B, H, N, N): u, exp(-w u), masked S, and exp(-w) of a row."""

    mismatch: Tensor
    coupling: Tensor
    sync: Tensor
    edge_coupling: Tensor


def forward(problem: SSAProblem) -> SSAForward:
    """``y_i = sum_j keep_ij S_ij V_j / sum_j S_ij`` and the row sums."""
    problem = _without_padded(problem)
    sync = scores(problem).sync
    total = sync.sum(dim=-1)
    weights = sync if problem.dropout == 0 else sync * kept(problem)
    output = _factor(problem, weights) @ _factor(problem, problem.values) / _safe(total)[..., None]
    first = problem.first_row
    return SSAForward(output[:, :, first:].to(problem.values.dtype), total[:, :, first:])


def backward(problem: SSAProblem, output: Tensor, total: Tensor, d_output: Tensor) -> SSAGradients:
    """Chain rule through the same matrices, with ``edge`` in place of 1/S."""
    problem = _without_padded(problem)
    if problem.valid is not None:
        d_output = torch.where(problem.valid[:, None, :, None], d_output, 0.0)
    parts = scores(problem)
    mismatch, coupling, sync, edge_coupling = parts
    grad = (d_output / _safe(total)[..., None]).to(sync.dtype)
    by_weight = _factor(problem, grad) @ _factor(problem, problem.values).mT
    weights = sync
    if problem.dropout > 0:
        factor = kept(problem)
        by_weight, weights = by_weight * factor, sync * factor
    by_sync = by_weight - (grad * output.to(sync.dtype)).sum(dim=-1, keepdim=True)
    inverse = inverse_sync(sync, problem.edge, problem.eps)
    slope = torch.where(problem.coupled[..., None], by_sync * inverse, 0.0)
    w = problem.selectivity.to(sync.dtype)[..., None]
    pull = 0.5 * slope * (w * coupling + edge_coupling)
    both = pull * problem.inverse_square.to(sync.dtype)[..., None]
    both = both + both.mT
    by_omega = -2.0 * weighted_differences(both, problem.omega.to(sync.dtype))
    return SSAGradients(
        by_omega.to(problem.omega.dtype),
        (_factor(problem, weights).mT @ _factor(problem, grad)).to(problem.values.dtype),
        -(pull * mismatch).sum(dim=-1),
        0.5 * (slope * mismatch * (edge_coupling - coupling)).sum(dim=-1),
    )


def scores(problem: SSAProblem) -> Scores:
    """S of every pair by the normal form, masked."""
    kind, omega = compute_dtype(problem), _frequencies(problem)
    squared = squared_mismatch(omega).to(kind).clamp(max=torch.finfo(kind).max)
    same, inverse = identical(omega), problem.inverse_square.to(kind)[..., None]
    w = problem.selectivity.to(kind)[..., None]
    edge_coupling = torch.exp(-w)
    # Beyond u = 1 nothing is locked; the limit keeps infinity out of the products.
    mismatch = (squared * inverse).clamp(max=4.0)
    coupling = torch.exp(-w * mismatch)
    sync = (coupling - mismatch * edge_coupling).clamp(min=0.0).sqrt()
    sync = torch.where(problem.coupled[..., None], sync, same.to(kind))
    allowed = mask(problem)
    sync = torch.where(allowed, sync, 0.0)
    if problem.top_k is not None:
        sync = largest(sync, problem.top_k)
    return Scores(mismatch, coupling, sync, edge_coupling)


def mask(problem: SSAProblem) -> Tensor:
    """Allowed pairs, broadcastable to (B, H, N, N): neither end padded, and j <= i when causal."""
    n = problem.omega.shape[-2]
    allowed = torch.ones(n, n, dtype=torch.bool, device=problem.omega.device)
    allowed = allowed.tril() if problem.causal else allowed
    if problem.valid is None:
        return allowed
    return allowed & problem.valid[:, None, :, None] & problem.valid[:, None, None, :]


def squared_mismatch(omega: Tensor) -> Tensor:
    """``d_ij^2 = sum_l (omega_i^l - omega_j^l)^2`` channel by channel: no product that cancels."""
    total = omega.new_zeros(*omega.shape[:-1], omega.shape[-2])
    for channel in omega.unbind(-1):
        difference = channel.unsqueeze(-1) - channel.unsqueeze(-2)
        total.addcmul_(difference, difference)
    return total


def identical(omega: Tensor) -> Tensor:
    """Which pairs have the same frequency on every channel: a small square may be 0 without being none."""
    same = torch.ones(*omega.shape[:-1], omega.shape[-2], dtype=torch.bool, device=omega.device)
    for channel in omega.unbind(-1):
        same &= channel.unsqueeze(-1) == channel.unsqueeze(-2)
    return same


def weighted_differences(weights: Tensor, omega: Tensor) -> Tensor:
    """``sum_j w_ij (omega_i - omega_j)``, channel by channel: an outlier with weight 0 does no harm."""
    sums = [
        torch.where(weights != 0, weights * (x.unsqueeze(-1) - x.unsqueeze(-2)), 0.0).sum(dim=-1)
        for x in omega.unbind(-1)
    ]
    return torch.stack(sums, dim=-1)


def inverse_sync(sync: Tensor, edge: str, eps: float) -> Tensor:
    """What stands for 1/S in the backward pass; 0 where S = 0.

    >>> inverse_sync(torch.tensor([0.0, 0.01, 1.0]), "clamp", 0.1).tolist()
    [0.0, 10.0, 1.0]
    """
    if edge == "smooth" and eps > 0:
        return sync / (sync.square() + eps**2)
    floor = eps if edge == "clamp" else 0.0
    return torch.where(sync > 0, 1.0 / torch.where(sync > 0, sync, 1.0).clamp(min=floor), 0.0)


def largest(sync: Tensor, count: int) -> Tensor:
    """Keep the ``count`` largest of every row, as the public code does; ties as torch.topk breaks them."""
    if count >= sync.shape[-1]:
        return sync
    best = sync.topk(count, dim=-1)
    return torch.zeros_like(sync).scatter(-1, best.indices, best.values)


def kept(problem: SSAProblem) -> Tensor:
    """keep_ij / (1 - p), shape (B, H, N, N)."""
    batch, heads, n, _ = problem.omega.shape
    if problem.seed is None:
        raise ValueError("dropout without a seed; expected a () int64 tensor")
    every = torch.arange(n, device=problem.omega.device)
    keep = keep_mask(problem.seed, batch * heads, every, every, problem.dropout)
    return keep.view(batch, heads, n, n).to(compute_dtype(problem)) / (1.0 - problem.dropout)


def _without_padded(problem: SSAProblem) -> SSAProblem:
    """Zeros in place of padded tokens, which may hold anything: 0 times NaN is NaN."""
    if problem.valid is None:
        return problem
    there = problem.valid[:, None, :, None]
    omega, values = (torch.where(there, x, 0.0) for x in (problem.omega, problem.values))
    return replace(problem, omega=omega, values=values)


def compute_dtype(problem: SSAProblem) -> torch.dtype:
    """float64 when frequencies or values are, else float32."""
    return torch.float64 if torch.float64 in (problem.values.dtype, problem.omega.dtype) else torch.float32


def _frequencies(problem: SSAProblem) -> Tensor:
    """Frequencies; "fast" rounds them to float16 after taking their mean and a power of two out."""
    omega = problem.omega
    if problem.precision != "fast":
        return omega
    centred = omega - omega.mean(dim=-2, keepdim=True)
    _, exponent = torch.frexp(centred.abs().amax(dim=(-2, -1), keepdim=True))
    return torch.ldexp(torch.ldexp(centred, -exponent).half().to(omega.dtype), exponent)


def _factor(problem: SSAProblem, tensor: Tensor) -> Tensor:
    """A factor of a product with values, rounded to 16 bits where values are or ``precision`` says so."""
    kind = problem.values.dtype
    if kind not in (torch.float16, torch.bfloat16):
        kind = torch.bfloat16 if problem.precision == "fast" else compute_dtype(problem)
    return tensor.to(kind).to(compute_dtype(problem))


def _safe(total: Tensor) -> Tensor:
    """Row sums are at least 1 (S_ii = 1), except 0 for padded rows."""
    return torch.where(total > 0, total, 1.0)
