"""How the CPU kernels compute S of a row: a polynomial where w is small, else the exponential form.

With z = 1 - u:  S = sqrt(z) Q_w(z),  Q_w(z) = sqrt( e^-w (expm1(w z)/z + 1) ),  Q_w(1) = 1; Q_w is smooth.
The choice of a row depends on its own w alone, so what a causal row gives does not depend on later ones.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import torch
from torch import Tensor

COEFFICIENTS = 10
EXPONENTIAL, EQUALITY = 0, -1

# Largest w of a degree: relative error of S at most 4e-7, 9e-7 and 6e-9 (test_ops_native_law).
DEGREES = ((4, 1.0), (6, 3.0), (9, 5.0))


class Law(NamedTuple):
    """Degree of every row (or EXPONENTIAL, EQUALITY), int32; coefficients (..., COEFFICIENTS), float32."""

    kind: Tensor
    polynomial: Tensor


def law(selectivity: Tensor, coupled: Tensor) -> Law:
    """Choose for every row.

    >>> law(torch.tensor([0.5, 7.0, 0.0]), torch.tensor([True, True, False])).kind.tolist()
    [4, 0, -1]
    """
    kind = torch.full_like(selectivity, EXPONENTIAL, dtype=torch.int32)
    polynomial = torch.zeros(*selectivity.shape, COEFFICIENTS, dtype=torch.float64)
    for degree, largest in reversed(DEGREES):
        inside = selectivity <= largest
        kind[inside] = degree
        polynomial[inside] = 0.0
        polynomial[inside, : degree + 1] = coefficients(selectivity[inside], degree)
    kind[~coupled] = EQUALITY
    return Law(kind, polynomial.float())


def coefficients(selectivity: Tensor, degree: int) -> Tensor:
    """Ascending coefficients of Q_w, (..., degree + 1), exact at z = 1: Q = 1 + (z - 1) R, R interpolated.

    >>> round(float(coefficients(torch.tensor([0.0], dtype=torch.float64), 4)[0, 0]), 12)
    1.0
    """
    nodes, matrix = _interpolation(degree)
    w = selectivity.double()[..., None]
    inner = (torch.sqrt(torch.exp(-w) * (torch.expm1(w * nodes) / nodes + 1.0)) - 1.0) / (nodes - 1.0)
    ascending = inner @ matrix
    result = torch.zeros(*selectivity.shape, degree + 1, dtype=torch.float64)
    result[..., 0] = 1.0
    result[..., :-1] -= ascending
    result[..., 1:] += ascending
    return result


@cache
def _interpolation(degree: int) -> tuple[Tensor, Tensor]:
    """Chebyshev nodes of [0, 1], and what turns values there into coefficients."""
    steps = (torch.arange(degree, dtype=torch.float64) + 0.5) * (torch.pi / degree)
    nodes = 0.5 + 0.5 * torch.cos(steps)
    return nodes, torch.linalg.inv(torch.linalg.vander(nodes)).mT
