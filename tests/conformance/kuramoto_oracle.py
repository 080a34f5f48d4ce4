"""Kuramoto attention from its definition, in float64: all phase differences, gradients by autograd.

s_tu = tau/sqrt(k) sum_j g^q_tj g^k_uj cos(theta_tj - theta_uj + omega_j (t - u)),  A = softmax over u,
a_tj = sum_u A_tu sin(theta_uj - theta_tj)   [KA] Nunley, arXiv 2606.11585 (2026)
"""

import math
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor

NAMES = ("theta", "gate_q", "gate_k", "drift", "tau")


@dataclass(frozen=True)
class Case:
    """Inputs in float64, exact in the dtype they will be given in; valid (B, N) or None for all."""

    theta: Tensor
    gate_q: Tensor
    gate_k: Tensor
    drift: Tensor
    tau: Tensor
    causal: bool = True
    valid: Tensor | None = None

    def leaves(self, dtype: torch.dtype = torch.float32) -> dict[str, Tensor]:
        """Inputs that can be learned; drift and tau stay in float32 or better."""
        wide = {name: getattr(self, name).to(dtype) for name in NAMES[:3]}
        small = torch.promote_types(dtype, torch.float32)
        rest = {name: getattr(self, name).to(small) for name in NAMES[3:]}
        return {name: x.clone().requires_grad_() for name, x in (wide | rest).items()}


class Answer(NamedTuple):
    """Increments, gradients, and the size of what each gradient is a sum of, to which errors are relative."""

    increment: Tensor
    gradients: dict[str, Tensor]
    sizes: dict[str, Tensor]
    score_size: float


def random_case(
    batch: int,
    heads: int,
    n: int,
    k: int,
    *,
    causal: bool = True,
    padded: bool = False,
    seed: int = 0,
    spread: float = 1.0,
    dtype: torch.dtype = torch.float32,
) -> Case:
    """Random phases and gates, each head its own temperature, tau sqrt(k) = 2..4."""
    generator = torch.Generator().manual_seed(seed)

    def draw(*shape: int) -> Tensor:
        return torch.randn(shape, generator=generator)

    theta = spread * draw(batch, heads, n, k)
    gates = [torch.nn.functional.softplus(draw(batch, heads, n, k)) for _ in range(2)]
    theta, gate_q, gate_k = (x.to(dtype).double() for x in (theta, *gates))
    tau = (torch.linspace(2.0, 4.0, heads) / math.sqrt(k)).float().double()
    valid = torch.rand(batch, n, generator=generator) > 0.3 if padded else None
    return Case(theta, gate_q, gate_k, draw(heads, k).double(), tau, causal, valid)


def increments(case: Case, drift_of_token: Tensor, tau_of_row: Tensor, leaves: dict[str, Tensor]) -> Tensor:
    """The definition, with a drift (B, H, N, k) per token and a tau (B, H, N) per row."""
    theta, (_, _, n, k) = leaves["theta"], case.theta.shape
    position = torch.arange(n, dtype=torch.float64)[:, None]
    difference = theta[..., :, None, :] - theta[..., None, :, :]
    drifted = drift_of_token * position
    turned = difference + drifted[..., :, None, :] - drifted[..., None, :, :]
    gates = leaves["gate_q"][..., :, None, :] * leaves["gate_k"][..., None, :, :]
    score = tau_of_row[..., None] / math.sqrt(k) * (gates * torch.cos(turned)).sum(dim=-1)
    weights = torch.softmax(score.masked_fill(~allowed(case), -1e300), dim=-1) * allowed(case)
    return -(weights[..., None] * torch.sin(difference)).sum(dim=-2)


def allowed(case: Case) -> Tensor:
    """(B, 1, N, N): u is a source of t."""
    batch, _, n, _ = case.theta.shape
    pairs = torch.ones(batch, 1, n, n, dtype=torch.bool)
    if case.causal:
        pairs = pairs.tril()
    if case.valid is not None:
        pairs = pairs & case.valid[:, None, :, None] & case.valid[:, None, None, :]
    return pairs


def answer(case: Case, d_increment: Tensor) -> Answer:
    """Increments and gradients."""
    batch, heads, n, k = case.theta.shape
    leaves = {name: getattr(case, name).clone().requires_grad_() for name in NAMES[:3]}
    drift = case.drift[None, :, None, :].expand(batch, heads, n, k).clone().requires_grad_()
    tau = case.tau[None, :, None].expand(batch, heads, n).clone().requires_grad_()
    value = increments(case, drift, tau, leaves)
    *wide, by_drift, by_tau = torch.autograd.grad(value, [*leaves.values(), drift, tau], d_increment.double())
    gradients = dict(zip(NAMES, [*wide, by_drift.sum(dim=(0, 2)), by_tau.sum(dim=(0, 2))], strict=True))
    largest = d_increment.abs().max().double()
    sizes = {name: torch.maximum(x.abs().max(), largest) for name, x in gradients.items()}
    sizes["drift"] = torch.maximum(by_drift.abs().sum(dim=(0, 2)), largest * n)
    sizes["tau"] = torch.maximum(by_tau.abs().sum(dim=(0, 2)), largest)
    widest = (case.gate_q.amax(dim=-2) * case.gate_k.amax(dim=-2)).sum(dim=-1) * case.tau.abs() / math.sqrt(k)
    return Answer(value.detach(), gradients, sizes, float(widest.max()))
