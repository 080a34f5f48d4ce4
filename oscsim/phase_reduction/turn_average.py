"""Means over whole turns of a phase that never rests."""

import numpy as np
from numpy.typing import NDArray

from oscsim.errors import OscsimError
from oscsim.phase_reduction.trigonometric import Coefficients, derivative, lowest, rounding, values_at

Array = NDArray[np.float64]
_FIRST, _LAST = 64, 2**21
_AGREEMENT = 1e-13


def turn_average(speed: Coefficients) -> tuple[NDArray[np.complex128], Array]:
    """Time mean of ``e^{i x}`` (B,) and mean speed (B,) for ``x' = speed(x) > 0``.

    ``<e^{ix}> = int e^{ix}/speed dx / int 1/speed dx``. Just outside the locking range nearly all time is
    spent at the slowest place x_0, so the integrals run over u, ``tan((x - x_0)/2) = s tan(u/2)``, with s
    such that the integrand of a sine is constant; the trapezoidal rule is doubled until nothing changes.

    Raises
    ------
    OscsimError
        no agreement with 2^21 points: two places slower than 1e-10 of the fastest.

    >>> mean, speed = turn_average(np.array([[1.25, 0.5j]]))  # x' = 5/4 - sin x
    >>> speed.round(12).tolist(), mean.round(12).tolist()
    ([0.75], [0.5j])
    """
    slowest, value = lowest(speed)
    bend = np.maximum(values_at(derivative(derivative(speed)), slowest), 0.0)
    squeeze = np.sqrt(value / (value + 2.0 * bend))
    agreement = _AGREEMENT + 4.0 * rounding(speed) / value
    mean, rate = np.zeros(len(speed), complex), np.zeros(len(speed))
    open_, count = np.arange(len(speed)), _FIRST
    before = _integrals(speed, slowest, squeeze, count // 2)
    while len(open_):
        if count > _LAST:
            raise OscsimError(
                f"mean over a turn: given {len(open_)} cells that nearly rest at several places, expected "
                "at most one such place; move the detuning away from the locking edge"
            )
        now = _integrals(speed[open_], slowest[open_], squeeze[open_], count)
        mean[open_], rate[open_] = now[0] / now[1], 2.0 * np.pi / now[1]
        change = np.abs(now[0] / now[1] - before[0] / before[1]) + np.abs(now[1] / before[1] - 1.0)
        moving = change > agreement[open_]
        open_, before, count = open_[moving], (now[0][moving], now[1][moving]), 2 * count
    return mean, rate


def _integrals(
    speed: Coefficients, slowest: Array, squeeze: Array, count: int
) -> tuple[NDArray[np.complex128], Array]:
    """``int e^{ix}/speed dx`` and ``int 1/speed dx`` over one turn."""
    half = np.pi * (np.arange(count) + 0.5) / count
    sine, cosine = squeeze[:, None] * np.sin(half), np.cos(half)
    x = slowest[:, None] + 2.0 * np.arctan2(sine, cosine)
    weight = (2.0 * np.pi / count) * squeeze[:, None] / (cosine**2 + sine**2) / values_at(speed, x)
    return (weight * np.exp(1j * x)).sum(axis=1), weight.sum(axis=1)
