"""Attention in normal form in float64, given u itself: how far rounding of u may move outputs and gradients.

It imports nothing from the code under test.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

# First tokens of blocks of this many are the centres whose products are rounded.
TILE = 192
# A product form is used up to |a|^2 = 8 in units of the lock radius, and a pair that can lock then has
# |a| + |b| <= 2 sqrt(8) + 1.
LARGEST_NORM = (2 * 8**0.5 + 1) ** 2
# Roundings of 2^-24 in norms, product and their sums, relative to (|a| + |b|)^2.
ROUNDINGS = 4


@dataclass(frozen=True)
class Answer:
    """Output, row sums, gradients by frequencies, values, log c and w (these two summed if per head)."""

    output: Tensor
    total: Tensor
    omega: Tensor
    values: Tensor
    log_inverse_square: Tensor
    selectivity: Tensor

    def items(self) -> Any:
        return vars(self).items()


def squared(omega: Tensor) -> Tensor:
    """|omega_i - omega_j|^2 by differences, channel by channel."""
    return sum((x[..., :, None] - x[..., None, :]).square() for x in omega.unbind(-1))  # type: ignore[return-value]


def answer(
    problem: Any, d_output: Tensor, allowed: Tensor, keep: Tensor, noise: Tensor | float = 0.0
) -> Answer:
    """Everything in closed form; ``keep`` are the factors of dropout, ``noise`` is added to u."""
    return _answers(problem, d_output, allowed, keep, noise)[0]


def _answers(
    problem: Any, d_output: Tensor, allowed: Tensor, keep: Tensor, noise: Tensor | float = 0.0
) -> tuple[Answer, Answer]:
    """The answer, and the same sums over the magnitudes of their terms."""
    omega, values, g = problem.omega.double(), problem.values.double(), d_output.double()
    c, w = problem.inverse_square[..., None], problem.selectivity[..., None]
    coupled = problem.coupled[..., None]
    d2 = squared(omega)
    off = ~torch.eye(omega.shape[-2], dtype=torch.bool)
    u = (c * d2 + noise * off).clamp(max=4.0)
    e, edge = torch.exp(-w * u), torch.exp(-w)
    y = torch.where(u < 1, e - u * edge, 0.0).clamp(min=0)
    sync = torch.where(coupled, y.sqrt(), (d2 == 0).double()) * allowed
    total = sync.sum(-1, keepdim=True)
    safe = torch.where(total > 0, total, 1.0)
    weights = keep * sync / safe
    output = weights @ values
    if problem.edge == "smooth":
        inverse = sync / (y + problem.eps**2)
    else:
        floor = problem.eps if problem.edge == "clamp" else 1e-12
        inverse = torch.where(sync > 0, 1 / sync.clamp(min=floor), 0.0)
    inverse = torch.where(coupled, inverse, 0.0)

    def sums(g: Tensor, values: Tensor, output: Tensor, sign: int) -> Answer:
        q = (keep * (g @ values.mT) + sign * (g * output).sum(-1, keepdim=True)) / safe * inverse
        m = 0.5 * c * q * (w * e + edge)
        m = m + m.mT
        differences = (x[..., None, :] - x[..., :, None] for x in omega.unbind(-1))
        by_omega = [2 * (m * (d if sign < 0 else d.abs())).sum(-1) for d in differences]
        radius = sign * (0.5 * q * (w * e + edge) * u).sum(-1)
        selectivity = 0.5 * (q * u * (edge + sign * e)).sum(-1)
        if problem.selectivity.shape[-1] == 1:
            radius, selectivity = radius.sum(-1), selectivity.sum(-1)
        return Answer(output, total[..., 0], torch.stack(by_omega, -1), weights.mT @ g, radius, selectivity)

    return sums(g, values, output, -1), sums(g.abs(), values.abs(), weights @ values.abs(), 1)


def rounding(problem: Any) -> Tensor:
    """By how much u_ij may be off in float32, with products centred at the first token of a tile."""
    omega, n = problem.omega.double(), problem.omega.shape[-2]
    length = problem.inverse_square[..., None].sqrt()
    centre = omega[..., (torch.arange(n) // TILE) * TILE, :]
    rows = torch.stack([(omega - centre[..., j, None, :]).norm(dim=-1) for j in range(n)], -1)
    size = (length * (rows + (omega - centre).norm(dim=-1)[..., None, :])).square()
    return ROUNDINGS * 2.0**-24 * size.clamp(min=1.0, max=LARGEST_NORM)


def tolerances(
    problem: Any, d_output: Tensor, allowed: Tensor, keep: Tensor, weights: float = 0.0
) -> tuple[Answer, dict[str, float]]:
    """The exact answer, and how far each part may be off (largest absolute error).

    Three random perturbations of every u by its rounding show what that does; twice the mean of their effects
    is allowed, and eight roundings of 2^-24 of the sum of magnitudes for everything else, and the rounding of
    ``weights`` where they are cut shorter.
    """
    exact, size = _answers(problem, d_output, allowed, keep)
    allowance = {name: (8 * 2.0**-24 + weights) * float(x.abs().max()) for name, x in size.items()}
    amount, draw = rounding(problem), torch.Generator().manual_seed(0)
    for _ in range(3):
        sign = torch.rand(amount.shape, generator=draw, dtype=torch.float64) * 2 - 1
        moved = answer(problem, d_output, allowed, keep, sign * amount)
        for name, x in moved.items():
            allowance[name] += 2 * float((x - getattr(exact, name)).abs().max()) / 3
    return exact, allowance
