"""What a run in a number format and with an integrator may promise; a format too coarse is refused."""

import re
from typing import Literal

from hw_targets.lava.advice import TooCoarse
from hw_targets.lava.duration import RELATIVE
from hw_targets.lava.formats import sine_options
from hw_targets.lava.picks import Picked
from oscsim.tolerance import (
    EXCLUDED_SHARE,
    EXCLUDED_SHARE_FIXED_POINT,
    LARGEST_AVERAGING_ERROR,
    LARGEST_EPSILON,
    Accuracy,
    euler_mean_epsilon,
    euler_moment_epsilon,
    fixed_point_epsilon,
    largest_euler_bias,
    lost_bits,
    rk4_epsilon,
    sine_table_error,
)

Dynamics = Literal["pair", "network", "clamped"]

# Coefficient bits that stand for a format's own error, without that of any coefficient.
EXACT_BITS = 64


def promise(config: Picked, coefficient_bits: int, step: float, dynamics: Dynamics) -> Accuracy:
    """Epsilon, averaging error and excluded share of a run; the band is added by the caller.

    Parameters
    ----------
    coefficient_bits : a coefficient is off by at most 2^-coefficient_bits of full scale.
    step : integration step on the fastest own clock.
    dynamics : a clamped layer is read at a given moment, which a step shifts; others at rest or on average.

    Raises
    ------
    LoweringError
        the format or the step is so coarse that its tolerance could reject nothing.
    """
    epsilon, average, in_step = _errors(config, coefficient_bits, step, dynamics)
    share = EXCLUDED_SHARE_FIXED_POINT if config.number_format == "fixed_point" else EXCLUDED_SHARE
    if average > LARGEST_AVERAGING_ERROR:
        raise TooCoarse(
            f"integrator: the mean of an unlocked cell would be off by up to {average:.3g} of its coupling, "
            f"more than the {LARGEST_AVERAGING_ERROR} that could still reject a wrong answer; use more "
            "steps_per_turn",
            "steps_per_turn",
        )
    if epsilon > LARGEST_EPSILON:
        coarse_step = in_step > LARGEST_EPSILON / 2
        advice = "steps_per_turn" if coarse_step else widest_error(config, coefficient_bits, dynamics)
        raise TooCoarse(
            f"number format: epsilon would be {epsilon:.3g}, more than the {LARGEST_EPSILON} that could "
            f"still reject a wrong answer; use more {advice}",
            re.split("[ ,]", advice, maxsplit=1)[0],
        )
    return Accuracy(epsilon, averaging_error=average, excluded_share=share)


def _errors(
    config: Picked, coefficient_bits: int, step: float, dynamics: Dynamics
) -> tuple[float, float, float]:
    """Epsilon, error of the mean of an unlocked cell, and the part of epsilon that is the step's."""
    in_step, average = step_errors(config, step, dynamics)
    if config.number_format == "floating_point":
        return in_step, average, in_step
    interpolated, to_nearest = sine_options(config)
    bits = (coefficient_bits, config.phase_bits, config.sine_bits, config.payload_bits)
    rounding = fixed_point_epsilon(
        *bits, config.steps_per_turn, interpolated=interpolated, to_nearest=to_nearest
    )
    # a Runge-Kutta step is far finer than the format, or far coarser; an Euler step may be neither
    together = max(in_step, rounding) if config.integrator == "runge_kutta" else in_step + rounding
    return together, average, in_step


def step_errors(config: Picked, step: float, dynamics: Dynamics) -> tuple[float, float]:
    """Epsilon of an integration step, and the error of the mean of an unlocked cell."""
    if config.integrator == "runge_kutta":
        return rk4_epsilon(step), 0.0
    if dynamics == "clamped":
        return euler_moment_epsilon(step), 0.0
    if dynamics == "network":
        step *= RELATIVE
    return euler_mean_epsilon(step), largest_euler_bias(step)


def lost_phase(config: Picked) -> float:
    """What roundings of phases take, in units of epsilon (oscsim.tolerance.fixed_point_epsilon)."""
    _, to_nearest = sine_options(config)
    return 4.0 * lost_bits(to_nearest) * config.steps_per_turn / 2.0**config.phase_bits


def widest_error(config: Picked, coefficient_bits: int, dynamics: Dynamics) -> str:
    """Which option of a fixed-point format to widen: the one with the largest share of the error."""
    interpolated, to_nearest = sine_options(config)
    payload = sine_table_error(64, config.payload_bits, interpolated=interpolated, to_nearest=to_nearest)
    sine = sine_table_error(config.sine_bits, 64, interpolated=interpolated)
    error = {
        "sine_bits" if interpolated else "sine_bits, or interpolation='linear'": 2.0 * sine,
        "payload_bits": 2.0 * payload,
        "phase_bits, or fewer steps_per_turn": lost_phase(config),
        "weight_bits" if dynamics == "network" else "parameter_bits": 2.0**-coefficient_bits,
    }
    return max(error, key=lambda name: error[name])
