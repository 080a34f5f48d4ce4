"""Lowering of network layers: oscillators, their synapses, and the step of each head.

Oscillators are numbered head by head, channel by channel, token by token (padding left out), so the
synapses of a layer are one block-diagonal matrix. Each head has its own clock, the faster of its largest sum
of coupling strengths and its largest frequency in a frame that rotates with the head and channel (the mean
frequency, or that of the first token of a causal layer, which nothing drives).
"""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from hw_targets.lava.formats import NumberFormat
from hw_targets.lava.picks import Picked
from hw_targets.lava.program import NetworkProgram
from hw_targets.lava.synapses import Oscillators, oscillator_program
from oscsim.errors import LoweringError
from oscsim.pair_terms import coupling, network_matrix
from oscsim.spec import PhaseLayerSpec
from oscsim.tolerance import LARGEST_AVERAGING_ERROR, LARGEST_EPSILON, Accuracy

Array = NDArray[np.float64]

# Dense holds and multiplies the whole matrix: 2048^2 synapses take tens of milliseconds per Lava step.
MOST_OSCILLATORS = 2048


@dataclass(frozen=True, eq=False)
class Network:
    """A network as numbers, before a number format; M = H D N_valid oscillators.

    Parameters
    ----------
    valid : (N_valid,) tokens that take part.
    theta : (M,) initial phases, rad.
    drift : (M,) own-clock frequency in the rotating frame.
    matrix : (M, M) own-clock coupling, diagonal zero (an oscillator does not pull itself).
    frame : (H, D) frequency of the rotating frame, rad / time unit.
    clock : (H,) own-clock units per time unit, 0 for a head in which nothing moves.
    """

    valid: NDArray[np.int64]
    theta: Array
    drift: Array
    matrix: Array
    frame: Array
    clock: Array


def network(spec: PhaseLayerSpec) -> Network:
    """The oscillators and couplings of a network layer.

    Raises
    ------
    LoweringError
        more oscillators than one Dense process holds.
    """
    valid = np.flatnonzero(spec.valid)
    heads, channels, count = spec.n_heads, spec.n_channels, len(valid)
    size = heads * channels * count
    check_size(spec, 1)
    omega = spec.omega[:, valid].transpose(0, 2, 1)
    frame = omega[:, :, 0] if spec.mask == "causal" else omega.mean(axis=2)
    drift = omega - frame[:, :, None]
    matrix = network_matrix(spec, coupling(spec))[:, valid][:, :, valid]
    matrix[:, np.arange(count), np.arange(count)] = 0.0
    clock = np.maximum(np.abs(matrix).sum(axis=2).max(axis=1), np.abs(drift).max(axis=(1, 2)))
    unit = np.where(clock > 0, clock, 1.0)
    blocks = np.zeros((heads, channels, count, heads, channels, count))
    for h in range(heads):
        for c in range(channels):
            blocks[h, c, :, h, c, :] = matrix[h] / unit[h]
    theta = spec.theta[:, valid].transpose(0, 2, 1)
    return Network(
        valid.astype(np.int64),
        theta.reshape(size),
        (drift / unit[:, None, None]).reshape(size),
        blocks.reshape(size, size),
        frame,
        clock,
    )


def check_size(spec: PhaseLayerSpec, populations: int) -> None:
    """Refuse what the processes cannot hold: every head and channel has its own copy of every token.

    Raises
    ------
    LoweringError
        more oscillators than one process of synapses holds; says how many channels, heads or tokens fit.
    """
    heads, channels, tokens = spec.n_heads, spec.n_channels, int(spec.valid.sum())
    size = populations * heads * channels * tokens
    if size <= MOST_OSCILLATORS:
        return
    most = {
        "D": (MOST_OSCILLATORS // (populations * heads * tokens), "channels"),
        "H": (MOST_OSCILLATORS // (populations * channels * tokens), "heads"),
        "N": (MOST_OSCILLATORS // (populations * heads * channels), "tokens"),
    }
    fits = " or ".join(f"{name} <= {number} {what}" for name, (number, what) in most.items() if number)
    raise LoweringError(
        f"{spec.dynamics} layer of H = {heads} heads x D = {channels} channels x N = {tokens} tokens"
        f"{' (free and held)' if populations > 1 else ''} = {size} oscillators, with 2 D N^2 = "
        f"{2 * channels * tokens**2} synapses per head: the processes hold at most {MOST_OSCILLATORS} "
        f"oscillators; what fits is {fits or 'no layer of so many heads and channels'}"
    )


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
    count = max(len(net.valid), 1)
    blocks = net.matrix.reshape(-1, count, net.matrix.shape[1])
    uneven = 0.0
    for place, rows in enumerate(blocks):
        block = rows[:, place * count : (place + 1) * count]
        uneven = max(uneven, float(np.abs(block - block.T).sum()) / (2 * count))
    lag = 0.0 if mask == "causal" else step * uneven / (1.0 - min(step, 0.5))
    epsilon, average = accuracy.epsilon + lag, 2.0 * accuracy.averaging_error
    if epsilon > LARGEST_EPSILON or average > LARGEST_AVERAGING_ERROR:
        raise LoweringError(
            f"delay_steps: a delay of one step of {step:.3g} on the own clock shifts resting phases by up to "
            f"{epsilon:.3g} (of at most {LARGEST_EPSILON}) and averages by up to {average:.3g} (of at most "
            f"{LARGEST_AVERAGING_ERROR}); use more steps_per_turn"
        )
    return replace(accuracy, epsilon=epsilon, averaging_error=average)


def network_program(net: Network, config: Picked, number_format: NumberFormat, chunk: int) -> NetworkProgram:
    """The network in a number format; raises as :func:`hw_targets.lava.synapses.oscillator_program`."""
    # synapses exist within a head and channel
    wired = np.full(len(net.theta), len(net.valid), dtype=np.int64)
    these = Oscillators(net.theta, net.drift, net.matrix, np.ones_like(net.theta), wired)
    return oscillator_program(these, config, number_format, chunk)
