"""Phase noise of a cell on its way: the linearised variance along the exact flow, from an exact start.

``psi' = d - a sin psi``: with s the resting and u = pi - s the unstable point,
``w = sin((psi-s)/2)/sin((psi-u)/2)`` decays like ``exp(-lambda t)`` [ADLER] and
``dw/dpsi = -q(w)/(2 cos s)``, ``q = 1 - 2 w sin s + w^2``. So a deviation decays in w alone, and
``V(T) = q(w_T)^-2 int_0^T e^{-2 lambda (T-t)} q(w_t)^2 dt`` per kappa^2: five exponentials.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

# Standard deviations between a start and the unstable point, beyond which noise may send a cell another way.
_AWAY = 4.0
# Stands for an infinite w, on the unstable point; its fourth power is a number.
_INFINITE = 1e60


@dataclass(frozen=True, eq=False)
class Flow:
    """What locked cells do from their start on; arrays of one shape.

    Parameters
    ----------
    sine : sin s = d/|a|, below 1. rate : lambda, 1 / time unit; NaN where there is no noise to tell.
    start : psi_0 where a > 0 (else psi_0 + pi), rad.

    >>> rest = Flow(np.zeros(1), np.ones(1), np.zeros(1))
    >>> rest.variance(np.array([50.0])).round(9).tolist()
    [0.5]
    """

    sine: Array
    rate: Array
    start: Array

    def variance(self, ran: Array) -> Array:
        """V(T) per kappa^2, time units: ``(1 - exp(-2 lambda T))/(2 lambda)`` of a start at rest."""
        with np.errstate(invalid="ignore", over="ignore", under="ignore"):
            return self._variance(self._start, np.asarray(ran, dtype=np.float64))

    def basin(self, ran: Array) -> Array:
        """Variance at T, rad^2, at which a start is 4 standard deviations from going the other way round.

        Infinite for starts nearer to rest than to the unstable point (|w| <= 1). Near that point it is 1/w
        that noise adds to, until |w| = 1 (or T): its relative spread there is 1/4.
        """
        w, ran = self._start, np.asarray(ran, dtype=np.float64)
        with np.errstate(invalid="ignore", divide="ignore", over="ignore", under="ignore"):
            far = np.abs(w) > 1.0
            left = np.minimum(np.log(np.where(far, np.abs(w), 1.0)) / self.rate, ran)
            there = w * np.exp(-self.rate * left)
            cosine = np.sqrt((1.0 - self.sine) * (1.0 + self.sine))
            spread = self._q(there) / (2.0 * cosine * np.abs(there)) * _AWAY
            grown = self._variance(w, ran) / self._variance(w, left)
            return np.where(far & np.isfinite(self.rate), grown / np.square(spread), np.inf)

    @property
    def _start(self) -> Array:
        rest = np.arcsin(np.clip(self.sine, 0.0, 1.0))
        off = np.sin((self.start - np.pi + rest) / 2.0)
        with np.errstate(invalid="ignore", divide="ignore"):
            w = np.sin((self.start - rest) / 2.0) / off
        return np.clip(np.where(off == 0.0, _INFINITE, w), -_INFINITE, _INFINITE)

    def _q(self, w: Array) -> Array:
        return 1.0 - 2.0 * w * self.sine + w * w

    def _variance(self, w: Array, ran: Array) -> Array:
        x, c = self.rate * ran, self.sine
        y = w * np.exp(-x)
        once, twice = -np.expm1(-x), -np.expm1(-2.0 * x) / 2.0
        total = twice - 4.0 * c * y * once + (2.0 + 4.0 * c * c) * y * y * x
        total = total - 4.0 * c * y * y * w * once + np.square(y * w) * twice
        return np.maximum(total, 0.0) / (self.rate * np.square(self._q(y)))
