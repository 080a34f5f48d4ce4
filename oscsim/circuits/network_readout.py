"""What a record of networks says about a layer."""

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components

from oscsim import beat_average, pair_terms
from oscsim.circuits.averages import rest_distance
from oscsim.circuits.cell_readings import COLLAPSED, average_tolerance, noisy
from oscsim.circuits.circuit import Circuit
from oscsim.circuits.rates import RELAXATIONS, slowest_rate
from oscsim.circuits.readout import Reading, collapse_note
from oscsim.circuits.recorder import PhaseRecord
from oscsim.phase import order_parameter
from oscsim.result import SyncStatus
from oscsim.spec import PhaseLayerSpec
from oscsim.tolerance import LOCK_THRESHOLD

Array = NDArray[np.float64]
_FEWEST_SAMPLES = 16


def network_reading(
    spec: PhaseLayerSpec, circuit: Circuit, record: PhaseRecord, skip: float, last: bool
) -> Reading:
    """``S = J (1/D) sum_l Re <exp(i(theta_i - theta_j))>``, at rest or averaged over whole beats.

    A network that moves without a whole turn, or has not run for several times 1/rate of its slowest motion,
    is neither.
    """
    heads, channels = circuit.array.cell.shape
    valid, count = spec.valid, spec.n_oscillators
    late = record.since(skip)
    seen = late.quantised(circuit.design.readout_bits)
    relative = record.phase - record.phase[..., :1]
    rest = rest_distance(relative, circuit.design.phase_accuracy) <= circuit.design.phase_accuracy
    means = np.zeros((heads * channels, count, count), complex)
    changes, undecided = np.zeros(heads * channels), np.zeros(heads * channels, bool)
    for b in range(heads * channels):
        if rest[b].all() and not noisy(circuit):
            mean = beat_average.rest_mean(seen.phase[:, b])
        else:
            mean, changes[b] = _averages(late.phase[:, b], seen.phase[:, b])
        undecided[b] = _undecided(circuit, b, record, late.phase[:, b], mean, bool(rest[b].all()))
        means[b][np.ix_(valid, valid)] = mean
    means = means.reshape(heads, channels, count, count)
    allowed = pair_terms.unmasked(spec)
    locked = np.all(np.abs(means) >= LOCK_THRESHOLD, axis=1) & allowed
    theta = spec.theta.copy()
    theta[:, valid] = seen.phase[-1].reshape(heads, channels, -1).transpose(0, 2, 1)
    change, collapsed = float(changes.max()), record.amplitude < COLLAPSED
    converged = change <= average_tolerance(circuit, last) and not (collapsed.any() or undecided.any())
    ended = SyncStatus.SETTLED if locked[:, allowed].all() else SyncStatus.DRIFTING
    at_rest, slow = int(((changes == 0) & ~undecided).sum()), int(undecided.sum())
    notes = [f"{at_rest} of {len(changes)} networks at rest, {len(changes) - at_rest - slow} averaged"]
    if slow:
        notes.append(
            f"{slow} of {len(changes)} networks neither at rest nor averaged: they still move, by less than "
            f"whole turns, or have run for less than {RELAXATIONS:g} times 1/rate of their slowest motion"
        )
    if np.isinf(change):
        notes.append("too few beats seen for an average")
    elif change > 0.0:
        notes.append(f"the average changed by {change:.3g} over its later half")
    if collapsed.any():
        notes.append(collapse_note(int(collapsed.sum()), "oscillators"))
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


def _undecided(
    circuit: Circuit, batch: int, record: PhaseRecord, late: Array, mean: NDArray[np.complex128], rest: bool
) -> bool:
    """Whether what a network (late phases (K, N), their mean phasors) shows may be slow motion only."""
    turns = np.abs((late[-1] - late[0])[:, None] - (late[-1] - late[0])) / (2.0 * np.pi)
    still = turns <= beat_average.WOBBLE_TURNS
    if not rest and still.all() and not noisy(circuit):
        # nothing turns that could keep the others moving: what is left of their motion has to be a ripple
        half = late[len(late) // 2 :]
        if np.ptp(half - half[:, :1], axis=0).max() > average_tolerance(circuit, False):
            return True
    elapsed = float(record.cycles[-1]) * circuit.reduction.cycle.period
    count, label = connected_components(still, directed=False)
    for group in range(count):
        members = np.flatnonzero(label == group)
        rate = slowest_rate(circuit, batch, members, mean.real[np.ix_(members, members)])
        if elapsed * rate < RELAXATIONS:
            return True
    return False
