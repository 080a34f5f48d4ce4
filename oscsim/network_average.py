"""Time averages of a network that never comes to rest."""

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def birkhoff_weights(count: int) -> Array:
    """Weights (count,) of a smooth window, ``w(t) = exp(-1/(t (1 - t)))`` on (0, 1), summing to 1.

    Averages of quasi-periodic motion converge faster than any power of the window's length, without
    knowing the beat (Das, Saiki, Sander & Yorke, Nonlinearity 30 (2017) 4111).

    >>> float(birkhoff_weights(101).sum().round(12))
    1.0
    """
    t = (np.arange(count) + 0.5) / count
    weight = np.exp(-1.0 / (t * (1.0 - t)))
    return weight / weight.sum()


def network_read_out(samples: Array) -> tuple[NDArray[np.complex128], float]:
    """Pair averages ``<exp(i(theta_i - theta_j))>`` over evenly spaced samples, and their own error.

    Parameters
    ----------
    samples : (T, H, N, D) phases, rad, evenly spaced in time, start-up already cut off.

    Returns
    -------
    mean (H, N, N, D), and its largest change when only the later half of the samples is used: an
    estimate of the error from the data alone, on the safe side because half a window errs more.
    """
    mean = _pair_mean(samples)
    return mean, float(np.abs(mean - _pair_mean(samples[len(samples) // 2 :])).max(initial=0.0))


def _pair_mean(samples: Array) -> NDArray[np.complex128]:
    # (H, D, N, T): the sum over time is one matrix product
    z: NDArray[np.complex128] = np.exp(1j * samples).transpose(1, 3, 2, 0)
    weighted = z * birkhoff_weights(z.shape[-1])
    mean: NDArray[np.complex128] = np.matmul(weighted, z.conj().swapaxes(-1, -2))
    return mean.transpose(0, 2, 3, 1)
