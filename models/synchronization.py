"""The synchronization matrix of a causal SSA layer, differentiable in torch.

Equations are those of selective synchronization attention, [SSA] Hays, arXiv 2602.14445 (2026).
Leading dimensions (batch, heads) broadcast; N is the number of tokens, D of frequency channels.
"""

from __future__ import annotations

from typing import Any, cast

import torch
from torch import Tensor

EDGE_SMOOTHING = 0.03
"""Default smoothing of the backward pass at the locking edge, in units of S."""


class _SquaredMismatch(torch.autograd.Function):
    """d_ij^2 by direct differences: |a|^2 + |b|^2 - 2 a.b cancels when frequencies cluster."""

    @staticmethod
    def forward(ctx: Any, omega: Tensor) -> Tensor:
        ctx.save_for_backward(omega)
        channels = omega.unbind(-1)
        total = (channels[0].unsqueeze(-1) - channels[0].unsqueeze(-2)).square_()
        for channel in channels[1:]:
            difference = channel.unsqueeze(-1) - channel.unsqueeze(-2)
            total.addcmul_(difference, difference)
        return total

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> Tensor:
        (omega,) = ctx.saved_tensors
        # The gradient ignores a common offset, so centring only removes rounding.
        centred = omega - omega.mean(dim=-2, keepdim=True)
        both = grads[0] + grads[0].transpose(-1, -2)
        return 2.0 * (both.sum(dim=-1, keepdim=True) * centred - both @ centred)


class _EdgeRoot(torch.autograd.Function):
    """sqrt(relu(q)): exact forwards, 1/S replaced by S / (S^2 + epsilon^2) backwards."""

    @staticmethod
    def forward(ctx: Any, squared: Tensor, epsilon: float) -> Tensor:
        root = squared.clamp(min=0.0).sqrt()
        ctx.save_for_backward(root)
        ctx.epsilon = epsilon
        return root

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, None]:
        (root,) = ctx.saved_tensors
        inverse = root / (root.square() + ctx.epsilon**2)
        if ctx.epsilon == 0.0:  # unlocked cells are 0 / 0 without smoothing; their slope is zero
            inverse = torch.where(root > 0, inverse, torch.zeros_like(root))
        return 0.5 * grads[0] * inverse, None


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


def prefix_order_parameter(theta: Tensor) -> Tensor:
    """Return the order parameter that each token of a causal layer may know.

    r_i = (1/D) sum_l | (1/(i+1)) sum_{j<=i} exp(i theta_j^l) |   [SSA], prefix form

    Parameters
    ----------
    theta : phases, shape (..., N, D), in rad.

    Returns
    -------
    shape (..., N), in [0, 1]. The gradient where a prefix sum vanishes is zero.

    >>> prefix_order_parameter(torch.zeros(1, 3, 2)).tolist()
    [[1.0, 1.0, 1.0]]
    """
    count = torch.arange(1, theta.shape[-2] + 1, dtype=theta.dtype, device=theta.device)
    phasors = torch.complex(torch.cos(theta), torch.sin(theta))
    # The absolute value of a complex number has gradient 0 at 0, where a square root has NaN.
    prefix = torch.cumsum(phasors, dim=-2).abs() / count.unsqueeze(-1)
    return prefix.mean(dim=-1).clamp(max=1.0)


def locking_floor(dtype: torch.dtype) -> float:
    """Return the K r below which a layer counts as uncoupled (K r = 0): 3e-10 in float32.

    >>> locking_floor(torch.float32) < 4e-10
    True
    """
    return torch.finfo(dtype).tiny ** 0.25  # 1 / (K r)^3 stays far from overflow


def synchronization(
    mismatch: Tensor, alpha: Tensor, locking: Tensor, smoothing: float = EDGE_SMOOTHING
) -> Tensor:
    """Return the synchronization of every pair, unmasked.

    S_ij = sqrt(relu( exp(-2 alpha d_ij^2) - d_ij^2 / (K r_i)^2 ))   [SSA]

    The true slope 1/S diverges at the locking edge. The backward pass uses S / (S^2 + smoothing^2)
    in its place, bounded by 1 / (2 smoothing); the forward pass is exact. Where K r = 0 only
    identical oscillators lock (S = 1) and the gradient to K r is zero.

    Parameters
    ----------
    mismatch : d^2, shape (..., N, N), in (rad per time unit)^2.
    alpha : coupling bandwidth >= 0, broadcastable, in (time unit)^2 / rad^2.
    locking : K r_i >= 0, broadcastable, in rad per time unit.
    smoothing : edge smoothing in units of S; 0 gives the exact slope (for gradient checks).

    Returns
    -------
    shape (..., N, N), in [0, 1].

    >>> pair = squared_mismatch(torch.tensor([[0.0], [0.6]], dtype=torch.float64))
    >>> one = torch.ones((), dtype=torch.float64)
    >>> round(synchronization(pair, 0 * one, one)[0, 1].item(), 6)
    0.8
    """
    coupled = locking > locking_floor(mismatch.dtype)
    inverse = torch.where(coupled, locking, torch.ones_like(locking)).reciprocal()
    # Divided twice: the slope of d^2 / (K r)^2 would overflow to 0 * inf for a small K r.
    detuning = mismatch * inverse * inverse
    # Any value above 1 unlocks; identical oscillators stay locked without coupling.
    uncoupled = 2.0 * (mismatch > 0).to(mismatch.dtype)
    squared = torch.exp(-2.0 * alpha * mismatch) - torch.where(coupled, detuning, uncoupled)
    return cast(Tensor, _EdgeRoot.apply(squared, smoothing))
