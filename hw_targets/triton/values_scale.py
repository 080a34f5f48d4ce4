"""Values in float32: every column divided by a power of two, so that any magnitude fits."""

import numpy as np
from numpy.typing import NDArray

from hw_targets.triton.plan import widened
from oscsim.spec import PhaseLayerSpec

Array = NDArray[np.float64]


def scaled_values(spec: PhaseLayerSpec, width: int | None = None) -> tuple[NDArray[np.float32], Array]:
    """Values (H, N, width) and the scale (H, D_v) that brings a mean back; without values one zero column.

    Parameters
    ----------
    width : columns, zeros on the right; default D_v.
    """
    if spec.values is None:
        return np.zeros((spec.n_heads, spec.n_oscillators, 1), np.float32), np.ones((spec.n_heads, 1))
    _, exponent = np.frexp(np.abs(spec.values).max(axis=1))
    values = np.ldexp(spec.values, -exponent[:, None, :])
    return widened(values, width or values.shape[2]), np.ldexp(1.0, exponent)
