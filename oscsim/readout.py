"""From a synchronization matrix to attention weights and output (docs/spec.md section 2)."""

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def normalise(sync: Array) -> Array:
    """Row weights ``W_ij = S_ij / sum_k S_ik`` of the positive part of S; a zero row stays zero.

    Parameters
    ----------
    sync : (H, N, N), masked cells already zero.

    >>> normalise(np.array([[[1.0, 1.0], [0.0, 0.0]]])).tolist()
    [[[0.5, 0.5], [0.0, 0.0]]]
    """
    positive = np.maximum(sync, 0.0)
    total = positive.sum(axis=-1, keepdims=True)
    return np.divide(positive, total, out=np.zeros_like(positive), where=total > 0)


def row_weights(sync: Array, locked: NDArray[np.bool_], dynamics: str) -> Array:
    """Row weights of a layer: :func:`normalise`, for pair dynamics of the locked cells only.

    The time average of an unlocked cell is zero up to a small error, and a row in which nothing locks has
    no weights; normalising the errors would make some up.

    >>> row_weights(np.array([[[0.0, 1e-9]]]), np.array([[[False, False]]]), "pair").tolist()
    [[[0.0, 0.0]]]
    """
    return normalise(np.where(locked, sync, 0.0) if dynamics == "pair" else sync)


def attend(weights: Array, values: Array | None) -> Array | None:
    """Output ``y_i = sum_j W_ij V_j``, shape (H, N, D_v); None without values."""
    return None if values is None else weights @ values


def phase_sync(j: Array, phase: Array, source: Array) -> Array:
    """``J_ij (1/D) sum_l cos(phase_i^l - source_j^l)``, shape (H, N, N)."""
    left: NDArray[np.complex128] = np.exp(1j * phase)
    right: NDArray[np.complex128] = np.exp(-1j * source)
    return j * np.real(left @ right.transpose(0, 2, 1)) / phase.shape[2]
