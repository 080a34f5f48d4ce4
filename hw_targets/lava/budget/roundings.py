"""What a number format does to a rate and to a phase, as means and variances: uniform rounding, exact dead
bands.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hw_targets.lava.fixed_point import FixedPoint
from hw_targets.lava.formats import NumberFormat
from hw_targets.lava.program import Integrator

Array = NDArray[np.float64]

# Variance of a rounding to nearest, in squared least significant bits.
UNIFORM = 1.0 / 12.0
# Sum of squares of the Runge-Kutta weights 1/6, 1/3, 1/3, 1/6: four roundings that are independent, and four
# errors of one table, whose middle stages meet (nearly) the same entries, as do the last and the next first.
INDEPENDENT_STAGES = 10.0 / 36.0
SHARED_STAGES = 20.0 / 36.0


@dataclass(frozen=True)
class Roundings:
    """Errors of one format and integrator; rates in own-clock units, the rate 1 being one step per step.

    Parameters
    ----------
    step : own-clock step, rad at rate 1.
    rate_lsb : rate of one least significant bit of phase per step.
    phase_lsb : rad. sine_lsb : of the payload. spacing : of the sine table, rad.
    mantissa_lsb : of a parameter. residual : rate that counts as rest.
    integrator, rounding, interpolation : as in LavaConfig.
    """

    step: float
    rate_lsb: float
    phase_lsb: float
    sine_lsb: float
    spacing: float
    mantissa_lsb: float
    residual: float
    integrator: Integrator
    rounding: str
    interpolation: str

    @classmethod
    def of(cls, form: NumberFormat, integrator: Integrator) -> "Roundings":
        """Those of a number format; in floating point only the step is left."""
        numbers = form.arithmetic
        if not isinstance(numbers, FixedPoint):
            return cls(form.step, 0, 0, 0, 0, 0, form.residual, integrator, "nearest", "linear")
        return cls(
            form.step,
            numbers.steps_per_turn / numbers.turn,
            2 * np.pi / numbers.turn,
            1.0 / numbers.amplitude,
            2 * np.pi / 2**numbers.sine_bits,
            2.0**-numbers.parameter_bits,
            form.residual,
            integrator,
            numbers.rounding,
            numbers.interpolation,
        )

    @property
    def stop_below(self) -> float:
        """Largest positive rate that rounds to no motion."""
        return self.rate_lsb * (0.5 if self.rounding == "nearest" else 1.0)

    @property
    def stop_above(self) -> float:
        """Largest negative rate that rounds to no motion, as a positive number; none under floor."""
        return {"nearest": 0.5, "floor": 0.0, "toward_zero": 1.0}[self.rounding] * self.rate_lsb

    def rate_mean(self, rate: Array) -> Array:
        """Mean of the rounding of a rate: half a bit down, or toward zero."""
        share = {"nearest": 0.0 * rate, "floor": -0.5 + 0.0 * rate, "toward_zero": -0.5 * np.sign(rate)}
        return self.rate_lsb * share[self.rounding]

    @property
    def step_variance(self) -> float:
        """Variance of the rate in one step from rounding it: that of every stage, and that of the sixth."""
        stages = INDEPENDENT_STAGES + 1.0 if self.integrator == "runge_kutta" else 1.0
        return UNIFORM * self.rate_lsb**2 * stages

    def table(self, sine: Array, cosine: Array) -> tuple[Array, Array]:
        """Mean and variance of the exact table minus the sine itself, over positions between two entries.

        A chord lies below by ``(spacing^2/2) f (1 - f) sin``, f the position: mean 1/6, variance 1/180 of the
        coefficient. The nearest entry is off by up to half a spacing along the tangent.
        """
        if self.interpolation == "nearest":
            return 0.0 * sine, self.spacing**2 / 12 * cosine**2
        return -(self.spacing**2) / 12 * sine, self.spacing**4 / 720 * sine**2

    @property
    def entry_variance(self) -> float:
        """Of the rounding of table entries: between two independent ones (1-f)^2 + f^2 is 2/3 on average."""
        return UNIFORM * self.sine_lsb**2 * (2.0 / 3.0 if self.interpolation == "linear" else 1.0)

    @property
    def interpolation_variance(self) -> float:
        """Of the rounding of the interpolated sine."""
        return UNIFORM * self.sine_lsb**2 if self.interpolation == "linear" else 0.0

    @property
    def table_share(self) -> float:
        """Part of the variance of one look-up that an error of the table has in a step."""
        return SHARED_STAGES if self.integrator == "runge_kutta" else 1.0

    def fresh(self, rate: Array) -> Array:
        """How much of the table's errors is left when a step of this rate passes less than one interval.

        Errors that are zero on average over an interval cancel when it is sampled often: a jump once per
        interval leaves one part in the number of samples, a kink one in its cube.
        """
        passed = np.minimum(1.0, rate * self.step / self.spacing) if self.spacing else 0.0 * rate
        return passed**3 if self.interpolation == "linear" else passed

    def stage_variance(self, smooth: Array) -> Array:
        """Of the rounded sines of one step, weighted as its stages; ``smooth`` of the entries is left."""
        if self.integrator == "euler":
            return smooth * self.entry_variance + self.interpolation_variance
        return smooth * SHARED_STAGES * self.entry_variance + INDEPENDENT_STAGES * self.interpolation_variance

    def interpolation_mean(self, rising: Array) -> Array:
        """Mean of the same rounding: half a bit down, or toward the entry before."""
        share = {"nearest": 0.0 * rising, "floor": -0.5 + 0.0 * rising, "toward_zero": -0.5 * np.sign(rising)}
        return share[self.rounding] * self.sine_lsb * (self.interpolation == "linear")

    @property
    def mantissa_variance(self) -> float:
        """Of a parameter rounded to nearest, relative to full scale."""
        return UNIFORM * self.mantissa_lsb**2


def step_error(rate: Array, slope: Array, curvature: Array, r: Roundings) -> Array:
    """Error of the rate ``f = x - y sin psi`` that a step of size h follows: backward error analysis.

    Euler: ``-(h/2) f f1``. Runge-Kutta: ``h^4 f (f^3 f4 + 2 f^2 f1 f3 - 6 f^2 f2^2 + 36 f f1^2 f2 - 24
    f1^4) / 2880``, the Taylor series of one step minus that of the flow; for a sine ``f3 = -f1`` and ``f4 =
    -f2``.

    Parameters
    ----------
    rate, slope, curvature : f and its derivatives f1 and f2.
    """
    f, f1, f2 = rate, slope, curvature
    if r.integrator == "euler":
        return -r.step / 2 * f * f1
    inner = -(f**3) * f2 - 2 * f**2 * f1**2 - 6 * f**2 * f2**2 + 36 * f * f1**2 * f2 - 24 * f1**4
    return r.step**4 * f * inner / 2880
