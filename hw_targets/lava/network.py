"""Lowering of network layers: oscillators, their synapses, and the step of each head.

Oscillators are numbered head by head, channel by channel, token by token (padding left out), so the
synapses of a layer are one block-diagonal matrix. Each head has its own clock, the faster of its largest sum
of coupling strengths and its largest frequency in a frame that rotates with the head and channel (the mean
frequency, or that of the first token of a causal layer, which nothing drives).
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hw_targets.lava.fixed_point import FixedPoint
from hw_targets.lava.formats import NumberFormat
from hw_targets.lava.picks import Picked
from hw_targets.lava.program import NetworkProgram
from oscsim.errors import LoweringError
from oscsim.pair_terms import coupling, network_matrix
from oscsim.spec import PhaseLayerSpec

Array = NDArray[np.float64]

# Dense holds and multiplies the whole matrix: 2048^2 synapses take tens of milliseconds per Lava step.
MOST_OSCILLATORS = 2048
# Dense clips weights to 8 bits (signed ones step by two) and accumulates in 32 bits.
DENSE_WEIGHT_BITS = 8
DENSE_ACCUMULATOR = 2**31


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
    if size > MOST_OSCILLATORS:
        fewer = MOST_OSCILLATORS // (channels * count)
        fits = f"{fewer} heads" if fewer else f"one head of {MOST_OSCILLATORS // channels} tokens"
        raise LoweringError(
            f"network of {heads} heads x {channels} channels x {count} tokens = {size} oscillators: the "
            f"Dense process holds at most {MOST_OSCILLATORS}; split it into layers of {fits}"
        )
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


def network_program(net: Network, config: Picked, number_format: NumberFormat, chunk: int) -> NetworkProgram:
    """The network in a number format.

    Raises
    ------
    LoweringError
        a synaptic sum could leave the 32 bits in which Dense accumulates.
    """
    arithmetic = number_format.arithmetic
    theta, drift = arithmetic.from_radians(net.theta), arithmetic.increment(net.drift)
    way = (config.integrator, config.delay_steps, config.synapses)
    if not isinstance(arithmetic, FixedPoint):
        weights = net.matrix * arithmetic.step_lsb
        return NetworkProgram(theta, drift, np.ones_like(net.theta), 0, weights, 8, 24, chunk, *way)
    weights, scale = _mantissas(net.matrix, config.weight_bits)
    most = int(np.abs(weights).sum(axis=1).max(initial=0))
    if most * arithmetic.amplitude >= DENSE_ACCUMULATOR:
        fits = (DENSE_ACCUMULATOR // most).bit_length()
        raise LoweringError(
            f"a row of synapses sums to {most} at weight_bits={config.weight_bits}; with graded spikes of "
            f"payload_bits={config.payload_bits} that could exceed the 32 bits of Dense's accumulator; "
            f"set payload_bits={fits} or less"
        )
    # per step: weight scale, amplitude of the receiving and (after its shift) of the sending sine
    peak = (1 << (arithmetic.payload_bits - 1)) / arithmetic.amplitude
    exact = scale * arithmetic.step_lsb * peak / arithmetic.amplitude
    largest = exact.max(initial=0.0)
    # a coupling so weak that 2^48 of it move no bit is rounded away
    shift = 0 if largest == 0 else min(48, config.parameter_bits - int(np.frexp(largest)[1]))
    gain = np.rint(np.ldexp(exact, shift)).astype(np.int64)
    bits = (config.weight_bits, config.payload_bits)
    return NetworkProgram(theta, drift, gain, shift, weights, *bits, chunk, *way)


def _mantissas(matrix: Array, weight_bits: int) -> tuple[NDArray[np.int64], Array]:
    """Integer weights that Dense keeps as they are, and the value of one unit for each row.

    Dense clips to 8 bits and truncates to ``weight_bits``; with both signs present the lowest bit is the
    sign, so weights are even (lava.utils.weightutils of lava-nc 0.10.0). Every row uses the full range.
    """
    signed = bool((matrix < 0).any() and (matrix > 0).any())
    unit = 1 << (DENSE_WEIGHT_BITS - weight_bits + signed)
    top = (1 << DENSE_WEIGHT_BITS) - unit
    scale = np.abs(matrix).max(axis=1, initial=0.0) / top
    safe = np.where(scale > 0, scale, 1.0)[:, None]
    return unit * np.rint(matrix / (safe * unit)).astype(np.int64), scale
