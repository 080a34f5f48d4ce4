"""The integer arithmetic of a phase oscillator: wrapping phase, sine table, one Runge-Kutta or Euler step.

A phase is an integer in [0, 2^phase_bits), a full turn is 2^phase_bits, so wrapping is free. A sine is an
integer of magnitude at most ``amplitude``. All sums are exact; the right shift of a product rounds as
``rounding`` says (docs/targets/lava_arithmetic.md, to the last bit). Arrays are int64 here; the widest
intermediate has ``accumulator_bits`` bits.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.int64]

# 2^24 / 6: the Runge-Kutta sum is divided by six with one multiplication and one shift.
SIXTH_BITS = 24
SIXTH = round(2**SIXTH_BITS / 6)


Rounding = Literal["nearest", "floor", "toward_zero"]
Interpolation = Literal["linear", "nearest"]


def shift_right(value: Integers, bits: int, rounding: Rounding = "nearest") -> Integers:
    """``value / 2^bits``, rounded to nearest (halves up), down, or toward zero; a negative count shifts left.

    >>> shift_right(np.array([5, 6, -6, 7]), 2).tolist()
    [1, 2, -1, 2]
    >>> shift_right(np.array([7, -7]), 2, "floor").tolist()
    [1, -2]
    >>> shift_right(np.array([7, -7]), 2, "toward_zero").tolist()
    [1, -1]
    """
    if bits <= 0:
        return value << -bits
    if rounding == "nearest":
        return (value + (1 << (bits - 1))) >> bits
    if rounding == "floor":
        return value >> bits
    return np.sign(value) * (np.abs(value) >> bits)


@dataclass(frozen=True)
class FixedPoint:
    """One number format and the arithmetic in it.

    Parameters
    ----------
    phase_bits, sine_bits, payload_bits, parameter_bits, interpolation, rounding : as in LavaConfig.
    steps_per_turn : own-clock steps per turn, a power of two.

    >>> tiny = FixedPoint(phase_bits=12, sine_bits=3, payload_bits=8, parameter_bits=4, steps_per_turn=16)
    >>> tiny.sine(np.array([0, 256, 512, 1024, 3072])).tolist()
    [0, 45, 90, 127, -127]
    """

    phase_bits: int
    sine_bits: int
    payload_bits: int
    parameter_bits: int
    steps_per_turn: int
    interpolation: Interpolation = "linear"
    rounding: Rounding = "nearest"

    @property
    def turn(self) -> int:
        """Least significant bits of a full turn."""
        return 1 << self.phase_bits

    @property
    def amplitude(self) -> int:
        """The integer that stands for sine = 1."""
        return (1 << (self.payload_bits - 1)) - 1

    @property
    def step_lsb(self) -> int:
        """The own-clock step in least significant bits of phase."""
        return self.turn // self.steps_per_turn

    @property
    def full_scale(self) -> int:
        """The parameter mantissa that stands for a rate of about one step per step."""
        return 1 << self.parameter_bits

    @property
    def rate_shift(self) -> int:
        """Right shift from (mantissa times payload) to least significant bits of phase per step."""
        step_bits = self.phase_bits - (self.steps_per_turn.bit_length() - 1)
        return self.parameter_bits + self.payload_bits - 1 - step_bits

    @property
    def accumulator_bits(self) -> int:
        """Signed width of the widest intermediate: two products of mantissa and payload."""
        return self.parameter_bits + self.payload_bits + 2

    @cached_property
    def table(self) -> Integers:
        """One turn of sine, 2^sine_bits entries and the first one again."""
        angle = 2 * np.pi * np.arange((1 << self.sine_bits) + 1) / (1 << self.sine_bits)
        return np.rint(self.amplitude * np.sin(angle)).astype(np.int64)

    def sine(self, phase: Integers) -> Integers:
        """Sine of wrapped or unwrapped phases: between two entries of the table, or the nearest entry."""
        rest_bits = self.phase_bits - self.sine_bits
        wrapped = phase & (self.turn - 1)
        if self.interpolation == "nearest":
            return self.table[shift_right(wrapped, rest_bits)]
        index = wrapped >> rest_bits
        left = self.table[index]
        rise = (self.table[index + 1] - left) * (wrapped & ((1 << rest_bits) - 1))
        return left + self.product(rise, rest_bits)

    def cosine(self, phase: Integers) -> Integers:
        """Cosine: the sine a quarter turn ahead."""
        return self.sine(phase + (self.turn >> 2))

    def product(self, value: Integers, bits: int) -> Integers:
        """A product, shifted right and rounded as the format says."""
        return shift_right(value, bits, self.rounding)

    def half(self, increment: Integers) -> Integers:
        """Half of an increment, rounded to nearest in every mode, like the sixth."""
        return shift_right(increment, 1)

    def moved(self, phase: Integers, increment: Integers) -> Integers:
        """Phase after an increment, wrapped: the whole of an Euler step."""
        return (phase + increment) & (self.turn - 1)

    def runge_kutta(self, phase: Integers, stages: tuple[Integers, Integers, Integers, Integers]) -> Integers:
        """Phase after one step, ``phase + (k1 + 2 k2 + 2 k3 + k4)/6``, wrapped."""
        first, second, third, fourth = stages
        total = first + ((second + third) << 1) + fourth
        return (phase + shift_right(total * SIXTH, SIXTH_BITS)) & (self.turn - 1)

    def advance(self, phase: Integers, sine: Integers, mismatch: Integers, coupling: Integers) -> Integers:
        """One Runge-Kutta step of ``psi' = mismatch - coupling sin psi``, wrapped.

        ``sine`` is that of the given phase; mismatch and coupling are mantissas, as :meth:`rate` makes them.
        """
        drift = mismatch * self.amplitude

        def rate(value: Integers) -> Integers:
            return self.product(drift - coupling * value, self.rate_shift)

        first = rate(sine)
        second = rate(self.sine(phase + self.half(first)))
        third = rate(self.sine(phase + self.half(second)))
        fourth = rate(self.sine(phase + third))
        return self.runge_kutta(phase, (first, second, third, fourth))

    def euler(self, phase: Integers, sine: Integers, mismatch: Integers, coupling: Integers) -> Integers:
        """One Euler step of the same equation, wrapped; arguments as in :meth:`advance`."""
        moved = self.product(mismatch * self.amplitude - coupling * sine, self.rate_shift)
        return (phase + moved) & (self.turn - 1)

    def rotation(
        self,
        phasor: tuple[Integers, Integers],
        sums: tuple[Integers, Integers],
        gain: Integers,
        gain_shift: int,
    ) -> Integers:
        """``gain (cos theta_i sum_j w_ij sin theta_j - sin theta_i sum_j w_ij cos theta_j)``, per step.

        Parameters
        ----------
        phasor : (cos, sin) of the oscillators; sums : the two synaptic sums, of cosines and of sines.
        gain, gain_shift : mantissa and right shift from weight times payload to bits of phase per step.
        """
        drive = phasor[0] * sums[1] - phasor[1] * sums[0]
        return self.product(gain * self.product(drive, self.payload_bits - 1), gain_shift)

    def difference(self, after: Integers, before: Integers) -> Integers:
        """``after - before`` as a signed number of least significant bits."""
        half = self.turn >> 1
        return ((after - before + half) & (self.turn - 1)) - half

    def rate(self, own_clock: NDArray[np.float64]) -> Integers:
        """Parameter mantissa of an own-clock rate of magnitude at most 1.

        The peak of the sine table is one below a power of two; the mantissas make up for it, so that a
        rate of one is one step per step to a part in 2^(payload + parameter bits).
        """
        peak = (1 << (self.payload_bits - 1)) / self.amplitude
        return np.rint(own_clock * (peak * self.full_scale)).astype(np.int64)

    def increment(self, own_clock: NDArray[np.float64]) -> Integers:
        """Least significant bits of phase per step of an own-clock rate."""
        return np.rint(own_clock * self.step_lsb).astype(np.int64)

    def from_radians(self, angle: NDArray[np.float64]) -> Integers:
        """Nearest phase of an angle in rad."""
        return np.rint(np.mod(angle / (2 * np.pi), 1.0) * self.turn).astype(np.int64) & (self.turn - 1)

    def to_radians(self, phase: NDArray[np.float64]) -> NDArray[np.float64]:
        """Angle in rad of a number of least significant bits."""
        return phase * (2 * np.pi / self.turn)
