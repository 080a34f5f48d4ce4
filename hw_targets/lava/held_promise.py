"""What a clamped layer with sources as synapses may promise: the error of its own weights, gains and steps.

With the drive ``G = R e^(i Psi)`` of an oscillator, ``x`` its duration in units of R, and ``u`` its initial
distance to the resting point, the phase after the duration changes by

    (1 - g) dPsi + x g sin(u) dR/R ,        g = 1 / (cos^2(u/2) e^x + sin^2(u/2) e^-x)

(the derivative of the flow, docs/spec.md section 3). dPsi and dR/R are known: weights are integers. A
comparison allows epsilon times a condition, so epsilon is the largest such change over that condition.
"""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from hw_targets.lava.advice import TooCoarse
from hw_targets.lava.fixed_point import FixedPoint
from hw_targets.lava.formats import NumberFormat, sine_options
from hw_targets.lava.held import Held, Schedule
from hw_targets.lava.picks import Picked
from hw_targets.lava.program import NetworkProgram
from hw_targets.lava.promises import EXACT_BITS, promise
from hw_targets.lava.synapses import weight_unit
from oscsim.tolerance import CONDITION_CAP, LARGEST_EPSILON, Accuracy, lost_bits

Array = NDArray[np.float64]

# Own-clock units over which a lost rate adds up, as in oscsim.tolerance.fixed_point_epsilon.
UNITS = 4.0


def held_promise(
    these: Held, plan: Schedule, program: NetworkProgram, config: Picked, number_format: NumberFormat
) -> Accuracy:
    """Epsilon of the format and of the step, and those of the layer's own weights and slow oscillators.

    Raises
    ------
    LoweringError
        together they could reject nothing.
    """
    accuracy = promise(config, EXACT_BITS, number_format.step, "clamped")
    if not isinstance(number_format.arithmetic, FixedPoint):
        return accuracy
    weights = coefficient_error(these, plan, program, number_format.arithmetic)
    slow = slow_error(plan, config)
    epsilon = accuracy.epsilon + weights + slow
    if epsilon > LARGEST_EPSILON:
        options = ("phase_bits",) if slow > weights else ("weight_bits", "parameter_bits")
        raise TooCoarse(
            f"number format: epsilon would be {epsilon:.3g}, more than the {LARGEST_EPSILON} that could "
            f"still reject a wrong answer; use more {' or '.join(options)}, or held_sources='folded'",
            *options,
        )
    return replace(accuracy, epsilon=epsilon)


def coefficient_error(these: Held, plan: Schedule, program: NetworkProgram, arithmetic: FixedPoint) -> float:
    """Largest phase error per condition that the integer weights and gains make."""
    count = len(these.free)
    exact = these.drive
    moving = (plan.pace > 0) & (np.abs(exact) > 0)
    unit = weight_unit(program, arithmetic)
    signed = np.where(moving, plan.pace * np.sign(these.rate), 1.0)
    kept = program.weights[:count, count:] @ np.exp(1j * these.sources) * unit[:count] / signed
    change = np.where(moving, kept / np.where(moving, exact, 1.0) - 1.0, 0.0)
    strength = np.abs(exact)
    growth = _growth(these.start, these.time * strength)
    with np.errstate(invalid="ignore"):
        timing = np.where(growth > 0, these.time * strength * np.abs(np.sin(these.start)) * growth, 0.0)
    error = np.abs(1.0 - growth) * np.abs(np.imag(change)) + timing * np.abs(np.real(change))
    condition = np.maximum(np.maximum(1.0 / np.where(moving, strength, 1.0), growth), 1.0)
    return float(np.where(condition <= CONDITION_CAP, error / condition, 0.0).max(initial=0.0))


def slow_error(plan: Schedule, config: Picked) -> float:
    """Phase that roundings take from oscillators that make smaller steps than the fastest one, rad."""
    pace = plan.pace[plan.pace > 0]
    units = UNITS * config.steps_per_turn / (2 * np.pi)
    steps = np.minimum(plan.steps, units / pace).max(initial=0.0)
    _, to_nearest = sine_options(config)
    return float(lost_bits(to_nearest) * max(steps - units, 0.0) * 2 * np.pi / 2.0**config.phase_bits)


def _growth(start: Array, time: Array) -> Array:
    """Growth of an initial distance over a time in units of the pull; 0 after an infinite one."""
    half = start / 2
    with np.errstate(over="ignore"):
        # an exponent of 700 is the largest that float64 holds
        grown = np.exp(np.minimum(time, 700.0))
    return np.where(np.isinf(time), 0.0, 1.0 / (np.cos(half) ** 2 * grown + np.sin(half) ** 2 / grown))
