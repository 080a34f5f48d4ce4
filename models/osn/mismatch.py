"""The frequency mismatch of every pair, differentiable in torch, for initialisation and monitoring.

Leading dimensions (batch, heads) broadcast; N is the number of tokens, D of frequency channels.
"""

from __future__ import annotations

from typing import Any, cast

import torch
from torch import Tensor

from hw_targets.triton.ops import eager


class _SquaredMismatch(torch.autograd.Function):
    """d_ij^2 by direct differences: |a|^2 + |b|^2 - 2 a.b cancels when frequencies cluster."""

    @staticmethod
    def forward(ctx: Any, omega: Tensor) -> Tensor:
        ctx.save_for_backward(omega)
        return eager.squared_mismatch(omega)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> Tensor:
        (omega,) = ctx.saved_tensors
        # The gradient ignores a common offset, so centring only removes rounding.
        centred = omega - omega.mean(dim=-2, keepdim=True)
        both = grads[0] + grads[0].transpose(-1, -2)
        return 2.0 * (both.sum(dim=-1, keepdim=True) * centred - both @ centred)


def squared_mismatch(omega: Tensor) -> Tensor:
    """Return the squared frequency mismatch of every pair of tokens.

    d_ij^2 = sum_l (omega_i^l - omega_j^l)^2   [SSA]

    Parameters
    ----------
    omega : natural frequencies, shape (..., N, D), in rad per time unit.

    Returns
    -------
    shape (..., N, N), in (rad per time unit)^2; the diagonal is exactly zero.

    >>> squared_mismatch(torch.tensor([[0.0], [2.0]])).tolist()
    [[0.0, 4.0], [4.0, 0.0]]
    """
    return cast(Tensor, _SquaredMismatch.apply(omega))


def visible_pairs(causal: bool, like: Tensor) -> Tensor:
    """Return which pairs of different tokens a layer sees, j < i or j != i, (N, N) bool.

    Parameters
    ----------
    like : any (..., N, N), for the size and the device.

    >>> visible_pairs(True, torch.zeros(2, 2)).tolist()
    [[False, False], [True, False]]
    """
    every = torch.ones(like.shape[-2:], dtype=torch.bool, device=like.device)
    return every.tril(-1) if causal else every.fill_diagonal_(False)
