"""Real trigonometric polynomials ``f(x) = f_0 + sum_n 2 Re(f_n e^{i n x})``, one per row."""

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Coefficients = NDArray[np.complex128]
_POINTS_PER_WAVE = 16  # of the fastest harmonic
_FEWEST_POINTS = 256
_NEWTON = 12


def derivative(f: Coefficients) -> Coefficients:
    """Coefficients of df/dx."""
    return 1j * np.arange(f.shape[-1]) * f


def values_at(f: Coefficients, x: Array) -> Array:
    """f at x: rows (B, n + 1) at (B,) or (B, K) points, by Horner's rule.

    >>> values_at(np.array([[1.0, 0.5]], complex), np.array([0.0])).tolist()
    [2.0]
    """
    z = np.exp(1j * x)
    column = (slice(None),) + (None,) * (np.ndim(x) - 1)
    total = np.zeros_like(z)
    for n in range(f.shape[1] - 1, 0, -1):
        total = (total + f[:, n][column]) * z
    return (f[:, 0][column] + 2.0 * total).real


def on_grid(f: Coefficients) -> Array:
    """f (B, K) at ``x_k = 2 pi k/K``, K fine enough to see every wave of the fastest harmonic."""
    count = max(_FEWEST_POINTS, _POINTS_PER_WAVE * (f.shape[1] - 1))
    return np.fft.irfft(f * count, count, axis=1)


def rounding(f: Coefficients) -> Array:
    """(B,) what rounding may make of a value of f."""
    return 16.0 * np.finfo(float).eps * np.abs(f).sum(axis=1)


def dips(f: Coefficients, grid: Array, level: Array) -> tuple[NDArray[np.int64], Array, Array]:
    """Local minima that may reach below ``level`` (B,): their rows, places in (-h, 2 pi) and values, flat.

    A minimum of the grid is less than half a spacing h too high by curvature, so only those that
    ``max |f''| h^2 / 2`` brings under the level are refined (Newton on f').
    """
    count = grid.shape[1]
    h = 2.0 * np.pi / count
    bend = derivative(derivative(f))
    depth = np.abs(bend).sum(axis=1) * h**2  # |f''| <= 2 sum |f''_n|
    low = (grid <= np.roll(grid, 1, axis=1)) & (grid <= np.roll(grid, -1, axis=1))
    row, k = np.nonzero(low & (grid - depth[:, None] <= level[:, None]) & (depth > 0)[:, None])
    place = h * k
    slope, bend = derivative(f)[row], bend[row]
    x = place.copy()
    for _ in range(_NEWTON):
        curvature = values_at(bend, x)
        step = values_at(slope, x) / np.where(curvature > 0.0, curvature, np.inf)
        x = np.clip(x - step, place - h, place + h)
    return row, x, values_at(f[row], x)


def lowest(f: Coefficients) -> tuple[Array, Array]:
    """Place and value (B,) of the global minimum."""
    grid = on_grid(f)
    first = np.argmin(grid, axis=1)
    x, value = first * (2.0 * np.pi / grid.shape[1]), grid.min(axis=1)
    row, place, depth = dips(f, grid, value)
    # the deepest dip of a row is written last
    order = np.argsort(-depth, kind="stable")
    x[row[order]], value[row[order]] = place[order], depth[order]
    return x, value
