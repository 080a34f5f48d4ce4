"""Boxes around the frequencies of a tile, and how far its rows reach: what block_map compares."""

from __future__ import annotations

import math
from typing import NamedTuple

import torch
from torch import Tensor

# No implementation uses a product form for a row with c |a|^2 above this, a from its centre; a test checks.
NORM_LIMIT = 8.0


class Boxes(NamedTuple):
    """Smallest box around the valid frequencies of a tile, (D, B H, tiles) float64; (inf, -inf) if none."""

    low: Tensor
    high: Tensor


def radius_growth(channels: int, precision: str) -> float:
    """By how much, relative to d*, a pair may be off and still come out locked through rounding.

    All in units of d*. Direct differences have a relative error of (D + 4) 2^-24 in u and need less than what
    follows. A product form takes rows with |a| <= t = sqrt(NORM_LIMIT) (a, b: frequencies less a centre), so
    a pair at distance d has |a| + |b| <= 2 t + d. Rounding the operands by eta moves it by eta (2 t + d);
    rounding norms and products, each a sum of at most 3 D + 8 terms (three products in split precision) with
    2^-23 per term (tensor cores truncate), changes u by gamma (2 t + d)^2. So a pair at d >= 1 + rho keeps u
    > 1 when rho >= eta (2 t + 1) + gamma (2 t + 1)^2 / 2 to first order; the double is taken. eta: 2^-22 for
    three products of halves, 2^-9 for one product of bfloat16. c and the exponential form of S^2 round by a
    few 2^-24: 16 of them.

    >>> round(radius_growth(64, "accurate"), 4), round(radius_growth(64, "fast"), 3)
    (0.0011, 0.027)
    """
    reach = 2.0 * math.sqrt(NORM_LIMIT) + 1.0
    eta = 2.0**-9 if precision == "fast" else 2.0**-22
    gamma = (3 * channels + 8) * 2.0**-23
    return 2.0 * (eta * reach + gamma * reach**2 / 2 + 16 * 2.0**-24)


def boxes(omega: Tensor, valid: Tensor | None, rows: int, columns: int) -> tuple[Boxes, Boxes]:
    """Boxes of row tiles and of column tiles."""
    step = math.gcd(rows, columns)
    low, high = omega, omega
    if valid is not None:
        taken = valid[:, None, :, None]
        low, high = torch.where(taken, omega, torch.inf), torch.where(taken, omega, -torch.inf)
    low, high = _fold(low, step, "amin"), _fold(high, step, "amax")
    row_boxes, column_boxes = (
        Boxes(*(_channel_first(_fold(x, tile // step, name)) for x, name in ((low, "amin"), (high, "amax"))))
        for tile in (rows, columns)
    )
    return row_boxes, column_boxes


def tile_radius(inverse_square: Tensor, valid: Tensor | None, n: int, rows: int) -> Tensor:
    """Largest lock radius among the valid rows of a tile, (B H, row tiles); 0 where K r = 0."""
    coupled = inverse_square > 0
    radius = torch.where(coupled, torch.where(coupled, inverse_square, 1.0).rsqrt(), 0.0)
    if radius.shape[-1] == 1:
        return radius.expand(-1, -1, -(-n // rows)).flatten(0, 1)
    if valid is not None:
        radius = torch.where(valid[:, None], radius, 0.0)
    return _fold(radius[..., None], rows, "amax").flatten(0, 1).squeeze(-1)


def _fold(x: Tensor, step: int, reduction: str) -> Tensor:
    """Reduce groups of ``step`` along the last but one dimension; the last group may be shorter."""
    whole = x.shape[-2] // step
    parts = [getattr(x[..., : whole * step, :].unflatten(-2, (whole, step)), reduction)(dim=-2)]
    if whole * step < x.shape[-2]:
        parts.append(getattr(x[..., whole * step :, :], reduction)(dim=-2, keepdim=True))
    return torch.cat(parts, dim=-2)


def _channel_first(x: Tensor) -> Tensor:
    return x.flatten(0, 1).permute(2, 0, 1).double().contiguous()
