"""Number formats: which arithmetic a configuration means, what it resolves, what it may promise."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hw_targets.lava.fixed_point import FixedPoint
from hw_targets.lava.floating_point import FloatingPoint
from hw_targets.lava.picks import Picked
from oscsim.errors import LoweringError
from oscsim.tolerance import (
    EXCLUDED_SHARE,
    EXCLUDED_SHARE_FIXED_POINT,
    LARGEST_EPSILON,
    SETTLE_RESIDUAL,
    Accuracy,
    fixed_point_epsilon,
    rk4_epsilon,
    sine_table_error,
)

Array = NDArray[np.float64]

# Least significant bits of phase from an unstable point within which a step rounds to no motion (1/64 turn
# per step: half a bit per 0.1 rad).
NEAREST_LSB = 6
# The same for float64: sin(pi) is 1.2e-16.
NEAREST_FLOAT = 1e-16


@dataclass(frozen=True)
class NumberFormat:
    """An arithmetic and its limits.

    Parameters
    ----------
    arithmetic : what the process models compute with.
    tag : how Lava finds the process model ("fixed_pt" or "floating_pt").
    step : own-clock step, dimensionless.
    residual : own-clock rate below which nothing moves any more.
    resolution : how far rounding may shift a ratio d/|a| of a cell's own parameters.
    nearest : smallest distance (rad) from an unstable point that still moves.
    slope : how far the slope of the sine may be from the cosine.
    excluded_share : share of cells that may be inside the edge band.
    """

    arithmetic: FixedPoint | FloatingPoint
    tag: str
    step: float
    residual: float
    resolution: float
    nearest: float
    slope: float
    excluded_share: float


def number_format(config: Picked) -> NumberFormat:
    """The number format of a configuration."""
    step = 2 * np.pi / config.steps_per_turn
    if config.number_format == "floating_point":
        arithmetic = FloatingPoint(config.steps_per_turn)
        return NumberFormat(
            arithmetic, "floating_pt", step, SETTLE_RESIDUAL, 0.0, NEAREST_FLOAT, 0.0, EXCLUDED_SHARE
        )
    integers = FixedPoint(
        config.phase_bits,
        config.sine_bits,
        config.payload_bits,
        config.parameter_bits,
        config.steps_per_turn,
        config.interpolation,
        config.rounding,
    )
    return NumberFormat(
        integers,
        "fixed_pt",
        step,
        # one least significant bit of phase per step, and two of the sine payload (entry, interpolation)
        residual=config.steps_per_turn / integers.turn + 2.0 ** (2 - config.payload_bits),
        # a mantissa, the sine, and a rate of up to one least significant bit of phase per step
        resolution=2.0 ** -(config.parameter_bits + 1)
        + sine_table_error(config.sine_bits, config.payload_bits)
        + config.steps_per_turn / integers.turn,
        # nor does a sine move anything that rounds to zero
        nearest=NEAREST_LSB * config.steps_per_turn / 64 * 2 * np.pi / integers.turn
        + 2.0**-config.payload_bits,
        # a chord of the table has the slope of the cosine somewhere within the step it spans
        slope=np.pi / 2**config.sine_bits,
        excluded_share=EXCLUDED_SHARE_FIXED_POINT,
    )


def promise(config: Picked, coefficient_bits: int, step: float) -> Accuracy:
    """Epsilon and excluded share of a run; the band is added by the caller.

    Parameters
    ----------
    coefficient_bits : a coefficient is off by at most 2^-coefficient_bits of full scale.
    step : Runge-Kutta step on the fastest own clock.

    Raises
    ------
    LoweringError
        the format is so coarse that its tolerance could reject nothing.
    """
    epsilon, share = rk4_epsilon(step), EXCLUDED_SHARE
    if config.number_format == "fixed_point":
        share = EXCLUDED_SHARE_FIXED_POINT
        bits = (config.phase_bits, config.sine_bits, config.payload_bits)
        epsilon = max(epsilon, fixed_point_epsilon(coefficient_bits, *bits, config.steps_per_turn))
    if epsilon > LARGEST_EPSILON:
        coarse_step = rk4_epsilon(step) > LARGEST_EPSILON
        advice = "steps_per_turn" if coarse_step else _widest_error(config, coefficient_bits)
        raise LoweringError(
            f"number format: epsilon would be {epsilon:.3g}, more than the {LARGEST_EPSILON} that could "
            f"still reject a wrong answer; use more {advice}"
        )
    return Accuracy(epsilon, excluded_share=share)


def _widest_error(config: Picked, coefficient_bits: int) -> str:
    """Which option of a fixed-point format to widen: the one with the largest share of the error."""
    error = {
        "sine_bits": (np.pi / 2**config.sine_bits) ** 2,
        "payload_bits": 4.0 * 2.0**-config.payload_bits,
        "phase_bits, or fewer steps_per_turn": 4.0 * config.steps_per_turn / 2.0**config.phase_bits,
        "weight_bits or parameter_bits": 2.0**-coefficient_bits,
    }
    return max(error, key=lambda name: error[name])
