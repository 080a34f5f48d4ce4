"""Coupling and locking strength in float32: row scales, and what the number range cannot hold."""

import numpy as np
from numpy.typing import NDArray

from hw_targets.triton.frequency_grid import FINEST_EXPONENT, LARGEST_EXPONENT, FrequencyGrid
from oscsim.coupling import ExplicitCoupling, FrequencyCoupling
from oscsim.errors import LoweringError
from oscsim.pair_terms import mismatch, spec_order_parameter, unmasked
from oscsim.spec import PhaseLayerSpec
from oscsim.tolerance import FLOAT32_EPSILON

Array = NDArray[np.float64]
Single = NDArray[np.float32]

# exp(-alpha d^2) is zero in float32 beyond this sqrt(alpha) d
_COUPLING_REACH = 10.0
# Mismatches that decide a row must not be finer than float64 tells the head's largest frequency.
_RESOLVED_EXPONENT = -52
# At the locking edge J = d/(K r) = exp(-w/2), w exp(w) = 2 alpha (K r)^2: 1e36 keeps it above 2^-58,
# so its square is a normal float32 number.
_LARGEST_SELECTIVITY = 1e36
# Explicit couplings smaller than this against the largest of their row: (|J| - q)(|J| + q) underflows.
_SMALLEST_COUPLING = 2.0**-60
_SMALLEST_FLOAT32 = 2.0**-120


def explicit_rows(spec: PhaseLayerSpec) -> tuple[Single, Array]:
    """Explicit J with every row divided by a power of two, (H, N, N) float32 and (H, N) float64.

    Masked cells are 0. Couplings below 2^-60 of the largest in their row become 0 where that changes
    nothing; frequency coupling needs no scale and gives an empty matrix and ones.

    Raises
    ------
    LoweringError
        such a coupling matters: it exceeds a tenth of the float32 epsilon, or locks two distinct tokens.
    """
    if not isinstance(spec.coupling, ExplicitCoupling):
        return np.zeros((spec.n_heads, 1, 1), np.float32), np.ones((spec.n_heads, spec.n_oscillators))
    matrix = np.where(unmasked(spec), spec.coupling.matrix, 0.0)
    _, exponent = np.frexp(np.abs(matrix).max(axis=2))
    scaled = np.ldexp(matrix, -exponent[:, :, None])
    tiny = (scaled != 0) & (np.abs(scaled) < _SMALLEST_COUPLING)
    if tiny.any():
        _refuse_wide_row(spec, matrix, tiny)
    return np.where(tiny, 0.0, scaled).astype(np.float32), np.ldexp(1.0, exponent)


def _refuse_wide_row(spec: PhaseLayerSpec, matrix: Array, tiny: NDArray[np.bool_]) -> None:
    matters = tiny & (np.abs(matrix) > 0.1 * FLOAT32_EPSILON)
    if spec.dynamics == "pair":
        strength = (spec.gain[:, None] * spec_order_parameter(spec))[:, :, None] * np.abs(matrix)
        d = mismatch(spec)
        matters |= tiny & (d > 0) & (d <= strength)
    if matters.any():
        h, i, j = (int(k) for k in np.argwhere(matters)[0])
        raise LoweringError(
            f"coupling.matrix[{h}, {i}, {j}]: given {matrix[h, i, j]:g} in a row with values up to "
            f"{np.abs(matrix[h, i]).max():g}; the triton target computes in float32 and expects couplings "
            f"of at least 2^-60 of the largest in their row, or 0"
        )


def scaled_alpha(spec: PhaseLayerSpec, grid: FrequencyGrid) -> Single:
    """(H,) alpha of a clamped layer in grid units: ``alpha d^2`` needs no scale; zeros for explicit J.

    Raises
    ------
    LoweringError
        the coupling distinguishes frequencies closer than float64 does.
    """
    if not isinstance(spec.coupling, FrequencyCoupling):
        return np.zeros(spec.n_heads, np.float32)
    merged = grid.smallest_gap < np.ldexp(grid.unit, FINEST_EXPONENT + 1)
    _require_resolution(spec, grid, _coupling_reach(spec.coupling)[:, None], merged[:, None])
    with np.errstate(over="ignore"):
        scaled = spec.coupling.alpha * np.square(grid.unit)
    return np.minimum(scaled, 2.0**126).astype(np.float32)  # beyond that only identical tokens couple


