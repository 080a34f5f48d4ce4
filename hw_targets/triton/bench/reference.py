"""What the gate holds a build against: values and gradients in float64, and how far float arithmetic may be off.

An allowed error is propagated, not guessed. Where a rounded quantity enters a sum, the sum of the magnitudes of
what it can change is added up, so the bound holds for any signs; near the locking edge that is the exact change
of S over the interval its square may lie in.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor

from hw_targets.triton.bench.options import BenchOptions
from oscsim.tolerance import FLOAT32_EPSILON, SIXTEEN_BIT_PRODUCT, SIXTEEN_BIT_SYNC


class Expected(NamedTuple):
    """A float64 value and the largest error a correct build may have, both of the result's shape."""

    value: Tensor
    allowed: Tensor


@dataclass(frozen=True)
class Rounding:
    """Relative errors of a build.

    Parameters
    ----------
    sync : of d/a, so of S per unit of condition.
    product : of a product of sums over tokens or channels, relative to the sum of magnitudes.
    output : half a unit in the last place of the result's dtype.
    """

    sync: float
    product: float
    output: float

    @classmethod
    def of(cls, options: BenchOptions) -> Rounding:
        """What precision and dtype of a run promise (oscsim/tolerance.py)."""
        low = options.precision == "fast" or options.dtype != "float32"
        return cls(
            sync=SIXTEEN_BIT_SYNC if options.precision == "fast" else FLOAT32_EPSILON,
            product=SIXTEEN_BIT_PRODUCT if low else FLOAT32_EPSILON,
            output=torch.finfo(getattr(torch, options.dtype)).eps,
        )


def worst(got: Tensor | None, expected: Expected) -> tuple[float, float]:
    """Error and allowance where their ratio is largest; an infinite error for a wrong shape or a NaN.

    >>> one = torch.ones(2, dtype=torch.float64)
    >>> worst(torch.tensor([1.0, 1.5]), Expected(one, 0.25 * one))
    (0.5, 0.25)
    """
    value, allowed = expected
    if got is None or got.shape != value.shape or not bool(got.isfinite().all()):
        return float("inf"), float(allowed.max())
    error = (got.double().cpu() - value).abs().flatten()
    limit = allowed.flatten()
    # 0 allowed and 0 off is fine, 0 allowed and anything off is not.
    ratio = torch.where(error > 0, error / limit, 0.0)
    index = int(ratio.argmax())
    return float(error[index]), float(limit[index])
