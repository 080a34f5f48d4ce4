"""Clamped layers: driven oscillators next to held ones, for a duration or until rest."""

import numpy as np

from hw_targets.brian2.circuits.lowering import CircuitLowering
from hw_targets.brian2.circuits.outcome import Outcome, film, outcome
from hw_targets.brian2.circuits.simulation import Simulation
from oscsim.circuits.readout import Reading, clamped_reading
from oscsim.circuits.recorder import PhaseRecord
from oscsim.spec import PhaseLayerSpec

# Cycle averages around the end of a finite duration, from which the phase at its very moment follows.
_AROUND = 4


def run_clamped(spec: PhaseLayerSpec, lowering: CircuitLowering) -> Outcome:
    """Phases at the end of the layer's duration, or at rest if that comes first."""
    if lowering.end == 0.0:
        return outcome(lowering, clamped_reading(spec, lowering.circuit, initial(lowering), 0.0, True), "0")
    (part,) = lowering.classes
    simulation = Simulation(lowering, part.batches, part.spacing)
    readings: list[Reading] = []
    reached = lowering.end <= lowering.config.max_cycles
    first, end = _window(lowering) if reached else (np.inf, np.inf)
    looks = tuple(look for look in part.looks if look < end) + ((int(end),) if reached else ())

    def judge(last: bool) -> bool:
        record = simulation.record()
        if last and reached:
            record = at_moment(record, lowering.end)
        timed = last and (reached or not np.isfinite(spec.duration))
        readings.append(clamped_reading(spec, lowering.circuit, record, lowering.skip, timed))
        return readings[-1].done

    simulation.run(looks, judge, dense_from=first)
    pictures = film(spec, lowering, simulation.record())
    return outcome(lowering, readings[-1], f"{simulation.cycles:.4g}", pictures)


def initial(lowering: CircuitLowering) -> PhaseRecord:
    """The record of a run that has not begun."""
    start = lowering.circuit.array.start
    return PhaseRecord(np.zeros(1), start[None].copy(), None, np.ones_like(start))


def _window(lowering: CircuitLowering) -> tuple[int, int]:
    """Blocks from which every one is read, and at which the run ends, for a duration that is reached."""
    ticks = lowering.ticks
    if ticks.samples == 1:  # readings are instantaneous, and one of them falls on the end
        end = max(round(lowering.end / ticks.cycles), 1)
        return end - 1, end
    first = max(int(np.floor(lowering.end)) - _AROUND // 2, 0)
    return first, first + _AROUND


def at_moment(record: PhaseRecord, cycle: float) -> PhaseRecord:
    """The record with its last reading replaced by the phase at one moment.

    Averages over successive cycles are differences of the integral of the phase at their ends; the phase is
    the slope there of the polynomial through these ends.

    >>> ends = np.arange(5.0)
    >>> means = np.diff(ends**3 / 3)[:, None, None]
    >>> record = PhaseRecord(np.arange(4) + 0.5, means, None, np.ones((1, 1)))
    >>> round(float(at_moment(record, 1.7).phase[-1, 0, 0]), 9)
    2.89
    """
    if abs(record.cycles[-1] - cycle) <= 1e-9 * max(1.0, cycle):
        return record
    near = record.phase[-_AROUND:]
    first = record.cycles[-_AROUND] - 0.5
    area = np.concatenate([np.zeros((1, *near.shape[1:])), np.cumsum(near, axis=0)])
    powers = np.vander(np.arange(len(area), dtype=float), increasing=True)
    at = cycle - first
    slope = np.array([k * at ** (k - 1) if k else 0.0 for k in range(len(area))])
    value = np.tensordot(slope @ np.linalg.inv(powers), area, axes=1)
    phase = record.phase.copy()
    phase[-1] = value
    cycles = record.cycles.copy()
    cycles[-1] = cycle
    return PhaseRecord(cycles, phase, record.phasor, record.amplitude)
