"""Counts of a program on the chip: exactly what a run counts where it has no reason to stop early.

A network may stop before ``max_steps``: its counts are the most that it does. A payload that happens to be
zero is no spike, so spikes, and what follows from them, are the most there are, too.
"""

from collections import Counter
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from hw_targets.lava.chip import Chip, chip_of, cores_of
from hw_targets.lava.fixed_point import FixedPoint
from hw_targets.lava.formats import NumberFormat
from hw_targets.lava.neuron_states import states_of
from hw_targets.lava.picks import Picked
from hw_targets.lava.plan_entries import CELL_LOOKUPS, FIRST_LOOKUPS
from hw_targets.lava.plan_network import STAGE_LOOKUPS
from hw_targets.lava.program import ROWS, CellProgram, NetworkProgram
from oscsim.counts import Counts

# Numbers of the floating-point format.
_FLOAT_BITS = 64
# Spikes that an oscillator sends per Lava time step: cosine and sine.
_SPIKES = 2
# States of a neuron that have to be written before a run; the others start at zero or follow from these.
_WRITTEN = {"cells": ("mismatch", "coupling", "steps", "phase"), "oscillators": ("theta", "drift", "gain")}


def cell_counts(program: CellProgram, form: NumberFormat) -> Counts:
    """Cells send no spikes; their records leave the chip once, in whole bytes per number."""
    updates, cells = int(program.steps.sum()), len(program.steps)
    widths = _widths(program, form)
    record = cells * sum(_bytes(widths[row]) for row in ROWS)
    numbers = {
        "neuron_updates": updates,
        "sine_lookups": CELL_LOOKUPS[program.integrator] * updates + FIRST_LOOKUPS * cells,
        "spikes": 0,
        "messages": 0,
        "hops": 0,
        "time_steps": program.lava_steps,
        "bytes.readout": record,
    }
    return Counts(numbers) + _writes(widths, _WRITTEN["cells"], cells)


def network_counts(
    program: NetworkProgram, form: NumberFormat, config: Picked, steps: int, tokens: int, read: int
) -> Counts:
    """Oscillators that exchange spikes through synapses for so many integration steps.

    A spike becomes one message to every core that holds a neuron it drives; a message makes as many hops as
    cores lie between, rows and columns of a mesh of 8 x 16 cores, filled row by row. The number of cores is
    published [LOIHI]; that mesh, the most square one of so many, is an assumption. Without a chip there are
    neither cores nor messages.

    Parameters
    ----------
    steps : integration steps. tokens : oscillators of one head and channel, which drive each other.
    read : phases that leave the chip.
    """
    count, lava_steps = len(program.theta), program.lava_steps(steps)
    sending = program.fan_out > 0
    widths = _widths(program, form)
    messages, hops = _traffic(program, config, tokens)
    numbers = {
        "neuron_updates": count * lava_steps,
        "sine_lookups": STAGE_LOOKUPS * count * lava_steps,
        "spikes": _SPIKES * int(sending.sum()) * lava_steps,
        f"synaptic_operations.{program.synapses}": _SPIKES * int(program.fan_out.sum()) * lava_steps,
        "messages": _SPIKES * messages * lava_steps,
        "hops": _SPIKES * hops * lava_steps,
        "time_steps": lava_steps,
        "bytes.readout": read * _bytes(widths["theta"]),
    }
    synapses = Counts({f"programming_writes.{program.weight_bits}": _SPIKES * int(program.fan_out.sum())})
    return Counts(numbers) + _writes(widths, _WRITTEN["oscillators"], count) + synapses


def _bytes(bits: int) -> int:
    return -(-bits // 8)


def _widths(program: CellProgram | NetworkProgram, form: NumberFormat) -> Mapping[str, int]:
    if isinstance(form.arithmetic, FixedPoint):
        return states_of(program, form.arithmetic)
    names = {*ROWS, *(name for written in _WRITTEN.values() for name in written)}
    return dict.fromkeys(names, _FLOAT_BITS)


def _writes(widths: Mapping[str, int], names: tuple[str, ...], neurons: int) -> Counts:
    each = Counter(widths[name] for name in names)
    return Counts({f"programming_writes.{bits}": neurons * count for bits, count in sorted(each.items())})


def _traffic(program: NetworkProgram, config: Picked, tokens: int) -> tuple[int, int]:
    """Messages and hops when every oscillator that drives another sends one spike."""
    chip = chip_of(config)
    if chip is None:
        return 0, 0
    core = cores_of(len(program.theta), _fan_in(program, tokens), config, chip)
    messages = hops = 0
    for source, reached in enumerate(program.fan_out.tolist()):
        if reached:
            targets = np.unique(core[_driven(program, source, tokens)])
            messages += len(targets)
            hops += int(_walk(chip, int(core[source]), targets).sum())
    return messages, hops


def _fan_in(program: NetworkProgram, tokens: int) -> NDArray[np.int64]:
    """(neurons,) stored synapses that drive each neuron, both processes together."""
    if program.synapses == "sparse":
        return 2 * np.count_nonzero(program.weights, axis=1)
    fan_in = np.zeros(len(program.theta), np.int64)
    for source, reached in enumerate(program.fan_out.tolist()):
        if reached:
            fan_in[_driven(program, source, tokens)] += 2
    return fan_in


def _driven(program: NetworkProgram, source: int, tokens: int) -> slice | NDArray[np.int64]:
    """Neurons behind the stored synapses of a source; dense ones store zeros, too.

    Held sources follow the free oscillators that they drive, in the same order.
    """
    if program.synapses == "sparse":
        return np.flatnonzero(program.weights[:, source])
    receiving = int((program.fan_out > 0).sum())  # as many as send: themselves, or the free ones
    first = source % receiving // tokens * tokens
    return slice(first, first + tokens)


def _walk(chip: Chip, source: int, targets: NDArray[np.int64]) -> NDArray[np.int64]:
    """Hops from one core to others."""
    columns = chip.mesh[1]
    row, column = np.divmod(targets, columns)
    own = divmod(source, columns)
    return np.abs(row - own[0]) + np.abs(column - own[1])
