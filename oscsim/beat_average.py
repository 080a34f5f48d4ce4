"""Time averages of drifting oscillators: whole beats of the slowest pair, seen through a smooth window.

A smooth window averages quasi-periodic motion faster than any power of its length [WBA: Das, Saiki,
Sander & Yorke, Nonlinearity 30 (2017) 4111], but needs many beats. Convolving it with a box as long as
the slowest beat removes that beat and all its harmonics exactly, whatever the number of beats.
"""

from functools import cache

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Phasor = NDArray[np.complex128]

_TURN = 2.0 * np.pi
# Whole beats a window must hold for itself and for its later half, which is compared with it.
FEWEST_TURNS = 2.5
# Phases of locked oscillators wobble by less than half a turn.
WOBBLE_TURNS = 0.5


@cache
def cumulative_bump() -> tuple[Array, Array]:
    """Integral of ``exp(-1/(t(1-t)))`` over (0, t), normalised to end at 1, on a fine grid."""
    grid = np.linspace(0.0, 1.0, 2**16 + 1)
    bump = np.zeros_like(grid)
    bump[1:-1] = np.exp(-1.0 / (grid[1:-1] * (1.0 - grid[1:-1])))
    total = np.concatenate([[0.0], np.cumsum(0.5 * (bump[1:] + bump[:-1]))])
    return grid, total / total[-1]


def window(count: int, beat: float) -> Array:
    """Weights (count,) of evenly spaced samples, summing to 1: a smooth bump convolved with one beat.

    Parameters
    ----------
    beat : box length in samples, less than ``count - 1``; 0 for the bump alone.

    >>> t = np.arange(200)
    >>> abs(float(window(200, beat=130.0) @ np.cos(2 * np.pi * t / 130.0))) < 1e-9
    True
    """
    grid, total = cumulative_bump()
    t, length = np.arange(count, dtype=np.float64), count - 1.0 - beat
    if beat > 0:
        weights = np.interp(t / length, grid, total) - np.interp((t - beat) / length, grid, total)
    else:
        inside = np.clip(t / length, 1e-3, 1.0 - 1e-3)  # exp(-1000) at the ends
        weights = np.exp(-1.0 / (inside * (1.0 - inside)))
    return weights / weights.sum()


def slowest_beat(theta: Array) -> float | None:
    """Length in samples of the slowest beat of one channel, 0 when nothing drifts, None when unclear.

    Parameters
    ----------
    theta : (samples, N) phases of the oscillators that take part, unwrapped, rad.

    Unclear is a pair that has moved on by more than a wobble, yet not by FEWEST_TURNS turns.
    """
    moved = theta[-1] - theta[0]
    turns = np.abs(moved[:, None] - moved[None, :]) / _TURN
    drifting = turns > WOBBLE_TURNS
    if not drifting.any():
        return 0.0
    first, second = np.unravel_index(np.argmin(np.where(drifting, turns, np.inf)), turns.shape)
    if turns[first, second] < FEWEST_TURNS:
        return None
    psi = theta[:, first] - theta[:, second]
    psi = (psi - psi[0]) * np.sign(psi[-1] - psi[0])
    whole = int(psi[-1] // _TURN)
    return _crossing(psi, whole * _TURN) / whole


def _crossing(psi: Array, level: float) -> float:
    """Sample index (with fraction) at which psi last rises through ``level``."""
    below = int(np.flatnonzero(psi[:-1] < level)[-1])
    first = min(max(below - 3, 0), len(psi) - 8)
    nodes = np.arange(8.0)
    # eight equidistant samples around the crossing: interpolation error far below a millisample
    polynomial = np.polynomial.Polynomial.fit(nodes, psi[first : first + 8], 7)
    low, high = float(below - first), float(below - first + 1)
    for _ in range(52):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if polynomial(middle) < level else (low, middle)
    return first + high


def pair_mean(theta: Array, weights: Array) -> Phasor:
    """(N, N) weighted mean of ``exp(i(theta_i - theta_j))`` over samples (samples, N)."""
    phasor: Phasor = np.exp(1j * theta)
    return (phasor * weights[:, None]).T @ phasor.conj()


def pair_averages(theta: Array) -> tuple[Phasor, float]:
    """Mean of ``exp(i(theta_i - theta_j))`` and its largest change when only the later half is used.

    Parameters
    ----------
    theta : (samples, N), one channel.

    Returns
    -------
    (N, N) mean and its own error estimate, infinite when a beat has not been seen often enough.
    """
    beat = slowest_beat(theta)
    if beat is None:
        return pair_mean(theta, window(len(theta), 0.0)), float("inf")
    later = theta[len(theta) // 2 :]
    mean = pair_mean(theta, window(len(theta), beat))
    change = np.abs(mean - pair_mean(later, window(len(later), beat)))
    return mean, float(change.max(initial=0.0))


def rest_mean(theta: Array) -> Phasor:
    """(N, N) ``exp(i(theta_i - theta_j))`` of the last sample: the mean of a channel at rest."""
    return pair_mean(theta[-1:], np.ones(1))
