"""Pairs: one circuit per distinct cell, run in classes so that only cells near the edge run long."""

from hw_targets.brian2.circuits.lowering import CircuitLowering
from hw_targets.brian2.circuits.outcome import Outcome, outcome
from hw_targets.brian2.circuits.schedule import BatchClass
from hw_targets.brian2.circuits.simulation import Simulation
from oscsim.circuits.cell_readings import CellReadings, read_cells
from oscsim.circuits.readout import pair_reading
from oscsim.spec import PhaseLayerSpec


def run_class(lowering: CircuitLowering, part: BatchClass) -> tuple[CellReadings, float]:
    """Simulate one class until every pair has been read; returns the readings and the cycles it took."""
    simulation = Simulation(lowering, part.batches, part.spacing)
    cells = CellReadings.unread(len(part.batches))

    def judge(last: bool) -> bool:
        seen = read_cells(lowering.circuit, part.batches, simulation.record(), lowering.skip, last)
        # collapse is final only at the end: amplitudes may still be recovering from the start
        fresh = ~cells.done & (seen.settled | seen.turning | (seen.collapsed & last))
        cells.put(fresh, seen.take(fresh))
        return bool(cells.done.all())

    simulation.run(part.looks, judge)
    return cells, simulation.cycles


def run_pairs(spec: PhaseLayerSpec, lowering: CircuitLowering) -> Outcome:
    """``S = |J <cos psi>|`` of every cell."""
    cells, cycles = CellReadings.unread(lowering.circuit.array.batches), {}
    for part in lowering.classes:
        read, cycles[part.number] = run_class(lowering, part)
        cells.put(part.batches, read)
    reading = pair_reading(spec, lowering.circuit, cells, lowering.accuracy.band)
    taken = ", ".join(f"{count:.4g} (class {number})" for number, count in cycles.items())
    return outcome(lowering, reading, taken)
