"""The parts of a spec that come in alternatives: coupling and order parameter."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from oscsim.errors import SpecError
from oscsim.io import canonical_array

Array = NDArray[np.float64]
# Squares and products of three such numbers still fit a float64.
MAX_MAGNITUDE = 1e100
# Taking a phase modulo 2 pi costs 2e-16 per turn: up to here every backend still sees the same angle.
MAX_PHASE = 1e8


def real_array(
    value: Any, name: str, shape_text: str, ranks: tuple[int, ...], largest: float = MAX_MAGNITUDE
) -> Array:
    """Validate a real, finite array of one of the given ranks; returns an immutable float64 copy.

    Raises
    ------
    SpecError
        names the field, what was given and what was expected.
    """
    if isinstance(value, np.ma.MaskedArray):
        raise SpecError(f"{name}: given a masked array, whose mask would be lost; fill it first")
    try:
        array = np.asarray(value)
    except (ValueError, TypeError, RuntimeError) as error:
        raise SpecError(
            f"{name}: expected a real array of shape {shape_text}, given {type(value).__name__} ({error})"
        ) from None
    if array.dtype.kind not in "fiu":
        raise SpecError(f"{name}: expected real numbers of shape {shape_text}, given dtype {array.dtype}")
    if array.ndim not in ranks:
        raise SpecError(f"{name}: expected shape {shape_text}, given shape {array.shape}")
    if 0 in array.shape:
        raise SpecError(
            f"{name}: expected at least one entry on every axis of {shape_text}, given shape {array.shape}"
        )
    array = array.astype(np.float64)
    bad = ~(np.abs(array) <= largest)
    if bad.any():
        where = tuple(int(i) for i in np.argwhere(bad)[0])
        raise SpecError(
            f"{name}{list(where)}: given {array[where]}, "
            f"expected a finite number of magnitude at most {largest:g}"
        )
    return canonical_array(array)


def _require(name: str, array: Array, ok: NDArray[np.bool_], expected: str) -> None:
    if not ok.all():
        where = tuple(int(i) for i in np.argwhere(~ok)[0])
        raise SpecError(f"{name}{list(where)}: given {array[where]}, expected {expected}")


def non_negative(value: Any, name: str) -> Array:
    """Validate a per-head array (H,) of numbers >= 0."""
    array = real_array(value, name, "(H,)", (1,))
    _require(name, array, array >= 0, "a number >= 0")
    return array


@dataclass(frozen=True, eq=False)
class FrequencyCoupling:
    """``J_ij = exp(-alpha d_ij^2)``: oscillators couple by likeness of frequency (arXiv 2602.14445).

    Parameters
    ----------
    alpha : (H,) >= 0, coupling bandwidth in (time unit)^2 / rad^2.

    >>> FrequencyCoupling(alpha=[0.5]).alpha.tolist()
    [0.5]
    """

    alpha: Any

    def __post_init__(self) -> None:
        object.__setattr__(self, "alpha", non_negative(self.alpha, "coupling.alpha"))


@dataclass(frozen=True, eq=False)
class ExplicitCoupling:
    """``J`` given as a matrix, either sign; the diagonal is used as given.

    Parameters
    ----------
    matrix : (H, N, N), row = driven oscillator (target), column = source; dimensionless.

    >>> ExplicitCoupling(matrix=[[[1.0, -0.5], [0.5, 1.0]]]).matrix.shape
    (1, 2, 2)
    """

    matrix: Any

    def __post_init__(self) -> None:
        matrix = real_array(self.matrix, "coupling.matrix", "(H, N, N)", (3,))
        if matrix.shape[1] != matrix.shape[2]:
            raise SpecError(f"coupling.matrix: expected shape (H, N, N), given {matrix.shape}")
        object.__setattr__(self, "matrix", matrix)


@dataclass(frozen=True, eq=False)
class EmpiricalOrder:
    """``r`` measured from the given phases: over all tokens (full) or over the prefix (causal)."""


@dataclass(frozen=True, eq=False)
class FixedOrder:
    """``r`` given.

    Parameters
    ----------
    r : (H,) or (H, N) in [0, 1], dimensionless.

    >>> FixedOrder(r=[1.0]).r.tolist()
    [1.0]
    """

    r: Any

    def __post_init__(self) -> None:
        r = real_array(self.r, "order_parameter.r", "(H,) or (H, N)", (1, 2))
        _require("order_parameter.r", r, (r >= 0) & (r <= 1), "a number in [0, 1]")
        object.__setattr__(self, "r", r)
