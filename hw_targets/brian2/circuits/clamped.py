"""Clamped layers: driven oscillators next to held ones, for a duration or until rest."""

import numpy as np

from hw_targets.brian2.circuits.lowering import CircuitLowering
from hw_targets.brian2.circuits.outcome import Outcome, film, outcome
from hw_targets.brian2.circuits.simulation import Simulation
from oscsim.circuits.clamped_readout import clamped_reading
from oscsim.circuits.readout import Reading
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
    # the average that closes block b is centred half a cycle before its start; two more make the ends
    first = max(int(np.floor(lowering.end)) - _AROUND // 2, 2)
    return first, first + _AROUND + 2


def at_moment(record: PhaseRecord, cycle: float) -> PhaseRecord:
    """The record, its last reading replaced by the phase at one moment.

    An average with the weights of :func:`oscsim.circuits.recorder.cycle_weights` (variance 1/4 cycle^2) is
    the phase plus an eighth of its second derivative; a cubic through four such points is read at the moment.

    >>> centre = np.arange(6) + 1.5
    >>> means = (centre**2 + 0.25)[:, None, None]
    >>> record = PhaseRecord(centre, means, None, np.ones((1, 1)))
    >>> round(float(at_moment(record, 3.3).phase[-1, 0, 0]), 9)
    10.89
    """
    if abs(record.cycles[-1] - cycle) <= 1e-9 * max(1.0, cycle):
        return record
    near, times = record.phase[-_AROUND - 2 :], record.cycles[-_AROUND - 1 : -1]
    points = near[1:-1] - 0.125 * (near[2:] - 2.0 * near[1:-1] + near[:-2])
    weights = [np.prod([(cycle - u) / (t - u) for u in times if u != t]) for t in times]
    phase, cycles = record.phase.copy(), record.cycles.copy()
    phase[-1], cycles[-1] = np.tensordot(np.array(weights), points, axes=1), cycle
    return PhaseRecord(cycles, phase, record.phasor, record.amplitude)
