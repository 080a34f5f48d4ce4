"""Sections of a plan about hardware: the number format as data, the chip it fills, where S is read out."""

from typing import Any

import numpy as np

from hw_targets.lava.chip import Chip, Usage, chip_of, synapse_bits, usage
from hw_targets.lava.fixed_point import SIXTH, FixedPoint
from hw_targets.lava.formats import NumberFormat
from hw_targets.lava.neuron_states import largest_row, magnitude_bits, states_of, synaptic_sum_bits
from hw_targets.lava.picks import Picked
from hw_targets.lava.program import CellProgram, Integers, NetworkProgram
from oscsim.errors import LoweringError
from oscsim.target import Row

Entries = dict[str, Any]

NARROW = "on a chip, more than 24 bits are needed only inside a product and its shift"
ROW_NORMALISATION = "off chip: W_ij = S_ij / sum_k S_ik in float64, from the record"


def hardware_entries(
    dynamics: str,
    config: Picked,
    form: NumberFormat,
    program: CellProgram | NetworkProgram,
    wired_in: Integers,
) -> tuple[tuple[str, Entries], ...]:
    """The sections format, chip and read_out; arguments as for :func:`chip_entries`."""
    return (
        ("format", format_entries(form, config, program)),
        ("chip", chip_entries(config, form, program, wired_in)),
        ("read_out", read_out_entries(dynamics)),
    )


def format_entries(form: NumberFormat, config: Picked, program: CellProgram | NetworkProgram) -> Entries:
    """Every width, exponent and mode of the arithmetic, and the widest number in it."""
    arithmetic = form.arithmetic
    if not isinstance(arithmetic, FixedPoint):
        return {"numbers": "float64"}
    entries = {
        "phase_bits": arithmetic.phase_bits,
        "sine_bits": arithmetic.sine_bits,
        "interpolation": arithmetic.interpolation,
        "rounding": arithmetic.rounding,
        "payload_bits": arithmetic.payload_bits,
        "parameter_bits": arithmetic.parameter_bits,
        "step_least_significant_bits": arithmetic.step_lsb,
    }
    if isinstance(program, NetworkProgram):
        sums = synaptic_sum_bits(program, arithmetic)
        entries |= {
            "weight_bits": config.weight_bits,
            "gain_shift": program.gain_shift,
            "largest_row_sum": largest_row(program),
            "synaptic_sum_bits": sums,
            # cosine times one sum less sine times the other, and gain times that after its shift
            "drive_bits": arithmetic.payload_bits + sums,
            "gained_drive_bits": magnitude_bits(program.gain) + sums + 1,
        }
        wide = max(entries["drive_bits"], entries["gained_drive_bits"])
    else:
        entries |= {"rate_shift": arithmetic.rate_shift, "rate_bits": arithmetic.accumulator_bits}
        wide = entries["rate_bits"]
    entries["widest_intermediate_bits"] = max(wide, _own_products(arithmetic, program.integrator))
    entries["intermediates"] = NARROW
    return entries


def _own_products(arithmetic: FixedPoint, integrator: str) -> int:
    """Width of the products that every format has: interpolation, and a sixth of six slopes of two steps."""
    rest = arithmetic.phase_bits - arithmetic.sine_bits
    rise = int(np.abs(np.diff(arithmetic.table)).max()) << rest if arithmetic.interpolation == "linear" else 0
    sixth = 6 * 2 * arithmetic.step_lsb * SIXTH if integrator == "runge_kutta" else 0
    return max(rise, sixth).bit_length() + 1


def chip_entries(
    config: Picked, form: NumberFormat, program: CellProgram | NetworkProgram, wired_in: Integers
) -> Entries:
    """Cores, neurons, synapses and bytes on the chip; refuses what exceeds them.

    Parameters
    ----------
    wired_in : (neurons,) synapses from cosines, and as many from sines, that drive each neuron where every
        one is stored, zeros too; empty where there are none.

    Raises
    ------
    LoweringError
        more cores than the chip has.
    """
    chip, arithmetic = chip_of(config), form.arithmetic
    if chip is None or not isinstance(arithmetic, FixedPoint):
        return {"chip": "none"}
    neurons = len(program.phase if isinstance(program, CellProgram) else program.theta)
    used = _usage(config, program, wired_in, neurons, chip)
    states = states_of(program, arithmetic)
    words = {name: -(-bits // chip.state_bits) for name, bits in states.items()}
    return {
        "chip": chip.name,
        "limits_from": chip.sources,
        "cores": _of(used.cores, chip.cores),
        "neurons": _of(used.neurons, chip.neurons),
        "neurons_on_fullest_core": _of(used.neurons_per_core, chip.neurons_per_core),
        "synapses": used.synapses,
        "synapse_bits": synapse_bits(config) if used.synapses else 0,
        "synapse_bytes": used.synapse_bytes,
        "synapse_bytes_on_fullest_core": _of(used.synapse_bytes_per_core, chip.synapse_bytes_per_core),
        "state_bits": ", ".join(f"{name} {bits}" for name, bits in states.items()),
        "states_in_two_words": ", ".join(name for name, count in words.items() if count > 1) or "none",
        "state_bytes_per_neuron": _of(
            sum(words.values()) * chip.state_bits // 8, chip.state_bytes_per_neuron
        ),
    }


def _usage(
    config: Picked, program: CellProgram | NetworkProgram, wired_in: Integers, neurons: int, chip: Chip
) -> Usage:
    """What the layer takes, or the error that says what would take little enough."""

    def with_synapses(kind: str) -> Usage:
        if isinstance(program, CellProgram):
            return usage(neurons, wired_in, config, chip)
        kept = wired_in if kind == "dense" else np.count_nonzero(program.weights, axis=1)
        return usage(neurons, 2 * kept, config.model_copy(update={"synapses": kind}), chip)

    used = with_synapses(config.synapses)
    if used.cores <= chip.cores:
        return used
    other = "dense" if config.synapses == "sparse" else "sparse"
    fits = f"set synapses={other!r}" if with_synapses(other).cores <= chip.cores else _fewer(used, chip)
    raise LoweringError(
        f"{used.neurons} neurons with {used.synapse_bytes} bytes of synapses fill {used.cores} cores of "
        f"{chip.synapse_bytes_per_core} bytes and {chip.neurons_per_core} neurons; {chip.name} has "
        f"{chip.cores}; {fits}"
    )


def _fewer(used: Usage, chip: Chip) -> str:
    parts = -(-used.cores // chip.cores)
    return f"split the layer into {parts} layers of fewer heads, or set chip='none'"


def read_out_entries(dynamics: str) -> Entries:
    """What leaves the chip and what is made of it elsewhere."""
    record = {
        "pair": "phase, last step, sums of cosine and sine, first and last crossing of a quarter turn",
        "network": "phases after every integration step",
        "clamped": "phases at the end of the duration or at rest",
    }
    return {
        "record": record[dynamics],
        "synchronization": "off chip, float64, from the record",
        "row_normalisation": ROW_NORMALISATION,
    }


def _of(used: int, limit: int) -> Row:
    """An amount beside its limit."""
    return Row(f"{used} of {limit}", {"used": used, "limit": limit})
