"""Arithmetic on the circle: wrapping, circular distance, order parameter."""

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def wrap(angle: Array) -> Array:
    """Map angles to [-pi, pi).

    >>> float(wrap(np.array(3 * np.pi)) + np.pi) < 1e-12
    True
    """
    return np.mod(np.asarray(angle, dtype=np.float64) + np.pi, 2 * np.pi) - np.pi


def circular_distance(a: Array, b: Array) -> Array:
    """Smallest non-negative angle between two phases, in [0, pi] rad.

    >>> round(float(circular_distance(np.array(0.1), np.array(2 * np.pi - 0.1))), 12)
    0.2
    """
    return np.abs(wrap(np.asarray(a) - np.asarray(b)))


def order_parameter(theta: Array, valid: NDArray[np.bool_], causal: bool) -> Array:
    """Kuramoto order parameter averaged over channels (arXiv 2602.14445; docs/spec.md section 2).

    Full mask: ``r = (1/D) sum_l |(1/N) sum_j exp(i theta_j^l)|``, shape (H, N) with equal columns.
    Causal mask: the sum runs over j <= i only, so that row i never sees a later token.

    Parameters
    ----------
    theta : (H, N, D) phases in rad.
    valid : (N,) bool, False for padded oscillators, which count nowhere.
    causal : whether row i uses the prefix j <= i.

    Returns
    -------
    (H, N) array in [0, 1]; rows of padded oscillators carry 0 and are used nowhere.

    >>> theta = np.array([[[0.0], [np.pi]]])
    >>> order_parameter(theta, np.ones(2, bool), causal=True).round(12).tolist()
    [[1.0, 0.0]]
    """
    phasor = np.where(valid[None, :, None], np.exp(1j * theta), 0.0)
    if causal:
        count = np.maximum(np.cumsum(valid), 1)
        mean = np.cumsum(phasor, axis=1) / count[None, :, None]
    else:
        total = phasor.sum(axis=1, keepdims=True) / max(int(valid.sum()), 1)
        mean = np.broadcast_to(total, phasor.shape)
    r = np.minimum(np.abs(mean).mean(axis=2), 1.0)
    return np.where(valid[None, :], r, 0.0)
