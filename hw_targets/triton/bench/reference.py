"""What the gate holds a build against: answers in float64, and how far float arithmetic may be off.

An allowed error is propagated, not guessed. Where a rounded quantity enters a sum over the pairs of a row,
the sizes of what it can change are added up, so the bound holds for any signs; near the locking edge that
is the exact change of S over the interval its square may lie in. Independent errors of rows add in squares.

Such a worst case rejects a single wrong element but, in 16 bits, hardly a wrong scale. So the root mean
square of every tensor's error is also held against that of a float64 run with noise of the promised size.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor

from hw_targets.triton.bench.options import BenchOptions
from oscsim.tolerance import (
    FLOAT32_EPSILON,
    SIXTEEN_BIT_OPERAND,
    SIXTEEN_BIT_PRODUCT,
    SIXTEEN_BIT_SYNC,
)


class Expected(NamedTuple):
    """A float64 value and the largest error a correct build may have, both of the result's shape."""

    value: Tensor
    allowed: Tensor


@dataclass(frozen=True)
class Rounding:
    """Relative errors of a build.

    Parameters
    ----------
    sync : of d/a, so of S per unit of condition, at worst.
    operand : of a frequency's distance from the centre of its head.
    product : of a product of sums over tokens or channels, relative to the sum of magnitudes.
    output : half a unit in the last place of the result's dtype.
    """

    sync: float
    operand: float
    product: float
    output: float

    @classmethod
    def of(cls, options: BenchOptions) -> Rounding:
        """What precision and dtype of a run promise (oscsim/tolerance.py)."""
        low = options.precision == "fast" or options.dtype != "float32"
        return cls(
            sync=SIXTEEN_BIT_SYNC if options.precision == "fast" else FLOAT32_EPSILON,
            operand=SIXTEEN_BIT_OPERAND if options.precision == "fast" else 0.0,
            product=SIXTEEN_BIT_PRODUCT if low else FLOAT32_EPSILON,
            output=torch.finfo(getattr(torch, options.dtype)).eps,
        )


class Noise:
    """Relative errors, uniform within +-``size``, as a build with that rounding makes them."""

    def __init__(self, rounding: Rounding, seed: int) -> None:
        self._rounding = rounding
        self._draw = torch.Generator().manual_seed(seed)

    def uniform(self, like: Tensor) -> Tensor:
        """Numbers within +-1, (in) the shape of ``like``."""
        return 2.0 * torch.rand(like.shape, generator=self._draw, dtype=torch.float64) - 1.0

    def operand(self, omega: Tensor) -> Tensor:
        """Frequencies, rounded relative to their distance from the mean of the head."""
        centre = omega.mean(dim=-2, keepdim=True)
        return centre + (omega - centre) * (1.0 + self._rounding.operand * self.uniform(omega))

    def margin(self, coupling: Tensor) -> Tensor:
        """What S^2 is off by for all other reasons."""
        return 2.0 * FLOAT32_EPSILON * coupling * self.uniform(coupling)

    def blur(self, x: Tensor) -> Tensor:
        """An operand of a product, rounded."""
        return x * (1.0 + self._rounding.product * self.uniform(x))


# Rounding of different rows is independent: their sum is this many standard deviations at most, taking a
# row's own worst case as its standard deviation.
_DEVIATIONS = 4.0


def over_rows(allowed: Tensor, dim: int | tuple[int, ...]) -> Tensor:
    """What the sum over rows may be off when each may be off by its own worst case.

    >>> over_rows(torch.tensor([3.0, 4.0]), 0)
    tensor(20.)
    """
    return _DEVIATIONS * allowed.square().sum(dim=dim).sqrt()


DRAWS = 3
"""Noisy runs; few elements (alpha, gain) would otherwise hide a small draw."""
_MARGIN = 4.0
# Where rounding could hide everything (16-bit gradients near the edge), zeros still do not pass. Sums over
# all tokens (few elements) may cancel down to their rounding; this holds for the others.
_LARGEST_SHARE, _MANY = 0.5, 64


def root_mean_square(
    got: Tensor, exact: Expected, noisy: list[Tensor], rounding: Rounding
) -> tuple[float, float]:
    """Root mean square error of a result, and four times that of the noisy runs plus its own rounding."""
    size = float(exact.value.square().mean().sqrt())
    error = float((got.double().cpu() - exact.value).square().mean().sqrt())
    spread = float(torch.stack([(x - exact.value).square().mean() for x in noisy]).mean().sqrt())
    allowed = _MARGIN * spread + rounding.output * size
    return error, min(allowed, _LARGEST_SHARE * size) if got.numel() >= _MANY else allowed


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
