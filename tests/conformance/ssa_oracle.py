"""Selective synchronization attention straight from its definition, in float64: oracle of the fused ops.

Direct differences, a dense matrix, gradients by automatic differentiation of the formula itself. It imports
nothing from the code under test.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor


@dataclass(frozen=True)
class Case:
    """One attention call; alpha and gain (H,), order (B, H) or (B, H, N), valid (B, N) bool."""

    omega: Tensor
    values: Tensor
    alpha: Tensor
    gain: Tensor
    order: Tensor
    causal: bool = False
    valid: Tensor | None = None

    def arguments(self, dtype: torch.dtype | None = None) -> dict[str, Any]:
        """Arguments of ``ssa_attention``; floats in ``dtype``, which stay leaves that want a gradient."""
        learned = {
            name: tensor.detach().to(dtype or tensor.dtype).clone().requires_grad_(True)
            for name, tensor in self.learned().items()
        }
        learned["order_parameter"] = learned.pop("order")
        extra: dict[str, Any] = {"causal": self.causal}
        return learned | extra | ({} if self.valid is None else {"padding": ~self.valid})

    def learned(self) -> dict[str, Tensor]:
        """Inputs that get a gradient."""
        return {name: getattr(self, name) for name in ("omega", "values", "alpha", "gain", "order")}

    def rounded(self, dtype: torch.dtype) -> Case:
        """The same case with inputs rounded to ``dtype``, held in float64: what a kernel is really given."""
        return replace(self, **{name: x.to(dtype).double() for name, x in self.learned().items()})


def synchronization(case: Case) -> Tensor:
    """``S_ij = sqrt(relu( exp(-2 alpha d^2) - d^2/(K r_i)^2 ))``; K r = 0: identical oscillators only."""
    squared = (case.omega[:, :, :, None] - case.omega[:, :, None]).square().sum(dim=-1)
    order = case.order if case.order.dim() == 3 else case.order[..., None]
    strength = (case.gain[:, None] * order)[..., None]
    coupled = strength > 0
    detuning = squared / torch.where(coupled, strength, 1.0).square()
    argument = torch.exp(-2 * case.alpha[:, None, None] * squared) - detuning
    locked = coupled & (argument > 0)
    root = torch.where(locked, argument, 1.0).sqrt()
    sync = torch.where(coupled, torch.where(locked, root, 0.0), (squared == 0).to(squared.dtype))
    n = case.omega.shape[2]
    allowed = torch.ones(n, n, dtype=torch.bool)
    allowed = allowed.tril() if case.causal else allowed
    if case.valid is not None:
        allowed = allowed & case.valid[:, None, :, None] & case.valid[:, None, None, :]
    return torch.where(allowed, sync, 0.0)


def attention(case: Case) -> Tensor:
    """``y_i = sum_j S_ij V_j / sum_j S_ij``; 0 for padded rows."""
    sync = synchronization(case)
    total = sync.sum(dim=-1, keepdim=True)
    return sync @ case.values / torch.where(total > 0, total, 1.0)


def gradients(case: Case, d_output: Tensor) -> dict[str, Tensor]:
    """Gradients of ``sum(d_output * y)`` by every learned input, exact slope at the edge."""
    learned = {name: x.detach().double().requires_grad_(True) for name, x in case.learned().items()}
    (attention(replace(case, **learned)) * d_output).sum().backward()
    return {name: x.grad if x.grad is not None else torch.zeros_like(x) for name, x in learned.items()}


def edge_distance(case: Case) -> Tensor:
    """Smallest positive S of any pair: how close the case comes to the locking edge."""
    sync = synchronization(case)
    return sync[sync > 0].min()


def random_case(
    n: int,
    channels: int = 4,
    width: int = 5,
    *,
    batch: int = 2,
    heads: int = 2,
    causal: bool = False,
    rows: bool = False,
    spread: float | None = None,
    seed: int = 0,
) -> Case:
    """Random frequencies of which roughly a third lock; ``rows``: an order parameter per row."""
    draw = torch.Generator().manual_seed(seed)

    def normal(*shape: int) -> Tensor:
        return torch.randn(*shape, generator=draw, dtype=torch.float64)

    def between(low: float, high: float, *shape: int) -> Tensor:
        return low + (high - low) * torch.rand(*shape, generator=draw, dtype=torch.float64)

    spread = 0.55 / (2 * channels) ** 0.5 if spread is None else spread
    return Case(
        omega=spread * normal(batch, heads, n, channels),
        values=normal(batch, heads, n, width),
        alpha=between(0.3, 1.2, heads),
        gain=between(0.8, 1.4, heads),
        order=between(0.5, 1.0, batch, heads, n) if rows else between(0.5, 1.0, batch, heads),
        causal=causal,
    )
