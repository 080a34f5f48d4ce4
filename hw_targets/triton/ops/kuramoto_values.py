"""The value path of Kuramoto attention: what a source sends, and what a target reads of the mean.

A source acts on a target through a coupling function, a_t = sum_u A_tu f(theta_u - theta_t), here f = sin.
Its addition theorem splits f into something of the source alone, averaged by any attention kernel, and a
read-out of the target alone; another coupling function (harmonics, lags) is another set of these functions.
Cosine and sine travel together as a pair, each (..., N, k).
"""

from __future__ import annotations

import torch
from torch import Tensor

Pair = tuple[Tensor, Tensor]


def along(unit: Pair, vector: Pair) -> Tensor:
    """Component of a vector along a unit vector, cos x + sin y."""
    return torch.addcmul(unit[0] * vector[0], unit[1], vector[1])


def across(unit: Pair, vector: Pair) -> Tensor:
    """Component a quarter turn ahead of a unit vector, cos y - sin x."""
    return torch.addcmul(unit[0] * vector[1], unit[1], vector[0], value=-1.0)


def turned(unit: Pair, vector: Pair) -> Pair:
    """A vector with these components along and across a unit vector."""
    cosine, sine = unit
    ahead = torch.addcmul(cosine * vector[0], sine, vector[1], value=-1.0)
    return ahead, torch.addcmul(sine * vector[0], cosine, vector[1])


def sent(unit: Pair) -> Pair:
    """What a source with ``(cos theta, sin theta)`` sends: its unit vector, e^{i theta}."""
    return unit


def sent_backward(unit: Pair, d_sent: Pair) -> Tensor:
    """Gradient by theta of what a source sends."""
    return across(unit, d_sent)


def read(unit: Pair, mean: Pair) -> Pair:
    """Tangent and radial part of the mean G at a target: Im and Re of e^{-i theta} G.

    The tangent part is sum_u A_tu sin(theta_u - theta_t); the radial part is minus its derivative by theta_t.
    """
    return across(unit, mean), along(unit, mean)


def read_backward(unit: Pair, d_tangent: Tensor) -> Pair:
    """Gradient by the mean of a loss that sees the tangent part; by theta_t it is ``-radial d_tangent``."""
    cosine, sine = unit
    return -sine * d_tangent, cosine * d_tangent
