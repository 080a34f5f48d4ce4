"""What a network may promise: the error of the format and of the step, and that of the layer's own weights.

At rest ``drift_i = sum_j M_ij sin(theta_i - theta_j)``: integer weights change the rate of row i by at most
``sum_j |w_ij - M_ij|``. A comparison allows epsilon times a condition, the growth of a rate relative to the
row's own, ``sum_j |M_ij|``, so a row in which one weight dwarfs many that round to zero promises less.
"""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from hw_targets.lava.fixed_point import FixedPoint
from hw_targets.lava.formats import NumberFormat
from hw_targets.lava.network import Network
from hw_targets.lava.picks import Picked
from hw_targets.lava.program import NetworkProgram
from hw_targets.lava.promises import EXACT_BITS, promise
from oscsim.errors import LoweringError
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
    state = promise(config, EXACT_BITS, form.step, "network").epsilon
    rows = row_error(net.matrix, program, form.arithmetic)
    epsilon = max(accuracy.epsilon, state + rows)
    if epsilon > LARGEST_EPSILON:
        raise LoweringError(
            f"weight_bits: given {config.weight_bits}, but a row of this layer loses {rows:.3g} of its "
            f"coupling to rounding, so that epsilon would be {epsilon:.3g}, more than the {LARGEST_EPSILON} "
            "that could still reject a wrong answer: its largest weight dwarfs the others; use "
            "number_format='floating_point', or split that weight over several oscillators"
        )
    return replace(accuracy, epsilon=epsilon)


def row_error(matrix: Array, program: NetworkProgram, arithmetic: FixedPoint) -> float:
    """Largest share of a row's own coupling by which its integer weights, times its gain, are off."""
    unit = program.gain * np.ldexp(float(arithmetic.amplitude), -program.gain_shift)
    unit = unit * arithmetic.amplitude / (1 << (arithmetic.payload_bits - 1)) / arithmetic.step_lsb
    off = np.abs(program.weights * unit[:, None] - matrix).sum(axis=1)
    size = np.abs(matrix).sum(axis=1)
    return float(np.where(size > 0, off / np.where(size > 0, size, 1.0), 0.0).max(initial=0.0))
