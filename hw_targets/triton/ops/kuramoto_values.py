"""The value path of Kuramoto attention: what a source sends, and what a target reads of the mean.

A source acts on a target through a coupling function, a_t = sum_u A_tu f(theta_u - theta_t), here f = sin.
Its addition theorem splits f into something of the source alone, averaged by any attention kernel, and a
read-out of the target alone; another coupling function (harmonics, lags) is another set of these functions.
Cosine and sine travel together as a pair, each (..., N, k).
"""

from __future__ import annotations

from torch import Tensor

Pair = tuple[Tensor, Tensor]


def sent(unit: Pair) -> Pair:
    """What a source with ``(cos theta, sin theta)`` sends: its unit vector, e^{i theta}."""
    return unit


def sent_backward(unit: Pair, d_sent: Pair) -> Tensor:
    """Gradient by theta of what a source sends."""
    cosine, sine = unit
    return cosine * d_sent[1] - sine * d_sent[0]


def read(unit: Pair, mean: Pair) -> Pair:
    """Tangent and radial part of the mean G at a target: Im and Re of e^{-i theta} G.

    The tangent part is sum_u A_tu sin(theta_u - theta_t); the radial part is minus its derivative by theta_t.
    """
    cosine, sine = unit
    return cosine * mean[1] - sine * mean[0], cosine * mean[0] + sine * mean[1]


def read_backward(unit: Pair, d_tangent: Tensor) -> Pair:
    """Gradient by the mean of a loss that sees the tangent part; by theta_t it is ``-radial d_tangent``."""
    cosine, sine = unit
    return -sine * d_tangent, cosine * d_tangent
