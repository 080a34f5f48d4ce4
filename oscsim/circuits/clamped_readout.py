"""What a record of driven and held oscillators says about a clamped layer."""

import numpy as np
from numpy.typing import NDArray

from oscsim import pair_terms
from oscsim.circuits.averages import beat_means, rest_distance
from oscsim.circuits.cell_readings import COLLAPSED, average_tolerance, noisy
from oscsim.circuits.circuit import Circuit
from oscsim.circuits.rates import RELAXATIONS
from oscsim.circuits.readout import Reading, collapse_note
from oscsim.circuits.recorder import PhaseRecord, quantised
from oscsim.result import SyncStatus
from oscsim.spec import PhaseLayerSpec

Array = NDArray[np.float64]


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
        settled = (change <= average_tolerance(circuit, last)) & _long_enough(circuit, record).ravel()
        final, change = (flat[-1] + np.angle(mean * np.exp(-1j * flat[-1]))), float(change.max())
        final = final.reshape(phase.shape[1:])
    else:
        settled = (moved <= circuit.design.phase_accuracy) & _long_enough(circuit, record)
        final, change = phase[-1], 0.0
    collapsed = record.amplitude < COLLAPSED
    done = bool((settled.all() or (timed and last)) and not collapsed.any())
    if not done:
        notes.append(f"{int((~settled).sum())} oscillators were still moving when their run ended")
    if collapsed.any():
        notes.append(collapse_note(int(collapsed.sum()), "oscillators"))
    return _clamped(spec, circuit, final, done, tuple(notes), change)


def _long_enough(circuit: Circuit, record: PhaseRecord) -> NDArray[np.bool_]:
    """(B, n) whether oscillators have run for several times 1/rate, ``|sum_j kappa_ij b_1 exp(i theta_j)|``.

    What nothing drives, or drives that cancel, has no rate and stays where it is.
    """
    couplers = circuit.kappa[circuit.matrix]
    drive = np.abs(np.matmul(couplers, np.exp(1j * circuit.array.start)[..., None])[..., 0])
    elapsed = float(record.cycles[-1]) * circuit.reduction.cycle.period
    driven = drive > 1e-12 * np.abs(couplers).sum(axis=2)
    return ~driven | (elapsed * drive * circuit.reduction.coupling.strength >= RELAXATIONS)


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
