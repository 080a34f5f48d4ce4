"""Kuramoto attention in float64 from its definition, with the errors rounding may cause.

s_tu = (tau/sqrt(k)) sum_j g^q_tj g^k_uj cos(theta_tj - theta_uj + omega_j (t - u)),  A = softmax over u <= t,
a_tj = sum_u A_tu sin(theta_uj - theta_tj)   [KA] Nunley, arXiv 2606.11585 (2026)
"""

from __future__ import annotations

import math
from typing import NamedTuple

import torch
from torch import Tensor

from hw_targets.triton.bench.reference import Expected, Noise, Rounding, over_rows


class Attention(NamedTuple):
    """Scores, weights (B, H, rows, N), and the relative error of a row's weights through its scores."""

    score: Tensor
    weight: Tensor
    growth: Tensor


def _double(learned: dict[str, Tensor]) -> dict[str, Tensor]:
    return {name: x.detach().double().cpu() for name, x in learned.items()}


def _turned(given: dict[str, Tensor]) -> tuple[Tensor, Tensor]:
    """cos and sin of theta_t + omega t, (B, H, N, k)."""
    position = torch.arange(given["theta"].shape[2], dtype=torch.float64)
    phase = given["theta"] + given["drift"][:, None] * position[:, None]
    return phase.cos(), phase.sin()


def attention(
    given: dict[str, Tensor], causal: bool, rounding: Rounding, rows: Tensor, noise: Noise | None = None
) -> Attention:
    """Weights of some rows; every score may be off by ``rounding.product`` of its sum of magnitudes."""
    cosine, sine = (x if noise is None else noise.blur(x) for x in _turned(given))
    scale = given["tau"][:, None, None] / math.sqrt(cosine.shape[-1])
    gate_q, gate_k = given["gate_q"][:, :, rows] * scale, given["gate_k"]
    score = (gate_q * cosine[:, :, rows]) @ (gate_k * cosine).mT
    score = score + (gate_q * sine[:, :, rows]) @ (gate_k * sine).mT
    size = gate_q.abs() @ gate_k.abs().mT
    if causal:
        hidden = torch.arange(cosine.shape[2]) > rows[:, None]
        score, size = score.masked_fill(hidden, -torch.inf), size.masked_fill(hidden, 0.0)
    growth = 2.0 * rounding.product * (1.0 + size.amax(dim=-1, keepdim=True))
    return Attention(score, score.softmax(dim=-1), growth)


def forward(
    learned: dict[str, Tensor],
    causal: bool,
    rounding: Rounding,
    rows: Tensor | None = None,
    noise: Noise | None = None,
) -> Expected:
    """The increment a, or only some of its rows."""
    given = _double(learned)
    rows = torch.arange(given["theta"].shape[2]) if rows is None else rows
    value, growth = _increment(given, causal, rounding, rows, noise)
    return Expected(value, (growth + rounding.product + rounding.output).expand_as(value))


def _increment(
    given: dict[str, Tensor], causal: bool, rounding: Rounding, rows: Tensor, noise: Noise | None
) -> tuple[Tensor, Tensor]:
    """``-sin theta_t Re G_t + cos theta_t Im G_t`` and the growth of a row."""
    _, weight, growth = attention(given, causal, rounding, rows, noise)
    cosine, sine = given["theta"].cos(), given["theta"].sin()
    at = cosine[:, :, rows], sine[:, :, rows]
    if noise is not None:
        weight, cosine, sine = (noise.blur(x) for x in (weight, cosine, sine))
    return at[0] * (weight @ sine) - at[1] * (weight @ cosine), growth


def gradients(
    learned: dict[str, Tensor],
    d_output: Tensor,
    causal: bool,
    rounding: Rounding,
    noise: Noise | None = None,
) -> dict[str, Expected]:
    """Gradients of ``sum(d_output * a)`` by autograd; allowances by magnitudes along the chain."""
    leaves = {name: x.requires_grad_(True) for name, x in _double(learned).items()}
    g = d_output.double().cpu()
    rows = torch.arange(d_output.shape[2])
    loss = (g * _increment(leaves, causal, rounding, rows, noise)[0]).sum()
    if noise is not None:
        # The mean that every row of the softmax's gradient is centred on has two roundings of its own.
        centre = attention(leaves, causal, rounding, rows).score.logsumexp(dim=-1)
        loss = loss + (centre * 0.5 * rounding.product * noise.uniform(centre) * g.norm(dim=-1)).sum()
    values = dict(zip(leaves, torch.autograd.grad(loss, list(leaves.values())), strict=True))
    allowed = _allowed({name: x.detach() for name, x in leaves.items()}, g, causal, rounding)
    return {
        name: Expected(value, allowed[name] + rounding.output * value.abs()) for name, value in values.items()
    }


def _allowed(given: dict[str, Tensor], g: Tensor, causal: bool, rounding: Rounding) -> dict[str, Tensor]:
    rows = torch.arange(g.shape[2])
    score, weight, growth = attention(given, causal, rounding, rows)
    cosine, sine = given["theta"].cos(), given["theta"].sin()
    # sum_j g_tj sin(theta_uj - theta_tj), and what is left after subtracting the row's mean
    by_weight = (g * cosine) @ sine.mT - (g * sine) @ cosine.mT
    centred = by_weight - (weight * by_weight).sum(dim=-1, keepdim=True)
    spread = (weight * centred.abs()).sum(dim=-1, keepdim=True)
    size = g.abs().sum(dim=-1, keepdim=True)
    off = weight * (growth * (centred.abs() + spread) + 2.0 * rounding.product * size)
    off = off + rounding.product * weight * centred.abs()
    scale = given["tau"][:, None, None] / math.sqrt(g.shape[-1])
    gate_q, gate_k = given["gate_q"].abs(), given["gate_k"].abs()
    by_q, by_k = scale * (off @ gate_k), scale * (off.mT @ gate_q)
    phase = gate_q * by_q + gate_k * by_k
    both = growth + rounding.product
    source = (both * weight).mT @ g.abs()
    position = rows.double()[:, None]
    finite = torch.where(score.isfinite(), score.abs(), 0.0) / given["tau"][:, None, None]
    return {
        "theta": phase + source + both * g.abs(),
        "gate_q": by_q,
        "gate_k": by_k,
        "drift": over_rows(phase * position, (0, 2)),
        "tau": over_rows((off * finite + weight * centred.abs() * growth).sum(dim=-1), (0, 2)),
    }
