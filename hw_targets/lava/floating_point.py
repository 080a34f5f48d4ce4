"""The same oscillator arithmetic in float64: what the fixed-point model approximates."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


@dataclass(frozen=True)
class FloatingPoint:
    """Phases in rad (not wrapped), sines in [-1, 1], parameters in rad per step.

    Parameters
    ----------
    steps_per_turn : own-clock steps per turn.

    >>> FloatingPoint(steps_per_turn=64).amplitude
    1.0
    """

    steps_per_turn: int

    @property
    def amplitude(self) -> float:
        """The number that stands for sine = 1."""
        return 1.0

    @property
    def step_lsb(self) -> float:
        """The own-clock step in units of phase, rad."""
        return 2 * np.pi / self.steps_per_turn

    def sine(self, phase: Array) -> Array:
        """Sine of the phase."""
        return np.sin(phase)

    def cosine(self, phase: Array) -> Array:
        """Cosine of the phase."""
        return np.cos(phase)

    def half(self, increment: Array) -> Array:
        """Half of an increment."""
        return 0.5 * increment

    def moved(self, phase: Array, increment: Array) -> Array:
        """Phase after an increment: the whole of an Euler step."""
        return phase + increment

    def runge_kutta(self, phase: Array, stages: tuple[Array, Array, Array, Array]) -> Array:
        """Phase after one step, ``phase + (k1 + 2 k2 + 2 k3 + k4)/6``."""
        first, second, third, fourth = stages
        return phase + (first + 2.0 * (second + third) + fourth) / 6.0

    def advance(self, phase: Array, sine: Array, mismatch: Array, coupling: Array) -> Array:
        """One Runge-Kutta step of ``psi' = mismatch - coupling sin psi``, both in rad per step."""
        first = mismatch - coupling * sine
        second = mismatch - coupling * np.sin(phase + 0.5 * first)
        third = mismatch - coupling * np.sin(phase + 0.5 * second)
        fourth = mismatch - coupling * np.sin(phase + third)
        return self.runge_kutta(phase, (first, second, third, fourth))

    def euler(self, phase: Array, sine: Array, mismatch: Array, coupling: Array) -> Array:
        """One Euler step of the same equation; arguments as in :meth:`advance`."""
        return phase + (mismatch - coupling * sine)

    def rotation(
        self, phasor: tuple[Array, Array], sums: tuple[Array, Array], gain: Array, gain_shift: int
    ) -> Array:
        """``gain (cos theta_i sum_j w_ij sin theta_j - sin theta_i sum_j w_ij cos theta_j)``, rad per step.

        Arguments as in FixedPoint.rotation.
        """
        return gain * (phasor[0] * sums[1] - phasor[1] * sums[0]) * 2.0**-gain_shift

    def difference(self, after: Array, before: Array) -> Array:
        """``after - before``, rad."""
        return after - before

    def rate(self, own_clock: Array) -> Array:
        """Rad per step of an own-clock rate of magnitude at most 1."""
        return own_clock * self.step_lsb

    def increment(self, own_clock: Array) -> Array:
        """Rad per step of an own-clock rate."""
        return own_clock * self.step_lsb

    def from_radians(self, angle: Array) -> Array:
        """The angle itself."""
        return np.asarray(angle, dtype=np.float64)

    def to_radians(self, phase: Array) -> Array:
        """The phase itself."""
        return phase
