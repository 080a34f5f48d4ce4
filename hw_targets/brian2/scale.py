"""From dimensionless rates to seconds: the clock of the fastest element runs in real time."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from oscsim.errors import LoweringError
from oscsim.spec import PhaseLayerSpec

Array = NDArray[np.float64]

# Products of a few such numbers still fit a float64.
_LARGEST = 1e120


@dataclass(frozen=True)
class RateScale:
    """Physical scale of a lowered layer.

    Parameters
    ----------
    fastest : largest own-clock rate, rad / time unit (1 when nothing moves).
    slowest : smallest one that is not zero.
    time_unit_s : seconds per time unit.

    >>> RateScale(fastest=2.0, slowest=0.5, time_unit_s=1e-9).dt_s(0.25)
    1.25e-10
    """

    fastest: float
    slowest: float
    time_unit_s: float

    @classmethod
    def of(cls, spec: PhaseLayerSpec, rates: Array) -> "RateScale":
        """Scale of a layer whose elements have these own-clock rates.

        Raises
        ------
        LoweringError
            the rates, or their ratio, do not fit floating-point seconds.
        """
        moving = rates[rates > 0]
        fastest = float(moving.max()) if moving.size else 1.0
        slowest = float(moving.min()) if moving.size else 1.0
        scale = cls(fastest, slowest, spec.time_unit_s)
        if not (fastest <= _LARGEST * slowest and 1 / _LARGEST <= fastest / spec.time_unit_s <= _LARGEST):
            raise LoweringError(
                f"target 'brian2': rates from {slowest:g} to {fastest:g} rad per time unit of "
                f"{spec.time_unit_s:g} s given, expected a ratio of at most {_LARGEST:g} and between "
                f"{1 / _LARGEST:g} and {_LARGEST:g} rad/s; rescale omega and gain or change time_unit_s"
            )
        return scale

    def stretch(self, rate: Array) -> Array:
        """Dimensionless clock of each element: own time per unit of the fastest clock; 0 for rate 0."""
        return np.divide(self.fastest, rate, out=np.zeros_like(rate), where=rate > 0)

    def dt_s(self, step: float) -> float:
        """Seconds of one integration step of ``step`` own-clock units on the fastest clock."""
        return step / self.fastest * self.time_unit_s

    def per_second(self, rate: Array) -> Array:
        """rad / time unit -> rad / s."""
        return rate / self.time_unit_s

    def section(self) -> dict[str, Any]:
        """The plan's words for it."""
        return {
            "fastest_rad_per_s": self.fastest / self.time_unit_s,
            "slowest_rad_per_s": self.slowest / self.time_unit_s,
            "largest_stretch": self.fastest / self.slowest,
        }
