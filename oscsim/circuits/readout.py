"""From phase records to what a run says about a layer: every decision is made from the data."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from oscsim import beat_average, pair_terms
from oscsim.circuits.averages import beat_means, rest_distance
from oscsim.circuits.cell_readings import COLLAPSED, CellReadings, average_tolerance, noisy, read_cells
from oscsim.circuits.circuit import Circuit
from oscsim.circuits.recorder import PhaseRecord, quantised
from oscsim.phase import order_parameter
from oscsim.result import SyncStatus
from oscsim.spec import PhaseLayerSpec
from oscsim.tolerance import AVERAGING_CAP, LOCK_THRESHOLD

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]
_FEWEST_SAMPLES = 16


@dataclass(frozen=True, eq=False)
class Reading:
    """Read-out of a layer; shapes as in SyncResult, masked cells zero.

    Parameters
    ----------
    change : largest change of an average over its later half, 0 where nothing was averaged.
    """

    sync: Array
    locked: Mask
    order_parameter: Array
    status: SyncStatus
    notes: tuple[str, ...]
    phase: Array | None = None
    change: float = 0.0

    @property
    def done(self) -> bool:
        """Whether more time would change nothing."""
        return self.status is not SyncStatus.NOT_CONVERGED


def read(
    spec: PhaseLayerSpec, circuit: Circuit, record: PhaseRecord, skip: float, band: float, last: bool
) -> Reading:
    """What a record of all batches says about the layer.

    Parameters
    ----------
    skip : carrier cycles that amplitudes take. last : whether time is up.
    band : cells with ``|d/|a| - 1| <= band`` may be undecided (pair).
    """
    if spec.dynamics == "pair":
        return pair_reading(spec, circuit, read_cells(circuit, record, skip, last), band)
    if spec.dynamics == "network":
        return network_reading(spec, circuit, record, skip, last)
    return clamped_reading(spec, circuit, record, skip, last)


def pair_reading(spec: PhaseLayerSpec, circuit: Circuit, cells: CellReadings, band: float) -> Reading:
    """``S = |J <cos psi>|`` of every cell, from the readings of all batches."""
    array = circuit.array
    d = np.abs(array.detuning[:, 0] - array.detuning[:, 1])
    a = np.abs(array.pull[:, 0, 1] + array.pull[:, 1, 0])
    edge = np.abs(d - a) <= band * a
    undecided = ~cells.done
    outside = undecided & ~edge
    cosine = np.where(cells.done & ~cells.collapsed, cells.cosine, 0.0)
    there = array.cell >= 0
    sync, locked = np.zeros(array.cell.shape), np.zeros(array.cell.shape, bool)
    sync[there] = np.abs(pair_terms.coupling(spec)[there] * cosine[array.cell[there]])
    locked[there] = cells.settled[array.cell[there]]
    turns = f"{cells.slips[cells.turning].sum():.0f} whole turns seen"
    notes = [f"{cells.settled.sum()} circuits settled, {cells.turning.sum()} drifting ({turns})"]
    if noisy(circuit):
        notes = [
            f"{cells.settled.sum()} circuits stay within a small range of psi, {cells.turning.sum()} wander "
            f"or slip ({turns}); averages are good to {cells.change.max(initial=0.0):.2g}"
        ]
    if undecided.any():
        notes.append(
            f"{undecided.sum()} circuits neither at rest nor averaged at the end, {outside.sum()} of them "
            f"outside the edge band {band:.3g}: S = 0, not locked"
        )
    if cells.collapsed.any():
        notes.append(_collapse(int(cells.collapsed.sum()), "pairs"))
    change = float(cells.change[cells.done & ~cells.collapsed].max(initial=0.0))
    broken = outside.any() or cells.collapsed.any() or change > AVERAGING_CAP
    return Reading(
        sync=sync,
        locked=locked,
        order_parameter=pair_terms.spec_order_parameter(spec),
        status=SyncStatus.NOT_CONVERGED if broken else SyncStatus.SETTLED,
        notes=tuple(notes),
        change=change if np.isfinite(change) else 0.0,
    )


def _collapse(count: int, what: str) -> str:
    return (
        f"amplitude collapsed below {COLLAPSED:g} of the free limit cycle in {count} {what}: no lock "
        "decision exists there (S = 0, not locked); the coupling is too strong for the family"
    )


def network_reading(
    spec: PhaseLayerSpec, circuit: Circuit, record: PhaseRecord, skip: float, last: bool
) -> Reading:
    """``S = J (1/D) sum_l Re <exp(i(theta_i - theta_j))>``, at rest or averaged over whole beats."""
    heads, channels = circuit.array.cell.shape
    valid, count = spec.valid, spec.n_oscillators
    late = record.since(skip)
    seen = late.quantised(circuit.design.readout_bits)
    relative = record.phase - record.phase[..., :1]
    rest = rest_distance(relative, circuit.design.phase_accuracy) <= circuit.design.phase_accuracy
    means = np.zeros((heads * channels, count, count), complex)
    changes = np.zeros(heads * channels)
    for b in range(heads * channels):
        if rest[b].all() and not noisy(circuit):
            mean = beat_average.rest_mean(seen.phase[:, b])
        else:
            mean, changes[b] = _averages(late.phase[:, b], seen.phase[:, b])
        means[b][np.ix_(valid, valid)] = mean
    means = means.reshape(heads, channels, count, count)
    allowed = pair_terms.unmasked(spec)
    locked = np.all(np.abs(means) >= LOCK_THRESHOLD, axis=1) & allowed
    theta = spec.theta.copy()
    theta[:, valid] = seen.phase[-1].reshape(heads, channels, -1).transpose(0, 2, 1)
    change, collapsed = float(changes.max()), record.amplitude < COLLAPSED
    converged = change <= average_tolerance(circuit, last) and not collapsed.any()
    ended = SyncStatus.SETTLED if locked[:, allowed].all() else SyncStatus.DRIFTING
    notes = [f"{int((changes == 0).sum())} of {len(changes)} networks at rest, the others averaged"]
    if change > 0.0:
        notes.append(f"the average changed by {change:.3g} over its later half (inf: too few beats seen)")
    if collapsed.any():
        notes.append(_collapse(int(collapsed.sum()), "oscillators"))
    return Reading(
        sync=np.where(allowed, pair_terms.coupling(spec), 0.0) * np.real(means).mean(axis=1),
        locked=locked,
        order_parameter=order_parameter(theta, valid, spec.mask == "causal"),
        status=ended if converged else SyncStatus.NOT_CONVERGED,
        notes=tuple(notes),
        phase=theta,
        change=change if np.isfinite(change) else 0.0,
    )


def _averages(phase: Array, seen: Array) -> tuple[NDArray[np.complex128], float]:
    """Averages of the phases as read out, with the change of those as they are."""
    if len(phase) < _FEWEST_SAMPLES:
        return beat_average.rest_mean(seen), float("inf")
    mean, change = beat_average.pair_averages(phase)
    if seen is not phase:
        beat = beat_average.slowest_beat(phase) or 0.0
        mean = beat_average.pair_mean(seen, beat_average.window(len(seen), beat))
    return mean, change


def clamped_reading(
    spec: PhaseLayerSpec, circuit: Circuit, record: PhaseRecord, skip: float, last: bool
) -> Reading:
    """Phases of the driven oscillators against the held ones; continuous from ``phase_0``.

    ``last`` with a finite duration: the record ends at the spec's duration.
    """
    driven = record.phase.shape[2] // 2
    frame = (record.phase[..., driven:] - circuit.array.start[:, driven:]).mean(axis=2, keepdims=True)
    phase = record.phase - frame  # the held sources are the clock
    moved = rest_distance(phase, circuit.design.phase_accuracy)
    timed, notes = np.isfinite(spec.duration), []
    if noisy(circuit) and not timed:
        flat = phase[-len(record.since(skip).cycles) :].reshape(len(record.since(skip).cycles), -1)
        mean, change = beat_means(flat, np.exp(1j * flat))
        settled = change <= average_tolerance(circuit, last)
        final, change = (flat[-1] + np.angle(mean * np.exp(-1j * flat[-1]))), float(change.max())
        final = final.reshape(phase.shape[1:])
    else:
        settled, final, change = moved <= circuit.design.phase_accuracy, phase[-1], 0.0
    collapsed = record.amplitude < COLLAPSED
    done = bool((settled.all() or (timed and last)) and not collapsed.any())
    if not done:
        notes.append(f"{int((~settled).sum())} oscillators were still moving when their run ended")
    if collapsed.any():
        notes.append(_collapse(int(collapsed.sum()), "oscillators"))
    return _clamped(spec, circuit, final, done, tuple(notes), change)


def _clamped(
    spec: PhaseLayerSpec, circuit: Circuit, final: Array, done: bool, notes: tuple[str, ...], change: float
) -> Reading:
    (heads, channels), driven = circuit.array.cell.shape, final.shape[1] // 2
    final = quantised(final, circuit.design.readout_bits)
    phasor = np.exp(1j * final).reshape(heads, channels, 2 * driven)
    pairs = np.einsum("hdi,hdj->hij", phasor[..., :driven], phasor[..., driven:].conj()).real / channels
    allowed, valid = pair_terms.unmasked(spec), spec.valid
    cosine = np.zeros((heads, spec.n_oscillators, spec.n_oscillators))
    cosine[:, np.ix_(valid, valid)[0], np.ix_(valid, valid)[1]] = pairs
    phase = pair_terms.initial_phase(spec).copy()
    phase[:, valid] = final[:, :driven].reshape(heads, channels, driven).transpose(0, 2, 1)
    return Reading(
        sync=np.where(allowed, pair_terms.coupling(spec), 0.0) * cosine,
        locked=np.broadcast_to(allowed, cosine.shape).copy(),
        order_parameter=pair_terms.spec_order_parameter(spec),
        status=SyncStatus.SETTLED if done else SyncStatus.NOT_CONVERGED,
        notes=notes,
        phase=phase,
        change=change,
    )
