"""Lowering of network layers: oscillators, their synapses, and the step of each head.

Oscillators are numbered head by head, channel by channel, token by token (padding left out), so the
synapses of a layer are one block-diagonal matrix. Each head has its own clock, the faster of its largest sum
of coupling strengths and its largest frequency in a frame that rotates with the head and channel (the mean
frequency, or that of the first token of a causal layer, which nothing drives).
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hw_targets.lava.formats import NumberFormat
from hw_targets.lava.picks import Picked
from hw_targets.lava.program import NetworkProgram
from hw_targets.lava.synapses import Oscillators, oscillator_program
from oscsim.errors import LoweringError
from oscsim.pair_terms import coupling, network_matrix
from oscsim.spec import PhaseLayerSpec

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


def network_program(net: Network, config: Picked, number_format: NumberFormat, chunk: int) -> NetworkProgram:
    """The network in a number format; raises as :func:`hw_targets.lava.synapses.oscillator_program`."""
    # synapses exist within a head and channel
    wired = np.full(len(net.theta), len(net.valid), dtype=np.int64)
    these = Oscillators(net.theta, net.drift, net.matrix, np.ones_like(net.theta), wired)
    return oscillator_program(these, config, number_format, chunk)
