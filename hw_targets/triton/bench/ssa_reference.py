"""Selective synchronization attention in float64 from its definition, with the errors rounding may cause.

S_ij^2 = relu( J_ij^2 - d_ij^2/L_i^2 ), L_i = K r_i, J = exp(-alpha d^2)   (docs/spec.md section 2)
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from hw_targets.triton.bench.reference import Expected, Noise, Rounding, over_rows
from hw_targets.triton.ops.problem import EDGE_SMOOTHING


class Pairs(NamedTuple):
    """Of pairs (B, H, rows, N): d^2, J^2, 1/L of a row, S, how far S may be off; 0 outside the mask."""

    squared: Tensor
    coupling: Tensor
    inverse_strength: Tensor
    sync: Tensor
    slack: Tensor


def pairs(
    learned: dict[str, Tensor], causal: bool, rounding: Rounding, rows: Tensor, noise: Noise | None
) -> Pairs:
    """S of some rows, and the interval that an error of its square of ``2 rounding.sync J^2`` leaves it."""
    omega, alpha, gain, order = (
        learned[name].detach().double().cpu() for name in ("omega", "alpha", "gain", "order_parameter")
    )
    if noise is not None:
        omega = noise.operand(omega)
    order = order[:, :, rows] if order.dim() == 3 else order[..., None]
    inverse_strength = (1.0 / (gain[:, None] * order))[..., None]
    squared = torch.cdist(omega[:, :, rows], omega, compute_mode="donot_use_mm_for_euclid_dist").square()
    coupling = torch.exp(-2.0 * alpha[:, None, None] * squared)
    margin = coupling - squared * inverse_strength.square()
    room = 2.0 * rounding.sync * coupling
    if noise is not None:
        margin = margin + noise.margin(coupling)
    sync, high, low = (x.clamp(min=0.0).sqrt() for x in (margin, margin + room, margin - room))
    slack = torch.maximum(high - sync, sync - low)
    allowed = torch.ones(len(rows), omega.shape[2], dtype=torch.bool)
    if causal:
        allowed = torch.arange(omega.shape[2]) <= rows[:, None]
    squared, coupling, sync, slack = (torch.where(allowed, x, 0.0) for x in (squared, coupling, sync, slack))
    return Pairs(squared, coupling, inverse_strength, sync, slack)


class Mean(NamedTuple):
    """Row sums and output with what they may be off."""

    total: Expected
    output: Expected


def mean(given: Pairs, values: Tensor, rounding: Rounding, noise: Noise | None) -> Mean:
    """``y_i = sum_j S_ij V_j / sum_j S_ij``."""
    total = given.sync.sum(dim=-1, keepdim=True)
    loose = given.slack.sum(dim=-1, keepdim=True)
    output = _blur(given.sync, noise) @ _blur(values, noise) / total
    off = given.slack @ values.abs() + loose * output.abs()
    off = off / (total - loose).clamp(min=0.5)
    off = off + rounding.product * (given.sync @ values.abs() / total + output.abs())
    return Mean(
        Expected(total, loose + rounding.product * total),
        Expected(output, off + rounding.output * output.abs()),
    )


def forward(
    learned: dict[str, Tensor],
    causal: bool,
    rounding: Rounding,
    rows: Tensor | None = None,
    noise: Noise | None = None,
) -> Expected:
    """The output, or only some of its rows."""
    rows = torch.arange(learned["omega"].shape[2]) if rows is None else rows
    values = learned["values"].detach().double().cpu()
    return mean(pairs(learned, causal, rounding, rows, noise), values, rounding, noise).output


def gradients(
    learned: dict[str, Tensor],
    d_output: Tensor,
    causal: bool,
    rounding: Rounding,
    noise: Noise | None = None,
) -> dict[str, Expected]:
    """Gradients of ``sum(d_output * y)`` with S/(S^2 + eps^2) for 1/S, the default of the op."""
    given = pairs(learned, causal, rounding, torch.arange(learned["omega"].shape[2]), noise)
    values, g = learned["values"].detach().double().cpu(), d_output.double().cpu()
    total, output = mean(given, values, rounding, noise)
    weight = _blur(given.sync, noise) / total.value
    loose = total.allowed / total.value
    off = given.slack / total.value + weight * (loose + rounding.product)
    by_values = Expected(weight.mT @ g, off.mT @ g.abs())
    by_sync, off = _by_sync(_blur(values, noise), g, total, output, rounding)
    eps = EDGE_SMOOTHING
    slope = given.sync / (given.sync.square() + eps**2)
    # |d/dS S/(S^2 + eps^2)| <= 1/(S^2 + eps^2)
    bend = given.slack / ((given.sync - given.slack).clamp(min=0.0).square() + eps**2)
    pull = 0.5 * _blur(by_sync * slope, noise)
    off = 0.5 * (off * (slope + bend) + by_sync.abs() * bend) + rounding.product * pull.abs()
    return _by_strengths(learned, given, Expected(pull, off), rounding) | {
        "values": _rounded(by_values, rounding),
        "omega": _by_omega(learned, given, Expected(pull, off), rounding),
    }


def _by_sync(
    values: Tensor, g: Tensor, total: Expected, output: Expected, rounding: Rounding
) -> tuple[Tensor, Tensor]:
    """``(g_i . V_j - g_i . y_i)/sum_j S_ij``."""
    by_sync = (g @ values.mT - (g * output.value).sum(dim=-1, keepdim=True)) / total.value
    size = g.abs() @ values.abs().mT + (g * output.value).abs().sum(dim=-1, keepdim=True)
    off = rounding.product * size + (g.abs() * output.allowed).sum(dim=-1, keepdim=True)
    return by_sync, off / total.value + by_sync.abs() * total.allowed / total.value


def _by_omega(learned: dict[str, Tensor], given: Pairs, pull: Expected, rounding: Rounding) -> Expected:
    """``2 sum_j (p_ij t_ij + p_ji t_ji)(omega_i - omega_j)``, p by S^2, t = -(2 alpha J^2 + 1/L^2)."""
    alpha = learned["alpha"].detach().double().cpu()[:, None, None]
    steepness = 2.0 * alpha * given.coupling + given.inverse_strength.square()
    both = -(pull.value * steepness)
    off = pull.allowed * steepness
    both, size, off = both + both.mT, both.abs() + both.abs().mT, off + off.mT
    omega = learned["omega"].detach().double().cpu()
    omega = omega - omega.mean(dim=-2, keepdim=True)

    def differences(weight: Tensor, of: Tensor) -> Tensor:
        return weight.sum(dim=-1, keepdim=True) * of - weight @ of

    # sum_j m_ij |omega_i - omega_j| <= sqrt( sum_j m_ij ) sqrt( sum_j m_ij (omega_i - omega_j)^2 )
    rows = off.sum(dim=-1, keepdim=True)
    squares = rows * omega.square() - 2.0 * omega * (off @ omega) + off @ omega.square()
    moved = (rows * squares.clamp(min=0.0)).sqrt()
    # A product form rounds relative to the distances from its centre, not to their difference.
    size = size + off
    reach = size.sum(dim=-1, keepdim=True) * omega.abs() + size @ omega.abs()
    return Expected(2.0 * differences(both, omega), 2.0 * (moved + rounding.product * reach))


def _by_strengths(
    learned: dict[str, Tensor], given: Pairs, pull: Expected, rounding: Rounding
) -> dict[str, Expected]:
    """Gradients by alpha, K and r: S^2 changes by -2 d^2 J^2 and, through L, by 2 d^2/L^3."""
    gain, order = (learned[name].detach().double().cpu() for name in ("gain", "order_parameter"))
    per_row = order.dim() == 3
    at = order if per_row else order[..., None]

    def by_row(part: Tensor, squared: Tensor) -> dict[str, Tensor]:
        strength = (2.0 * part * squared * given.inverse_strength.pow(3)).sum(dim=-1)
        return {
            "alpha": (2.0 * part * squared * given.coupling).sum(dim=-1),
            "gain": strength * at,
            "order_parameter": strength * gain[:, None],
        }

    value = by_row(pull.value, given.squared)
    allowed = by_row(pull.allowed, given.squared + rounding.sync * given.inverse_strength.pow(-2))
    value["alpha"] = -value["alpha"]
    rows = {"alpha": (0, 2), "gain": (0, 2)} | ({} if per_row else {"order_parameter": 2})
    for name, dims in rows.items():
        value[name], allowed[name] = value[name].sum(dim=dims), over_rows(allowed[name], dims)
    return {name: Expected(value[name], allowed[name]) for name in value}


def _rounded(expected: Expected, rounding: Rounding) -> Expected:
    return Expected(expected.value, expected.allowed + rounding.output * expected.value.abs())


def _blur(x: Tensor, noise: Noise | None) -> Tensor:
    return x if noise is None else noise.blur(x)
