"""Synaptic sums: what a row of weights adds up to, in how many bits, and what fits when it does not."""

import numpy as np
from numpy.typing import NDArray

from hw_targets.lava.chip import chip_of
from hw_targets.lava.config import LavaConfig
from hw_targets.lava.formats import sine_options
from hw_targets.lava.synapses import integer_weights
from oscsim.errors import LoweringError
from oscsim.pair_terms import coupling, unmasked
from oscsim.spec import PhaseLayerSpec
from oscsim.tolerance import LARGEST_EPSILON, fixed_point_epsilon

Array = NDArray[np.float64]

# Dense and Sparse add up in 32 bits, whatever the chip.
LAVA_SUM_BITS = 32
PAYLOADS = range(4, 25)
FEWEST_WEIGHT_BITS = 3


def sum_bits(config: LavaConfig) -> int:
    """Signed width of a synaptic sum: a state of a chip's neuron, else what Lava adds up in."""
    chip = chip_of(config)
    return chip.state_bits if chip else LAVA_SUM_BITS


def payload_that_fits(row_sum: int, bits: int) -> int:
    """The widest payload with which weights of magnitudes ``row_sum`` in all add up to at most ``bits`` bits.

    >>> payload_that_fits(765, 24), payload_that_fits(257, 32)
    (14, 23)
    """
    amplitude = ((1 << (bits - 1)) - 1) // max(row_sum, 1)
    return (amplitude + 1).bit_length()


def checked_row_sum(spec: PhaseLayerSpec, matrix: Array, config: LavaConfig) -> int:
    """The largest sum of magnitudes of a row of integer weights.

    Raises
    ------
    LoweringError
        the given payload makes synaptic sums too wide, or every payload that a promise can be made with.
    """
    most, bits = row_sum(matrix, config.weight_bits), sum_bits(config)
    fits = payload_that_fits(most, bits)
    needed = _narrowest_payload(config)
    if fits < needed or fits < (config.payload_bits or 0):
        chip = chip_of(config)
        limit = f"a state on {chip.name}" if chip else "Lava's accumulator"
        raise LoweringError(
            f"a row of synapses sums to {most} at weight_bits={config.weight_bits}; with graded spikes of "
            f"payload_bits={config.payload_bits or needed} that could exceed the {bits} bits of {limit}; "
            + (
                f"set payload_bits={fits} or less"
                if fits >= needed
                else _smaller(spec, matrix, config, needed)
            )
        )
    return most


def row_sum(matrix: Array, weight_bits: int) -> int:
    """The largest sum of magnitudes of a row of integer weights."""
    return int(np.abs(integer_weights(matrix, weight_bits)[0]).sum(axis=1).max(initial=0))


def _narrowest_payload(config: LavaConfig) -> int:
    """The narrowest payload whose sine alone leaves a promise that could reject something."""
    interpolated, to_nearest = sine_options(config)
    for payload in PAYLOADS:
        epsilon = fixed_point_epsilon(
            64,
            config.phase_bits,
            config.sine_bits,
            payload,
            16,
            interpolated=interpolated,
            to_nearest=to_nearest,
        )
        if epsilon <= LARGEST_EPSILON:
            return payload
    # hopeless for another reason, which the promise names
    return PAYLOADS[0]


def _smaller(spec: PhaseLayerSpec, matrix: Array, config: LavaConfig, payload: int) -> str:
    """What lets sums of spikes of this payload fit: fewer weight bits, or fewer tokens; found by trying."""
    for weight_bits in range(config.weight_bits - 1, FEWEST_WEIGHT_BITS - 1, -1):
        fits = payload_that_fits(row_sum(matrix, weight_bits), sum_bits(config))
        if fits >= payload and 2.0 * 2.0**-weight_bits <= LARGEST_EPSILON:
            given = "" if config.payload_bits in (None, payload) else f" and payload_bits={payload}"
            return f"set weight_bits={weight_bits}{given}"
    j, valid, bits = (
        np.where(unmasked(spec), coupling(spec), 0.0),
        np.flatnonzero(spec.valid),
        sum_bits(config),
    )
    if spec.dynamics == "network":
        j[:, valid, valid] = 0.0

    def fit(count: int) -> bool:
        block = j[:, valid[:count, None], valid[None, :count]]
        most = row_sum(block.reshape(-1, count), config.weight_bits)
        return payload_that_fits(most, bits) >= payload

    low, high = 1, len(valid)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if fit(middle) else (low, middle)
    return f"split the layer into layers of {low} tokens (the first {low} fit), or set chip='none'"