def inverse_strength(spec: PhaseLayerSpec, grid: FrequencyGrid, row_scale: Array) -> Single:
    """(H, N) grid unit / (K r_i row_scale), explicit J: multiplies a mismatch into ``q = d/(K r_i)``.

    -1 marks rows that lock identical tokens only: K r_i = 0, padding, or a strength below the smallest
    mismatch there is.

    Raises
    ------
    LoweringError
        a row locks on mismatches that float32 cannot hold.
    """
    strength = spec.gain[:, None] * spec_order_parameter(spec)
    reach = strength * row_scale
    _require_resolution(spec, grid, reach)
    alone = (strength == 0) | (reach < grid.smallest_gap[:, None])
    with np.errstate(divide="ignore", over="ignore"):
        inverse = grid.unit[:, None] / (strength * row_scale)
    return np.where(alone, -1.0, np.maximum(inverse, _SMALLEST_FLOAT32)).astype(np.float32)


def lock_reach(
    spec: PhaseLayerSpec, coupling: FrequencyCoupling, grid: FrequencyGrid
) -> tuple[Array, NDArray[np.bool_]]:
    """(H, N) mismatch within which a row may lock, rad / time unit, and rows that lock only identical tokens.

    Raises
    ------
    LoweringError
        a row locks on mismatches, or over a range of couplings, that float32 cannot hold.
    """
    strength = spec.gain[:, None] * spec_order_parameter(spec)
    reach = np.minimum(strength, _coupling_reach(coupling)[:, None])
    _require_selectivity(coupling, strength, reach >= grid.smallest_gap[:, None])
    _require_resolution(spec, grid, reach)
    return reach, (strength == 0) | (reach < grid.smallest_gap[:, None])


def _coupling_reach(coupling: FrequencyCoupling) -> Array:
    """(H,) mismatch beyond which ``exp(-alpha d^2)`` is zero in float32, rad / time unit."""
    with np.errstate(divide="ignore"):
        return _COUPLING_REACH / np.sqrt(coupling.alpha)


def _require_resolution(
    spec: PhaseLayerSpec, grid: FrequencyGrid, reach: Array, merged: NDArray[np.bool_] | bool = False
) -> None:
    """Refuse mismatches in reach that are finer than the grid; ``merged``: distinct tokens fell together."""
    finest = np.ldexp(grid.unit, LARGEST_EXPONENT + _RESOLVED_EXPONENT)[:, None]
    blind = (reach > 0) & (reach < finest) & ((reach >= grid.smallest_gap[:, None]) | merged)
    if blind.any():
        h = int(np.argwhere(blind)[0][0])
        raise LoweringError(
            f"omega, head {h}: tokens differ by {grid.smallest_gap[h]:g} and mismatches of "
            f"{reach[h][blind[h]].min():g} rad / time unit decide, but frequencies reach "
            f"{np.abs(spec.omega[h]).max():g}; the triton target resolves 2^-52 of the largest frequency: "
            f"subtract a common offset from omega, raise gain or lower alpha"
        )


def _require_selectivity(coupling: FrequencyCoupling, strength: Array, live: NDArray[np.bool_]) -> None:
    selectivity = coupling.alpha[:, None] * np.square(strength)
    # rows without a distinct token in reach lock none, as long as d* stays below that reach
    too_much = (selectivity > _LARGEST_SELECTIVITY) & (live | (selectivity > np.exp(2 * _COUPLING_REACH**2)))
    if too_much.any():
        h, i = (int(k) for k in np.argwhere(too_much)[0])
        raise LoweringError(
            f"coupling.alpha[{h}]: alpha (K r)^2 is {selectivity[h, i]:g} at token {i}; the triton target "
            f"computes exp(-alpha d^2) in float32 and expects at most 1e36: lower alpha or gain"
        )
