"""Prefix order parameter in pure torch: cumulative sums of unit phasors, in float64."""

from __future__ import annotations

import torch
from torch import Tensor

from hw_targets.triton.ops.order import VANISHING


def forward(theta: Tensor, valid: Tensor | None) -> Tensor:
    """r_i, (B, H, N) in the dtype of theta (B, H, N, D)."""
    cosine, sine = _phasors(theta, valid)
    size = torch.hypot(cosine.cumsum(dim=2), sine.cumsum(dim=2))
    return (size.mean(dim=-1) / _count(theta, valid)).to(theta.dtype)


def backward(theta: Tensor, valid: Tensor | None, d_order: Tensor) -> Tensor:
    """Gradient by theta: every later prefix pulls the token along the direction of its sum."""
    cosine, sine = _phasors(theta, valid)
    real, imaginary = cosine.cumsum(dim=2), sine.cumsum(dim=2)
    size, count = torch.hypot(real, imaginary), _count(theta, valid)
    weight = (d_order.double() / (theta.shape[-1] * count))[..., None]
    pull = torch.where(size > VANISHING * count[..., None], weight / size, 0.0)
    along, across = _from_the_end(pull * real), _from_the_end(pull * imaginary)
    return (cosine * across - sine * along).to(theta.dtype)


def _phasors(theta: Tensor, valid: Tensor | None) -> tuple[Tensor, Tensor]:
    theta = theta.double()
    cosine, sine = theta.cos(), theta.sin()
    if valid is None:
        return cosine, sine
    taken = valid[:, None, :, None]
    return torch.where(taken, cosine, 0.0), torch.where(taken, sine, 0.0)


def _count(theta: Tensor, valid: Tensor | None) -> Tensor:
    """n_i of every row, at least 1 (before the first token all sums are 0); broadcastable to (B, H, N)."""
    if valid is None:
        return torch.arange(1, theta.shape[2] + 1, dtype=torch.float64, device=theta.device)
    return valid.cumsum(dim=-1)[:, None].double().clamp(min=1.0)


def _from_the_end(x: Tensor) -> Tensor:
    return x.flip(2).cumsum(dim=2).flip(2)
