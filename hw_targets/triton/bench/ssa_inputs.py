"""Inputs of selective synchronization attention: frequencies spread to suit the lock radius."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor

from hw_targets.triton.bench.options import BenchOptions, Case
from hw_targets.triton.ops.normal_form import normal_form

LOCKED_SHARE = 0.3
"""Wanted share of locked pairs off the diagonal; what it came to is measured and printed."""
WINDOW = 128
"""Half-width of the sparse case: tokens further apart are unlocked by the ramp alone."""
CONTENT_SHARE = 0.25
"""Sparse case: mean squared mismatch of all other channels, in units of the squared lock radius."""
# softplus(1): where the public code starts both its bandwidth and its gain.
STRENGTH = math.log1p(math.e)
# Phases uniform within +-a have the order parameter sin(a)/a: 0.45 in the first head, 0.90 in the last.
WIDEST_PHASE, NARROWEST_PHASE = 2.0, 0.8
_PAIRS = 1 << 17
_CELLS = 1 << 21


def draw(
    case: Case, shape: tuple[int, ...], generator: torch.Generator
) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """Arguments of ``ssa_attention`` that can be learned, and facts about them; shape (B, H, N, D)."""
    batch, heads, _, channels = shape
    strength = torch.full((heads,), STRENGTH)
    limit = torch.linspace(WIDEST_PHASE, NARROWEST_PHASE, heads)
    order = (limit.sin() / limit).expand(batch, heads)
    radius = normal_form(strength, strength, order[..., None]).inverse_square.rsqrt()[..., None]
    omega = torch.randn(shape, generator=generator, dtype=torch.float64)
    if case.sparse:
        omega = _ramp(omega, radius)
    else:
        omega = omega * radius / unit_quantile(channels, LOCKED_SHARE, generator)
    if case.per_row:
        order = _prefix_order((2 * torch.rand(shape, generator=generator) - 1) * limit[:, None, None])
    learned = {
        "omega": omega.float(),
        "values": torch.randn(shape, generator=generator),
        "alpha": strength,
        "gain": strength.clone(),
        "order_parameter": order.contiguous(),
    }
    return learned, locking(case, learned, generator)


def unit_quantile(channels: int, share: float, generator: torch.Generator) -> float:
    """Distance below which that share of pairs of standard normal frequencies lies, from a sample.

    >>> 0.8 < unit_quantile(64, 0.5, torch.Generator().manual_seed(0)) / 128**0.5 < 1.2
    True
    """
    distance = math.sqrt(2) * torch.randn(_PAIRS, channels, generator=generator).norm(dim=-1)
    return float(distance.kthvalue(max(1, round(share * _PAIRS))).values)


def _ramp(omega: Tensor, radius: Tensor) -> Tensor:
    """Position on channel 0, which alone unlocks tokens WINDOW apart, and content on the others."""
    n, channels = omega.shape[-2:]
    content = omega * radius * math.sqrt(CONTENT_SHARE / (2 * max(1, channels - 1)))
    position = radius / WINDOW * torch.arange(n, dtype=torch.float64)[:, None]
    return torch.cat([position.expand(*omega.shape[:-1], 1), content[..., 1:]], dim=-1)


def _prefix_order(theta: Tensor) -> Tensor:
    """r_i = (1/D) sum_l |(1/(i+1)) sum_{j<=i} exp(i theta_j^l)|, (B, H, N)."""
    count = torch.arange(1, theta.shape[-2] + 1, dtype=torch.float64)[:, None]
    mean = torch.polar(torch.ones_like(theta.double()), theta.double()).cumsum(dim=-2) / count
    return mean.abs().mean(dim=-1).float()


def locking(case: Case, learned: dict[str, Tensor], generator: torch.Generator) -> dict[str, Any]:
    """Share of allowed off-diagonal pairs that lock, and locked partners per row, from sampled rows."""
    omega = learned["omega"].double()
    n = omega.shape[-2]
    order = learned["order_parameter"]
    order = order if case.per_row else order[..., None]
    inverse = normal_form(learned["alpha"], learned["gain"], order).inverse_square.expand(*omega.shape[:3])
    rows = torch.randperm(n, generator=generator)[: max(16, min(n, _CELLS // (omega.shape[1] * n)))]
    distance = torch.cdist(omega[:, :, rows], omega, compute_mode="donot_use_mm_for_euclid_dist")
    columns = torch.arange(n)
    allowed = columns < rows[:, None] if case.causal else columns != rows[:, None]
    locked = (distance.square() * inverse[:, :, rows, None] <= 1.0) & allowed
    pairs = int(allowed.sum()) * locked.shape[0] * locked.shape[1]
    return {
        "locked_share": float(locked.sum()) / max(1, pairs),
        "locked_per_row": float(locked.sum()) / locked.shape[:3].numel(),
    }


def tiles(case: Case, learned: dict[str, Tensor], options: BenchOptions) -> Any:
    """Block map of these inputs for the implementation that is measured."""
    from hw_targets.triton.ops.tile_map import block_map

    return block_map(
        learned["omega"],
        alpha=learned["alpha"],
        gain=learned["gain"],
        order_parameter=learned["order_parameter"],
        causal=case.causal,
        impl=options.implementation,  # pyright: ignore[reportArgumentType]  # checked by options.checked()
        precision=options.precision,  # pyright: ignore[reportArgumentType]
        value_width=learned["values"].shape[-1],
    )
