"""What a network may promise: the error of the format and of the step, and that of the layer's own weights.

At rest ``drift_i = sum_j M_ij sin(theta_i - theta_j)``: integer weights change the rate of row i by at most
``sum_j |w_ij - M_ij|``. A comparison allows epsilon times a condition, the growth of a rate relative to the
row's own, ``sum_j |M_ij|``, so a row in which one weight dwarfs many that round to zero promises less.
"""

import re
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from hw_targets.lava.advice import MOST, TooCoarse
from hw_targets.lava.fixed_point import FixedPoint
from hw_targets.lava.formats import NumberFormat
from hw_targets.lava.network import Network
from hw_targets.lava.picks import Picked
from hw_targets.lava.program import NetworkProgram
from hw_targets.lava.promises import EXACT_BITS, promise, widest_error
from hw_targets.lava.synapses import integer_weights, weight_unit
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
    weights, gains = row_errors(net, program, config, form.arithmetic)
    epsilon = max(accuracy.epsilon, state + weights + gains)
    if epsilon > LARGEST_EPSILON:
        worst = max((gains, "parameter_bits"), (weights, "weight_bits"), (state, widest_error(*case)))[1]
        most = worst == "weight_bits" and config.weight_bits == MOST["weight_bits"]
        cure = "its largest weight dwarfs the others; use " if most else f"use more {worst}, or "
        raise TooCoarse(
            f"number format: a row of this layer loses {weights:.3g} of its coupling to the rounding of its "
            f"weights and {gains:.3g} to that of its gain, so that epsilon would be {epsilon:.3g}, more than "
            f"the {LARGEST_EPSILON} that could still reject a wrong answer; {cure}"
            "number_format='floating_point'",
            re.split("[ ,]", worst, maxsplit=1)[0],
        )
    return replace(accuracy, epsilon=epsilon)


def row_errors(
    net: Network, program: NetworkProgram, config: Picked, arithmetic: FixedPoint
) -> tuple[float, float]:
    """Largest shares of a row's own coupling that its integer weights and the mantissa of its gain lose.

    Of two oscillators only the sum of both couplings counts, or their mismatch where that is larger. A
    channel that cannot lock as a whole has no law to compare with, so its rows do not count (an outlier that
    hardly anybody drives, for example).
    """
    weights, scale = integer_weights(net.matrix, config.weight_bits)
    kept = weight_unit(program, arithmetic)
    size = np.abs(net.matrix).sum(axis=1)
    off = np.abs(weights * scale[:, None] - net.matrix).sum(axis=1)
    gain = np.abs(weights).sum(axis=1) * np.abs(kept - scale)
    worst, count = (0.0, 0.0), len(net.valid)
    for here in (slice(start, start + count) for start in range(0, len(size), count)):
        share = _shares(size[here], net.drift[here], net.matrix[here, here])
        worst = (
            max(worst[0], float((off[here] * share).max())),
            max(worst[1], float((gain[here] * share).max())),
        )
    return worst


def _shares(size: Array, drift: Array, matrix: Array) -> Array:
    """What an error of one unit in each row of a channel is relative to what counts; 0 where nothing does."""
    if len(size) == 2:
        # psi' = d - a sin psi: the larger of the two decides, and each row errs by its own part
        larger = max(abs(float(matrix.sum())), abs(float(np.diff(drift)[0])))
        return np.full(2, 2.0 / larger if larger > 0 else 0.0)
    if (drift - size).max() > (drift + size).min():
        return np.zeros(len(size))
    return np.where(size > 0, 1.0 / np.where(size > 0, size, 1.0), 0.0)
