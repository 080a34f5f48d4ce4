"""Errors as means and variances; independent ones add up."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Moments:
    """Mean and variance of an error, per cell."""

    mean: Array
    variance: Array

    def __add__(self, other: "Moments") -> "Moments":
        """Sum of independent errors."""
        return Moments(self.mean + other.mean, self.variance + other.variance)

    def scaled(self, factor: Array) -> "Moments":
        """A factor times the error."""
        return Moments(factor * self.mean, factor**2 * self.variance)


def with_total(errors: dict[str, Moments]) -> dict[str, Moments]:
    """The errors of independent sources and their sum, "all"."""
    total, *others = errors.values()
    for one in others:
        total = total + one
    return {**errors, "all": total}
