"""Averages over time of a network that does not come to rest, and whether they have converged."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

# Kaiser window (Kaiser & Schafer, IEEE Trans. ASSP 28 (1980) 105): side lobes 0.22 beta / sinh(beta) =
# 8e-7, a tenth of the float32 epsilon, from sqrt(1 + (beta/pi)^2) = 5.2 whole beats on.
_BETA = 16.0
_BEATS = 6.0
# Less than this many turns against each other in a window is no rotation.
_HELD_TURNS = 0.5


@dataclass(frozen=True, eq=False)
class PairAverage:
    """``<exp(i(theta_i - theta_j))>`` over the last three quarters, (N, N, D), and how far to trust it.

    change : (D,) largest difference to the average over the last half alone; resolved : (D,) bool, every
    pair of that channel either holds still or turns often enough for that half to cancel its beat.
    """

    mean: NDArray[np.complex128]
    change: Array
    resolved: NDArray[np.bool_]


def pair_average(samples: Array) -> PairAverage:
    """Average evenly spaced phases (T, N, D) of the oscillators of one head, rad.

    >>> turning = np.linspace(0.0, 200.0, 1000)[:, None, None] * np.array([0.0, 1.0])[None, :, None]
    >>> average = pair_average(turning)
    >>> bool(abs(average.mean[0, 1, 0]) < 1e-6), bool(average.change[0] < 1e-6), bool(average.resolved[0])
    (True, True, True)
    """
    later = samples[len(samples) // 2 :]
    mean, check = _windowed(samples[len(samples) // 4 :]), _windowed(later)
    turned = np.unwrap(later, axis=0)
    turned = (turned[-1] - turned[0]) / (2.0 * np.pi)  # (N, D)
    beats = np.abs(turned[:, None, :] - turned[None, :, :])
    resolved = (beats < _HELD_TURNS) | (beats >= _BEATS)
    return PairAverage(mean, np.abs(mean - check).max(axis=(0, 1)), resolved.all(axis=(0, 1)))


def _windowed(samples: Array) -> NDArray[np.complex128]:
    weight = np.kaiser(len(samples), _BETA)
    z = np.exp(1j * samples).transpose(2, 1, 0)  # (D, N, T): the sum over time is one product
    mean = (z * (weight / weight.sum())) @ z.conj().swapaxes(-1, -2)
    return mean.transpose(1, 2, 0)
