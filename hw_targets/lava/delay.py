"""What a delay of one step between oscillators costs, against the law without one (docs/targets/lava.md)."""

from dataclasses import replace

import numpy as np

from hw_targets.lava.network import Network
from oscsim.errors import LoweringError
from oscsim.tolerance import LARGEST_AVERAGING_ERROR, LARGEST_EPSILON, Accuracy


def delayed(accuracy: Accuracy, net: Network, mask: str, step: float) -> Accuracy:
    """The promise of a network whose spikes arrive one step late, against the law without a delay.

    With every oscillator turning at one rate W, sources lag by W h: each rate is off by that share. In a
    frame of the mean frequency ``N W = sum_{i<j} (M_ij - M_ji) sin(theta_j - theta_i)``, so W = 0 where
    couplings are even; in the frame of an undriven first token W = 0. Where two oscillators do not lock,
    ``psi' (1 - (a h/2) cos psi) = d - a sin psi``: a bias as large as that of an Euler step, of its sign.

    Raises
    ------
    LoweringError
        the step is so long that the promise could reject nothing.
    """
    lag, bias = _lag(net, mask, step)
    epsilon, average = accuracy.epsilon + lag, 2.0 * accuracy.averaging_error + bias
    if epsilon > LARGEST_EPSILON or average > LARGEST_AVERAGING_ERROR:
        raise LoweringError(
            f"delay_steps: a delay of one step of {step:.3g} on the own clock shifts resting phases by up to "
            f"{epsilon:.3g} (of at most {LARGEST_EPSILON}) and averages by up to {average:.3g} (of at most "
            f"{LARGEST_AVERAGING_ERROR}); use more steps_per_turn"
        )
    return replace(accuracy, epsilon=epsilon, averaging_error=average)


def _lag(net: Network, mask: str, step: float) -> tuple[float, float]:
    """How far a common rotation shifts resting rates, and the average of two oscillators that do not lock.

    Two oscillators obey ``psi' = d - a sin psi + (M_10 - M_01) W h cos psi`` with W h their lag: where
    couplings of opposite signs nearly cancel in a, the lag counts for more, by their difference over a.
    """
    count = len(net.valid)
    if mask == "causal" or count < 2:
        return 0.0, 0.0
    lag = bias = 0.0
    for start in range(0, len(net.theta), count):
        here = slice(start, start + count)
        uneven = net.matrix[here, here] - net.matrix[here, here].T
        shift = step * float(np.abs(uneven).sum()) / (2 * count) / (1.0 - min(step, 0.5))
        if count == 2:
            apart, together = abs(uneven[0, 1]), abs(float(net.matrix[here, here].sum()))
            distance = abs(float(np.diff(net.drift[here])[0]))
            if apart > together:
                # 1e-9: couplings that cancel have no law without a delay
                shift *= apart / max(together, 1e-9)
                bias = max(bias, step * apart**2 / distance if distance > together else 0.0)
        lag = max(lag, shift)
    return lag, bias
