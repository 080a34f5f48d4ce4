"""From saved vectors to states, and from states to cycle averages of phases."""

import numpy as np
from numpy.typing import NDArray

from hw_targets.spice.cards import Probe
from hw_targets.spice.lowering import Job, Lowered, longest
from hw_targets.spice.process import Waveforms
from oscsim.circuits import timing
from oscsim.circuits.recorder import PhaseRecord

Array = NDArray[np.float64]

# Phases are interpolated to this many times per averaged cycle; each is slow, the averaged wobble is not.
_PER_CYCLE = 16
_READINGS = 384  # of a run, if its beat allows
_SHORTEST = 1e-3  # carrier cycles; a duration of 0 needs some time to be simulated
# Phase differences at rest wander by less than this (rad, peak to peak), because ngspice chooses its steps;
# measured at reltol 1e-6: 1e-4 for tanks and rings, 3.4e-4 for relaxation oscillators (fast comparators).
RESOLUTION = 4e-4
# Held oscillators that have drifted apart by more (rad; measured: 1e-5 per cycle) are not held any more.
LARGEST_DRIFT = 0.02


def states(waves: Waveforms, probes: list[list[list[Probe]]]) -> Array:
    """(dimension, T, batches, n) in natural units, at the times of the waveforms."""
    dimension = len(probes[0][0])
    x = np.full((dimension, len(waves.times), len(probes), len(probes[0])), np.nan)
    column = 0
    for b, batch in enumerate(probes):
        for i, oscillator in enumerate(batch):
            for k, probe in enumerate(oscillator):
                seen = waves.values[:, column : column + len(probe.vectors)]
                x[k, :, b, i] = seen @ np.array(probe.weights) + probe.offset
                column += len(probe.vectors)
    return x


def phase_record(lowered: Lowered, job: Job, waves: Waveforms, x: Array) -> PhaseRecord:
    """Cycle averages of limit-cycle phases in the frame of the carrier."""
    reduction, cycles = lowered.circuit.reduction, waves.times * lowered.carrier_hz
    phase = np.unwrap(reduction.phase(x) - 2.0 * np.pi * cycles[:, None, None], axis=0)
    start = lowered.circuit.array.start[job.batches]
    phase += 2.0 * np.pi * np.round((start - phase[0]) / (2.0 * np.pi))
    size = np.abs(reduction.oscillator.phasor(x))
    size /= np.abs(reduction.oscillator.phasor(reduction.cycle.states.T)).mean()
    centres, width = _centres(lowered, job)
    at = centres[:, None] + width * ((np.arange(_PER_CYCLE) + 0.5) / _PER_CYCLE - 0.5)
    phase, size = _sampled(at, cycles, phase), _sampled(at, cycles, size)
    pairs = lowered.circuit.array.dynamics == "pair"
    averaged = phase.mean(axis=1)
    if not np.isfinite(lowered.end):
        averaged = rested(averaged, lowered.held)
    phasor = np.exp(1j * (phase[..., 0] - phase[..., 1])).mean(axis=1) if pairs else None
    return PhaseRecord(centres, averaged, phasor, size[-1].mean(axis=0))


def rested(phase: Array, held: int = 0) -> Array:
    """Phases (K, B, n) in which batches that rest do so exactly: a wander below RESOLUTION is averaged over.

    A batch rests when in the later half no oscillator moves against the last one by more than that. The last
    ``held`` oscillators are coupled to nothing and drift apart slowly (:func:`drift`); what follows them may
    move twice as far as they do.

    >>> wander = 1e-4 * np.sin(np.arange(8.0))[:, None, None] * [[[1.0, 0.0]]]
    >>> bool(np.ptp(rested(wander)[4:, 0, 0]) == 0.0)
    True
    """
    half = len(phase) // 2
    late = phase[half:] - phase[half:, :, -1:]
    moved = np.ptp(late, axis=0)
    least = moved[:, moved.shape[1] - held :].max(axis=1, initial=0.0)
    rests = (moved.max(axis=1) <= np.maximum(RESOLUTION, 2.0 * least)) & (drift(phase, held) <= LARGEST_DRIFT)
    still = np.where(rests[None, :, None], late.mean(axis=0), late) + phase[half:, :, -1:]
    return np.concatenate([phase[:half], still])


def drift(phase: Array, held: int) -> Array:
    """(B,) how far held oscillators have drifted apart in all, rad: an artefact of ngspice's steps."""
    if not held:
        return np.zeros(phase.shape[1])
    sources = phase[:, :, phase.shape[2] - held :]
    apart = sources - sources.mean(axis=2, keepdims=True)
    return np.abs(apart[-1] - apart[0]).max(axis=1)


def _centres(lowered: Lowered, job: Job) -> tuple[Array, float]:
    """Middles of the averaged cycles, the last at the end of a finite duration, and their width in cycles."""
    window = job.window
    half = min(0.5, lowered.end)
    ended = window.cycles >= longest(lowered.config, lowered.end) and np.isfinite(lowered.end)
    last = lowered.end if ended else window.cycles - half
    beat, batches = np.inf, np.arange(lowered.circuit.array.batches)
    if lowered.circuit.array.dynamics == "pair":
        rate, locked = timing.pair_rates(lowered.circuit)
        batches = job.batches
        beats = 2.0 * np.pi / np.where(locked, 0.0, rate)[batches].max(initial=1e-30)
        beat = beats / lowered.circuit.reduction.cycle.period
    apart = min(timing.sample_spacing(lowered.circuit, batches, beat), window.cycles / _READINGS)
    apart = max(1.0, float(int(apart)))
    count = 1 + max(0, int((last - half - window.saved_from) / apart))
    centres: Array = last - apart * np.arange(count, dtype=np.float64)[::-1]
    return centres, max(2.0 * half, _SHORTEST)


def _sampled(at: Array, times: Array, values: Array) -> Array:
    """Values (T, batches, n) interpolated to times (K, S): (K, S, batches, n)."""
    flat = values.reshape(len(times), -1)
    columns = [np.interp(at, times, column) for column in flat.T]
    return np.stack(columns, axis=-1).reshape(*at.shape, *values.shape[1:])
