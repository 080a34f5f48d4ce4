"""Frequencies as float32 parts on fixed grids, so that differences of float64 frequencies stay right."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from oscsim.spec import PhaseLayerSpec

Array = NDArray[np.float64]

# Bits of the three parts. A part is an integer of at most 2^22 steps, so the difference of two parts is
# one of at most 2^23 and exact in float32 (24 bits); together they hold 68 bits below the largest
# frequency, more than float64 has.
_PART_BITS = (22, 23, 23)
# The largest frequency of a head is just below 2^32 grid units: the finest step is 2^-36, and squares
# of differences, 2^-72 to 2^73, are normal float32 numbers.
LARGEST_EXPONENT = 32
FINEST_EXPONENT = LARGEST_EXPONENT - sum(_PART_BITS)


@dataclass(frozen=True, eq=False)
class FrequencyGrid:
    """Frequencies of every head in units of its own grid.

    Parameters
    ----------
    parts : (H, D, P, N) float32, P = 1 to 3; their sum is omega / unit, rounded at 2^-69 of the largest.
    unit : (H,) float64, a power of two, rad / time unit.
    identity : (H, N) int32, equal exactly where two tokens have identical frequencies.
    smallest_gap : (H,) rad / time unit, smallest non-zero difference of two tokens on one channel, so no
        pair of distinct tokens has a smaller mismatch; infinity when there is none.
    """

    parts: NDArray[np.float32]
    unit: Array
    identity: NDArray[np.int32]
    smallest_gap: Array

    @property
    def n_parts(self) -> int:
        """P: as many parts as the data needs, the same for every head."""
        return self.parts.shape[2]


def frequency_grid(spec: PhaseLayerSpec) -> FrequencyGrid:
    """Split the frequencies of a layer; padded tokens count as 0 and do not widen the grid.

    >>> from oscsim import FrequencyCoupling
    >>> spec = PhaseLayerSpec(omega=[[[1e6], [1e6 + 1e-3]]], theta=[[[0.0], [0.0]]],
    ...                       coupling=FrequencyCoupling(alpha=[0.0]), gain=[1.0])
    >>> grid = frequency_grid(spec)
    >>> difference = (grid.parts[0, 0, :, 1] - grid.parts[0, 0, :, 0]).sum() * grid.unit[0]
    >>> bool(abs(difference - (1e6 + 1e-3 - 1e6)) < 1e-15)
    True
    """
    omega = np.where(spec.valid[None, :, None], spec.omega, 0.0) + 0.0
    _, exponent = np.frexp(np.abs(omega).max(axis=(1, 2)))
    return FrequencyGrid(
        parts=_parts(omega, exponent),
        unit=np.ldexp(1.0, exponent - LARGEST_EXPONENT),
        identity=np.stack([_labels(head) for head in omega]),
        smallest_gap=np.array([_smallest_gap(head[spec.valid]) for head in omega]),
    )


def _parts(omega: Array, exponent: NDArray[np.int32]) -> NDArray[np.float32]:
    parts, rest, step_exponent = [], omega, LARGEST_EXPONENT
    rest = np.ldexp(omega, -exponent[:, None, None])  # below 1; every operation here is exact
    for bits in _PART_BITS:
        rest = np.ldexp(rest, bits)
        whole = np.rint(rest)
        rest = rest - whole
        step_exponent -= bits
        parts.append(np.ldexp(whole, step_exponent))
    while len(parts) > 1 and not parts[-1].any():
        parts.pop()
    return np.ascontiguousarray(np.stack(parts, axis=1).transpose(0, 3, 1, 2), dtype=np.float32)


def _labels(omega: Array) -> NDArray[np.int32]:
    _, label = np.unique(omega, axis=0, return_inverse=True)
    return label.reshape(-1).astype(np.int32)


def _smallest_gap(omega: Array) -> float:
    gaps = np.diff(np.sort(omega, axis=0), axis=0)
    return float(gaps.min(where=gaps > 0, initial=np.inf))
