"""Synapses in a number format: integer weights, the gains that undo their scale, and who reaches how many.

A row of weights uses the full width, whatever its largest entry; the mantissa of the row's gain and one
exponent for all rows carry the rest (docs/targets/lava_arithmetic.md).
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hw_targets.lava.fixed_point import FixedPoint
from hw_targets.lava.formats import NumberFormat
from hw_targets.lava.picks import Picked
from hw_targets.lava.program import NetworkProgram
from oscsim.errors import LoweringError

Array = NDArray[np.float64]
Integers = NDArray[np.int64]

# Dense and Sparse clip weights to 8 bits (signed ones step by two).
SYNAPSE_BITS = 8
# A coupling so weak that 2^48 of it move no bit is rounded away.
LARGEST_GAIN_SHIFT = 48


@dataclass(frozen=True, eq=False)
class Oscillators:
    """Oscillators and their couplings as numbers, before a number format; M in all.

    Parameters
    ----------
    theta : (M,) initial phases, rad. drift : (M,) own-clock frequency.
    matrix : (M, M) own-clock coupling of target i (row) to source j.
    pace : (M,) signed factor of an oscillator's whole row, at most 1 in magnitude.
    wired : (M,) targets to which each oscillator has a synapse where every one is stored, zeros too.
    """

    theta: Array
    drift: Array
    matrix: Array
    pace: Array
    wired: Integers


def oscillator_program(
    these: Oscillators, config: Picked, number_format: NumberFormat, chunk: int
) -> NetworkProgram:
    """Oscillators and synapses in a number format.

    Raises
    ------
    LoweringError
        a gain_shift under which gains overflow or vanish.
    """
    arithmetic = number_format.arithmetic
    theta, drift = arithmetic.from_radians(these.theta), arithmetic.increment(these.drift)
    if isinstance(arithmetic, FixedPoint):
        weights, scale = integer_weights(these.matrix, config.weight_bits)
        # per step: weight scale, amplitude of the receiving and (after its shift) of the sending sine
        peak = (1 << (arithmetic.payload_bits - 1)) / arithmetic.amplitude
        unit = scale * arithmetic.step_lsb * peak / arithmetic.amplitude
        gain, shift = _gains(these.pace * unit, config)
        widths = (config.weight_bits, config.payload_bits)
    else:
        weights, gain, shift = these.matrix * arithmetic.step_lsb, these.pace, 0
        widths = (64, 64)
    stored = these.wired if config.synapses == "dense" else np.count_nonzero(weights, axis=0)
    return NetworkProgram(
        theta,
        drift,
        gain,
        shift,
        weights,
        *widths,
        stored.astype(np.int64),
        chunk,
        config.integrator,
        config.delay_steps,
        config.synapses,
    )


def integer_weights(matrix: Array, weight_bits: int) -> tuple[Integers, Array]:
    """Integer weights that Dense and Sparse keep as they are, and the value of one unit for each row.

    With both signs present the lowest bit is the sign, so weights are even (lava.utils.weightutils of
    lava-nc 0.10.0). Weights of fewer bits are smaller numbers, not coarser ones: their sums are narrower and
    leave room for wider spikes.
    """
    signed = bool((matrix < 0).any() and (matrix > 0).any())
    unit = 1 << signed
    top = (1 << weight_bits) - unit
    scale = np.abs(matrix).max(axis=1, initial=0.0) / top
    safe = np.where(scale > 0, scale, 1.0)[:, None]
    return unit * np.rint(matrix / (safe * unit)).astype(np.int64), scale


def weight_unit(program: NetworkProgram, arithmetic: FixedPoint) -> Array:
    """(M,) what one unit of weight is worth per own-clock step under an oscillator's integer gain."""
    unit = np.ldexp(program.gain.astype(np.float64), -program.gain_shift) * float(arithmetic.amplitude)
    # the sine's peak is one below a power of two
    return unit * arithmetic.amplitude / (1 << (arithmetic.payload_bits - 1)) / arithmetic.step_lsb


def _gains(exact: Array, config: Picked) -> tuple[Integers, int]:
    """Mantissas of the gains and their common right shift: the given one, or the finest that fits."""
    largest = np.abs(exact).max(initial=0.0)
    finest = config.parameter_bits - int(np.frexp(largest)[1])
    pick = 0 if largest == 0 else min(LARGEST_GAIN_SHIFT, finest)
    shift = pick if config.gain_shift is None else config.gain_shift
    # a pick is accepted as a given value too, also that of couplings so weak that none is left
    if shift != pick and largest > 0 and not 0 <= finest - shift < config.parameter_bits:
        wrong = "more than parameter_bits can hold" if shift > finest else "all lost to rounding"
        lowest = finest - config.parameter_bits + 1
        raise LoweringError(
            f"gain_shift: given {shift}, but the gains of this layer are then {wrong}; expected "
            f"{lowest} to {min(LARGEST_GAIN_SHIFT, finest)} at parameter_bits={config.parameter_bits}"
        )
    return np.rint(np.ldexp(exact, shift)).astype(np.int64), shift
