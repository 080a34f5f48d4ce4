"""Run a lowered layer through ngspice."""

import platform
import time
from dataclasses import replace
from importlib import metadata

import numpy as np
from numpy.typing import NDArray

from hw_targets.spice.lowering import Job, Lowered, longest
from hw_targets.spice.netlist import blocks, netlist, vectors
from hw_targets.spice.plan import title
from hw_targets.spice.process import PROGRAM, simulate, version
from hw_targets.spice.reading import drift, phase_record, states
from oscsim.circuits.cell_readings import CellReadings, read_cells
from oscsim.circuits.clamped_readout import clamped_reading
from oscsim.circuits.network_readout import network_reading
from oscsim.circuits.readout import Reading, pair_reading
from oscsim.circuits.recorder import PhaseRecord
from oscsim.conclusion import concluded
from oscsim.result import Provenance, SyncResult
from oscsim.spec import PhaseLayerSpec
from oscsim.target import Plan
from oscsim.tolerance import with_average


def run_layer(spec: PhaseLayerSpec, plan: Plan, lowered: Lowered) -> SyncResult:
    """Simulate, read out, and say how it ended.

    Raises
    ------
    TargetRunError
        ngspice failed, stopped early or took too long; the message holds its own words.
    """
    begin = time.perf_counter()
    run = _run_pairs if spec.dynamics == "pair" else _run_channels
    reading, cycles = run(spec, lowered)
    notes = (*lowered.circuit.warnings, f"carrier cycles simulated: up to {cycles:g}", *reading.notes)
    provenance = Provenance(
        source="spice",
        spec_digest=spec.digest,
        plan_digest=plan.digest,
        settings=lowered.config.model_dump(),
        versions={
            PROGRAM: version() or "",
            "numpy": metadata.version("numpy"),
            "python": platform.python_version(),
        },
        seeds=lowered.config.seeds,
        notes=notes,
        wall_s=time.perf_counter() - begin,
    )
    return concluded(spec, reading, provenance, with_average(lowered.accuracy, reading.change))


def simulate_job(spec: PhaseLayerSpec, lowered: Lowered, job: Job) -> PhaseRecord:
    """Run one netlist and read its phases."""
    circuit, made = lowered.circuit, blocks(lowered.circuit, lowered.config)
    lines = netlist(circuit, lowered.config, title(spec), job.batches.tolist(), job.window)
    probes = [[made.probes(int(b), i) for i in range(circuit.array.size)] for b in job.batches]
    waves = simulate(lines, vectors(probes), job.window.cycles / lowered.carrier_hz, lowered.config.timeout_s)
    return phase_record(lowered, job, waves, states(waves, probes))


def _run_pairs(spec: PhaseLayerSpec, lowered: Lowered) -> tuple[Reading, float]:
    """Every distinct cell; those not read when their run ends start again for twice as long."""
    cells, cycles = CellReadings.unread(lowered.circuit.array.batches), lowered.wanted.copy()
    most, pending = longest(lowered.config, lowered.end), np.arange(len(cycles))
    while len(pending):
        for job in lowered.jobs(pending, cycles):
            last = job.window.cycles >= most
            record = simulate_job(spec, lowered, job)
            seen = read_cells(lowered.circuit, job.batches, record, lowered.skip, last)
            # collapse is final only at the end: amplitudes may still be recovering from the start
            fresh = seen.settled | seen.turning | (seen.collapsed & last)
            cells.put(job.batches[fresh], seen.take(fresh))
        pending = pending[~cells.done[pending] & (cycles[pending] < most)]
        cycles[pending] = np.minimum(2.0 * cycles[pending], most)
    return pair_reading(spec, lowered.circuit, cells, lowered.accuracy.band), float(cycles.max(initial=0.0))


def _run_channels(spec: PhaseLayerSpec, lowered: Lowered) -> tuple[Reading, float]:
    """All heads and channels; twice as long until they rest, their average stands or time is up."""
    cycles, most = lowered.wanted.copy(), longest(lowered.config, lowered.end)
    every: NDArray[np.int64] = np.arange(len(cycles))
    while True:
        jobs = lowered.jobs(every, cycles)
        record = _joined([simulate_job(spec, lowered, job) for job in jobs])
        last = bool(cycles[0] >= most)
        if spec.dynamics == "network":
            reading = network_reading(spec, lowered.circuit, record, lowered.skip, last)
        else:
            timed = last and np.isfinite(lowered.end) == np.isfinite(spec.duration)
            reading = clamped_reading(spec, lowered.circuit, record, lowered.skip, timed)
        if reading.done or last:
            apart = float(drift(record.phase, lowered.held).max())
            note = (f"held sources drifted apart by up to {apart:.1g} rad",) if lowered.held else ()
            return replace(reading, notes=(*reading.notes, *note)), float(cycles[0])
        cycles = np.minimum(2.0 * cycles, most)


def _joined(records: list[PhaseRecord]) -> PhaseRecord:
    """Records of several netlists, which are read at the same times, as one."""
    phase = np.concatenate([record.phase for record in records], axis=1)
    return PhaseRecord(records[0].cycles, phase, None, np.concatenate([r.amplitude for r in records]))
