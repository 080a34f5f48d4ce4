"""Number formats: which arithmetic a configuration means, and what it resolves."""

from dataclasses import dataclass

import numpy as np

from hw_targets.lava.config import LavaConfig
from hw_targets.lava.fixed_point import FixedPoint
from hw_targets.lava.floating_point import FloatingPoint
from hw_targets.lava.picks import Picked
from oscsim.tolerance import (
    EXCLUDED_SHARE,
    EXCLUDED_SHARE_FIXED_POINT,
    SETTLE_RESIDUAL,
    lost_bits,
    sine_table_error,
)

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
    interpolated, to_nearest = sine_options(config)
    table = sine_table_error(
        config.sine_bits, config.payload_bits, interpolated=interpolated, to_nearest=to_nearest
    )
    lost = lost_bits(to_nearest) * config.steps_per_turn / integers.turn
    # half an interval of the sine table; where entries are not interpolated the sine jumps by twice that
    half_interval = np.pi / 2**config.sine_bits
    jump = 0.0 if interpolated else 2.0 * half_interval
    cut = 1.0 if to_nearest else 2.0
    return NumberFormat(
        integers,
        "fixed_pt",
        step,
        # what a rate loses, and two least significant bits of the sine payload (entry, interpolation)
        residual=lost + 2.0 ** (2 - config.payload_bits) + jump,
        # a mantissa, the sine, and what a rate loses
        resolution=2.0 ** -(config.parameter_bits + 1) + table + lost,
        # nor does a sine move anything that rounds to zero
        nearest=cut * NEAREST_LSB * config.steps_per_turn / 64 * 2 * np.pi / integers.turn
        + cut * 2.0**-config.payload_bits
        + jump / 2,
        # a chord of the table has the slope of the cosine somewhere within the step it spans
        slope=half_interval,
        excluded_share=EXCLUDED_SHARE_FIXED_POINT,
    )


def sine_options(config: LavaConfig) -> tuple[bool, bool]:
    """Whether sines are interpolated, and whether products are rounded to nearest."""
    return config.interpolation == "linear", config.rounding == "nearest"
