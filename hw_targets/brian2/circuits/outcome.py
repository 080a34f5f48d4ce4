"""What a simulated layer hands back before it becomes a result."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hw_targets.brian2.circuits.lowering import CircuitLowering
from hw_targets.brian2.outcome import Trajectory
from oscsim.circuits.readout import Reading
from oscsim.circuits.recorder import PhaseRecord
from oscsim.spec import PhaseLayerSpec
from oscsim.tolerance import Accuracy, with_average

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Outcome:
    """A reading, its promise, and how it came about; trajectory (samples, H, N, D) with times, or None."""

    reading: Reading
    accuracy: Accuracy
    notes: tuple[str, ...]
    trajectory: Array | None = None
    times: Array | None = None


def outcome(
    lowering: CircuitLowering, reading: Reading, cycles: str, film: tuple[Array, Array] | None = None
) -> Outcome:
    """Add the warnings of the lowering and the time simulated to the notes of a reading."""
    notes = (*lowering.circuit.warnings, f"carrier cycles simulated: {cycles}", *reading.notes)
    times, states = film if film is not None else (None, None)
    return Outcome(reading, with_average(lowering.accuracy, reading.change), notes, states, times)


def film(spec: PhaseLayerSpec, lowering: CircuitLowering, record: PhaseRecord) -> tuple[Array, Array] | None:
    """(times, phases (samples, H, N, D)) of a record, thinned; padded tokens keep their initial phase."""
    samples = lowering.config.trajectory_samples
    if samples == 0:
        return None
    tape, (heads, channels) = Trajectory(samples), lowering.circuit.array.cell.shape
    valid, per_cycle = spec.valid, 1.0 / (lowering.carrier_hz * lowering.time_unit_s)
    first = spec.theta if spec.dynamics == "network" or spec.phase_0 is None else spec.phase_0

    def frame(phase: Array) -> Array:
        full = first.copy()
        moving = phase[:, : int(valid.sum())].reshape(heads, channels, -1)
        full[:, valid] = moving.transpose(0, 2, 1)
        return full

    tape.offer(0.0, first)
    for cycle, phase in zip(record.cycles[:-1], record.phase[:-1], strict=True):
        tape.offer(cycle * per_cycle, frame(phase))
    return tape.finish(float(record.cycles[-1]) * per_cycle, frame(record.phase[-1]))
