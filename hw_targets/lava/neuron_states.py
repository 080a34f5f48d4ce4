"""What a neuron has to remember, in bits: parameters, phase, record, synaptic sums."""

import numpy as np

from hw_targets.lava.fixed_point import FixedPoint
from hw_targets.lava.program import ROWS, STAGES, CellProgram, NetworkProgram


def states_of(program: CellProgram | NetworkProgram, arithmetic: FixedPoint) -> dict[str, int]:
    """Bits of every state of a neuron."""
    if isinstance(program, CellProgram):
        return cell_states(program, arithmetic)
    return oscillator_states(program, arithmetic)


def synaptic_sum_bits(program: NetworkProgram, arithmetic: FixedPoint) -> int:
    """Signed width of the largest synaptic sum."""
    return (largest_row(program) * arithmetic.amplitude).bit_length() + 1


def cell_states(program: CellProgram, arithmetic: FixedPoint) -> dict[str, int]:
    """Bits of every state of a cell: parameters, phase, and the record that the read-out needs."""
    steps = int(program.steps.max(initial=1)).bit_length() + 1
    widths = {"step": steps, "sum": arithmetic.payload_bits + steps - 1}
    own = {
        "mismatch": arithmetic.parameter_bits + 1,
        "coupling": arithmetic.parameter_bits + 1,
        "steps": steps,
    }
    # every other row of a record is a phase
    record = {row: widths.get(row.rsplit("_", 1)[-1], arithmetic.phase_bits) for row in ROWS}
    return own | record


def oscillator_states(program: NetworkProgram, arithmetic: FixedPoint) -> dict[str, int]:
    """Bits of every state of a network's oscillator, the two sums that its synapses fill included."""
    sums = synaptic_sum_bits(program, arithmetic)
    states = {
        "theta": arithmetic.phase_bits,
        "drift": magnitude_bits(program.drift),
        "gain": magnitude_bits(program.gain),
        "cosine": arithmetic.payload_bits,
        "sine": arithmetic.payload_bits,
        "cosine_sum": sums,
        "sine_sum": sums,
    }
    if STAGES[program.integrator] > 1:
        # k1 + 2 (k2 + k3) + k4 so far, of slopes of at most two steps
        states["weighted_slopes"] = (6 * 2 * arithmetic.step_lsb).bit_length() + 1
    return states


def largest_row(program: NetworkProgram) -> int:
    """Largest sum of the magnitudes of the weights of a row."""
    return int(np.abs(program.weights).sum(axis=1).max(initial=0))


def magnitude_bits(values: np.ndarray) -> int:
    """Signed width of the largest of some integers."""
    return int(np.abs(values).max(initial=0)).bit_length() + 1
