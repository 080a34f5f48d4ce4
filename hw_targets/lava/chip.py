"""What a chip holds, as data, and how much of it a layer takes.

A limit that a layer exceeds is a LoweringError with the smallest change that fits, found by trying it.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hw_targets.lava.config import LavaConfig
from hw_targets.lava.picks import Picked
from oscsim.errors import LoweringError
from oscsim.pair_terms import unmasked
from oscsim.spec import PhaseLayerSpec

Integers = NDArray[np.int64]


@dataclass(frozen=True)
class Chip:
    """Published limits of one chip.

    Parameters
    ----------
    weight_bits, graded_spike_bits, state_bits : widest synapse, spike and state of a neuron.
    state_bytes_per_neuron, synapse_bytes_per_core, neurons_per_core, cores : how much there is.
    sources : where the numbers are published (keys of docs/references.md).
    """

    name: str
    weight_bits: int
    graded_spike_bits: int
    state_bits: int
    state_bytes_per_neuron: int
    synapse_bytes_per_core: int
    neurons_per_core: int
    cores: int
    sources: str

    @property
    def neurons(self) -> int:
        """Neurons of the whole chip."""
        return self.cores * self.neurons_per_core

    @property
    def mesh(self) -> tuple[int, int]:
        """Rows and columns of the most square mesh of so many cores: assumed, what is published is how many.

        >>> LOIHI2.mesh
        (8, 16)
        """
        rows = max(n for n in range(1, math.isqrt(self.cores) + 1) if self.cores % n == 0)
        return rows, self.cores // rows


# As published for Loihi 2, and for what it has kept of Loihi [LOIHI, LOIHI2, ORCHARD: docs/references.md].
LOIHI2 = Chip("loihi2", 8, 32, 24, 4096, 128 * 1024, 8192, 128, "LOIHI, LOIHI2, ORCHARD")
CHIPS = {LOIHI2.name: LOIHI2}

# One synapse of a sparse list also says which neuron of its core it drives.
TARGET_BITS = (LOIHI2.neurons_per_core - 1).bit_length()
# Lava's own limit, chip or not: cells of one process.
MOST_CELLS = 2**20


@dataclass(frozen=True)
class Usage:
    """How much of a chip a layer takes: all over, and on the fullest core."""

    cores: int
    neurons: int
    synapses: int
    synapse_bytes: int
    neurons_per_core: int
    synapse_bytes_per_core: int


def chip_of(config: LavaConfig) -> Chip | None:
    """The chip whose limits hold; floating point belongs to none."""
    return CHIPS.get(config.chip) if config.number_format == "fixed_point" else None


def check_formats(config: Picked) -> None:
    """Refuse a format whose parts are wider than the chip's.

    Raises
    ------
    LoweringError
        names the part, the limit and the widest that fits.
    """
    chip = chip_of(config)
    if chip is None:
        return
    limits = {
        "phase_bits": (config.phase_bits, chip.state_bits, "a state of a neuron"),
        "payload_bits": (config.payload_bits, chip.graded_spike_bits, "a graded spike"),
        "weight_bits": (config.weight_bits, chip.weight_bits, "a synapse"),
        # a rate of one is just above 2^parameter_bits
        "parameter_bits": (config.parameter_bits, chip.state_bits - 1, "a mantissa below its sign"),
    }
    for option, (given, limit, what) in limits.items():
        if given > limit:
            raise LoweringError(
                f"{option}: given {given}, but {what} on {chip.name} has at most {limit} bits; "
                f"set {option}={limit}, or chip='none' to run it in Lava only"
            )


def check_cells(spec: PhaseLayerSpec, config: Picked) -> None:
    """Refuse more pair or clamped cells than the chip has neurons, or one Lava process takes.

    Raises
    ------
    LoweringError
        says how many heads, or how many tokens of one head, fit.
    """
    chip = chip_of(config)
    most = min(chip.neurons, MOST_CELLS) if chip else MOST_CELLS
    count = cells_of(spec)
    if count <= most:
        return
    one = count // spec.n_heads
    limit = f"{chip.name} has {chip.cores} cores x {chip.neurons_per_core} neurons" if chip else "one process"
    fits = f"{most // one} heads" if one <= most else f"one head of {_tokens_that_fit(spec, most)} tokens"
    raise LoweringError(
        f"{count} cells, {one} per head: {limit} = {most} at most; split the layer into layers of {fits}"
    )


def cells_of(spec: PhaseLayerSpec) -> int:
    """Cells of a pair or clamped layer: one per unmasked ordered pair, or per free oscillator."""
    if spec.dynamics == "clamped":
        return spec.n_heads * spec.n_channels * int(spec.valid.sum())
    return spec.n_heads * int(unmasked(spec).sum())


def _tokens_that_fit(spec: PhaseLayerSpec, most: int) -> int:
    """Most tokens without padding of one head whose cells are at most so many."""
    if spec.dynamics == "clamped":
        return most // spec.n_channels
    tokens = np.arange(1, spec.n_oscillators + 1)
    cells = tokens * (tokens + 1) // 2 if spec.mask == "causal" else tokens**2
    return int(tokens[cells <= most].max())


def synapse_bits(config: Picked) -> int:
    """Bits that one stored synapse takes."""
    return config.weight_bits + (TARGET_BITS if config.synapses == "sparse" else 0)


def usage(neurons: int, fan_in: Integers, config: Picked, chip: Chip) -> Usage:
    """How many cores a layer fills when every neuron and its synapses stay on one core, in order.

    Parameters
    ----------
    fan_in : (neurons,) stored synapses that drive each neuron, or empty where there are none.
    """
    if not len(fan_in):
        cores = -(-neurons // chip.neurons_per_core)
        return Usage(cores, neurons, 0, 0, min(neurons, chip.neurons_per_core), 0)
    core, row_bits = cores_of(neurons, fan_in, config, chip), fan_in * synapse_bits(config)
    most_neurons = int(np.bincount(core).max())
    most_bits = int(np.bincount(core, row_bits).max())
    total, cores = int(fan_in.sum()), int(core[-1]) + 1
    return Usage(cores, neurons, total, -(-int(row_bits.sum()) // 8), most_neurons, -(-most_bits // 8))


def cores_of(neurons: int, fan_in: Integers, config: Picked, chip: Chip) -> Integers:
    """(neurons,) core of each neuron; arguments as for :func:`usage`."""
    if not len(fan_in):
        return np.arange(neurons) // chip.neurons_per_core
    capacity = 8 * chip.synapse_bytes_per_core
    core, held, filled = np.zeros(neurons, np.int64), 0, 0
    for neuron, bits in enumerate((fan_in * synapse_bits(config)).tolist()):
        core[neuron] = core[neuron - 1] if neuron else 0
        if held == chip.neurons_per_core or (filled + bits > capacity and held):
            core[neuron], held, filled = core[neuron] + 1, 0, 0
        held, filled = held + 1, filled + bits
    return core
