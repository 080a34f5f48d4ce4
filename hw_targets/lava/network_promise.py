"""What a network may promise: the error of the format and of the step, and that of the layer's own weights.

At rest ``drift_i = sum_j M_ij sin(theta_i - theta_j)``: integer weights change the rate of row i by at most
``sum_j |w_ij - M_ij|``. A comparison allows epsilon times a condition, the growth of a rate relative to the
row's own, ``sum_j |M_ij|``, so a row in which one weight dwarfs many that round to zero promises less.
"""

import re
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from hw_targets.lava.advice import TooCoarse
from hw_targets.lava.fixed_point import FixedPoint
from hw_targets.lava.formats import NumberFormat
from hw_targets.lava.network import Network
from hw_targets.lava.picks import Picked
from hw_targets.lava.program import NetworkProgram
from hw_targets.lava.promises import EXACT_BITS, promise, widest_error
from hw_targets.lava.synapses import integer_weights
from oscsim.tolerance import LARGEST_EPSILON, Accuracy

Array = NDArray[np.float64]


def network_promise(net: Network, program: NetworkProgram, config: Picked, form: NumberFormat) -> Accuracy:
    """Epsilon, averaging error and excluded share of a network; the band is added by the caller.

    Raises
    ------
    LoweringError
        the format, the step or the roundings of this layer's rows could reject nothing.
    """
    accuracy = promise(config, config.weight_bits, form.step, "network")
    if not isinstance(form.arithmetic, FixedPoint):
        return accuracy
    case = (config, EXACT_BITS, "network")
    state = promise(config, EXACT_BITS, form.step, "network").epsilon
    weights, gains = row_errors(net.matrix, program, config, form.arithmetic)
    epsilon = max(accuracy.epsilon, state + weights + gains)
    if epsilon > LARGEST_EPSILON:
        worst = max((gains, "parameter_bits"), (weights, "weight_bits"), (state, widest_error(*case)))[1]
        raise TooCoarse(
            f"number format: a row of this layer loses {weights:.3g} of its coupling to the rounding of its "
            f"weights and {gains:.3g} to that of its gain, so that epsilon would be {epsilon:.3g}, more than "
            f"the {LARGEST_EPSILON} that could still reject a wrong answer; use more {worst}, or "
            "number_format='floating_point'",
            re.split("[ ,]", worst, maxsplit=1)[0],
        )
    return replace(accuracy, epsilon=epsilon)


def row_errors(
    matrix: Array, program: NetworkProgram, config: Picked, arithmetic: FixedPoint
) -> tuple[float, float]:
    """Largest shares of a row's own coupling that its integer weights and the mantissa of its gain lose."""
    size = np.abs(matrix).sum(axis=1)
    some = size > 0
    weights, scale = integer_weights(matrix, config.weight_bits)
    # what a unit of weight is worth per step, the sine's peak included
    unit = np.ldexp(program.gain.astype(np.float64), -program.gain_shift) * float(arithmetic.amplitude)
    kept = unit * arithmetic.amplitude / (1 << (arithmetic.payload_bits - 1)) / arithmetic.step_lsb
    off = np.abs(weights * scale[:, None] - matrix).sum(axis=1)[some] / size[some]
    gain = np.abs(kept[some] / scale[some] - 1.0)
    return float(off.max(initial=0.0)), float(gain.max(initial=0.0))
