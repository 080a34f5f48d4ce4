"""Where a phase that moves forward comes to rest: the first root of its speed."""

import numpy as np
from numpy.typing import NDArray

from oscsim.phase_reduction.trigonometric import Coefficients, dips, on_grid, rounding, values_at

Array = NDArray[np.float64]
_BISECTIONS = 52


def first_root(speed: Coefficients) -> tuple[Array, NDArray[np.bool_]]:
    """First x in [0, 2 pi) at which a speed (not negative at 0) is no longer positive.

    A root is bracketed on a grid; two that lie between grid points (a pair that only just locks) are found
    from the minimum between them. Touching zero within rounding counts as a root: ``d = |a|`` locks.

    Returns
    -------
    x (B,), NaN without a root, and whether there is one (B,).

    >>> first_root(np.array([[0.5, 0.5j], [2.0, 0.5j]]))[0].round(12).tolist()  # 1/2 - sin x, 2 - sin x
    [0.523598775598, nan]
    """
    grid = on_grid(speed)
    count = grid.shape[1]
    h = 2.0 * np.pi / count
    row, place, depth = dips(speed, grid, np.zeros(len(grid)))
    below = np.roll(grid, -1, axis=1) <= 0.0  # [k]: at the right end of interval k
    k = np.argmax(below, axis=1)
    right = np.where(below.any(axis=1), h * (k + 1), np.inf)
    left = right - h
    touching = np.zeros(len(grid), bool)
    deep = depth <= rounding(speed)[row]
    for cell, x, lowest in zip(row[deep], np.mod(place, 2.0 * np.pi)[deep], depth[deep], strict=True):
        if x < right[cell]:
            touching[cell] = lowest > 0.0
            left[cell], right[cell] = max(0.0, x - h), x
    locked = np.isfinite(right)
    x = np.full(len(grid), np.nan)
    x[locked] = _bisect(speed[locked], left[locked], right[locked])
    x[touching] = right[touching]
    return x, locked


def _bisect(speed: Coefficients, left: Array, right: Array) -> Array:
    for _ in range(_BISECTIONS):
        middle = 0.5 * (left + right)
        positive = values_at(speed, middle) > 0.0
        left, right = np.where(positive, middle, left), np.where(positive, right, middle)
    return 0.5 * (left + right)
