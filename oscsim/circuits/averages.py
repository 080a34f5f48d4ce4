"""What a phase difference does, from its own samples: at rest, beating, or neither; vectorised over pairs."""

import numpy as np
from numpy.typing import NDArray

from oscsim.beat_average import FEWEST_TURNS, WOBBLE_TURNS, cumulative_bump

Array = NDArray[np.float64]
Phasors = NDArray[np.complex128]
Mask = NDArray[np.bool_]
_TURN = 2.0 * np.pi
# Successive changes have to shrink at least this fast before their sum is extrapolated.
_SHRINKING = 0.9
# Changes below this share of the accuracy are rounding and the wobble that a cycle average leaves.
_ROUNDING = 1e-3


def rest_distance(psi: Array, accuracy: float) -> Array:
    """How far samples (K, ...) still are from where they come to rest, rad; infinite when they do not.

    From the means over three successive stretches, ``|d2| r/(1 - r)`` with ``r = |d2/d1|``: the rest of a
    geometric series (Aitken, Proc. R. Soc. Edinburgh 46 (1926) 289). Means, so that a wobble about the
    resting phase is not taken for motion.

    >>> time = np.arange(40.0)
    >>> bool(rest_distance(np.exp(-time)[:, None], 1e-4)[0] < 1e-4)
    True
    >>> float(rest_distance(0.01 * time[:, None], 1e-4)[0])
    inf
    """
    stretch = len(psi) // 8
    if stretch < 1:
        return np.full(psi.shape[1:], np.inf)
    ends = len(psi) - stretch * np.arange(4)
    first, second, third = (psi[ends[k + 1] : ends[k]].mean(axis=0) for k in (2, 1, 0))
    late, early = np.abs(third - second), np.abs(second - first)
    ratio = np.divide(late, early, out=np.ones_like(late), where=early > 0.0)
    left = np.where(ratio <= _SHRINKING, late * ratio / (1.0 - np.minimum(ratio, _SHRINKING)), np.inf)
    left = np.where(late <= accuracy, left, np.inf)
    return np.where(late <= _ROUNDING * accuracy, late, left)


def turns(psi: Array) -> Array:
    """Turns (signed) that samples (K, ...) have made from first to last."""
    return (psi[-1] - psi[0]) / _TURN


def beat_length(psi: Array) -> Array:
    """(C,) length of a whole beat in samples; 0 where nothing turns, NaN where too few turns are seen.

    >>> psi = 2 * np.pi * np.arange(60.0)[:, None] / 17.0
    >>> round(float(beat_length(psi)[0]), 6)
    17.0
    """
    made = np.abs(turns(psi))
    rising = (psi - psi[0]) * np.sign(psi[-1] - psi[0])
    whole = np.floor(made + 1e-9)
    clear = (made >= FEWEST_TURNS) & (len(psi) >= 8)
    level = np.where(clear, whole, 0.5) * _TURN
    below = len(psi) - 1 - np.argmax((rising < level)[::-1], axis=0)
    first = np.clip(below - 1, 0, max(len(psi) - 4, 0))
    at = first + np.arange(4)[:, None]
    nodes = np.take_along_axis(rising, np.minimum(at, len(psi) - 1), axis=0)
    low, high = (below - first).astype(float), (below - first + 1.0)
    for _ in range(48):  # bisection on the cubic through four samples
        middle = 0.5 * (low + high)
        under = _cubic(nodes, middle) < level
        low, high = np.where(under, middle, low), np.where(under, high, middle)
    beat = (first + high) / np.maximum(whole, 1.0)
    return np.where(clear, beat, np.where(made > WOBBLE_TURNS, np.nan, 0.0))


def _cubic(y: Array, u: Array) -> Array:
    """Lagrange's cubic through y (4, C) at 0, 1, 2, 3."""
    a, b, c, d = u, u - 1.0, u - 2.0, u - 3.0
    return -b * c * d / 6.0 * y[0] + a * c * d / 2.0 * y[1] - a * b * d / 2.0 * y[2] + a * b * c / 6.0 * y[3]


def windows(count: int, beat: Array) -> Array:
    """(count, C) weights that sum to 1: a smooth bump convolved with one beat each [WBA].

    >>> t = np.arange(200)
    >>> weights = windows(200, np.array([60.0, 0.0]))
    >>> abs(float(weights[:, 0] @ np.cos(2 * np.pi * t / 60.0))) < 1e-9
    True
    """
    grid, total = cumulative_bump()
    box = np.maximum(np.minimum(np.nan_to_num(beat), count - 2.0), 1.0)
    length, t = count - 1.0 - box, np.arange(count, dtype=float)[:, None]
    weights = np.interp((t + 0.5) / length, grid, total) - np.interp((t + 0.5 - box) / length, grid, total)
    return weights / weights.sum(axis=0)


def beat_means(psi: Array, phasor: Phasors, noisy: bool = False) -> tuple[Phasors, Array]:
    """(C,) averages of samples (K, C) over whole beats, and their change when only the later half is used.

    The change is infinite where a pair has turned, but not often enough to tell its beat; under noise, where
    it may have slipped only, the whole of what was seen is averaged then.
    """
    if len(psi) < 8:
        return phasor.mean(axis=0), np.full(psi.shape[1], np.inf)
    beat, half = beat_length(psi), len(psi) // 2
    mean = (windows(len(psi), beat) * phasor).sum(axis=0)
    later = (windows(len(psi) - half, beat) * phasor[half:]).sum(axis=0)
    return mean, np.where(np.isnan(beat) & (not noisy), np.inf, np.abs(mean - later))
