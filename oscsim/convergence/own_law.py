"""What a circuit ought to do according to its own phase reduction, without running it."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from oscsim import pair_terms
from oscsim.circuits import Circuit
from oscsim.phase_reduction import PairLaw, PhaseModel, locked_phases, settled_network
from oscsim.spec import PhaseLayerSpec
from oscsim.tolerance import AVERAGING_CAP, LOCK_THRESHOLD

Array = NDArray[np.float64]
# Lengths of a network run in units of 1/(its largest pull): to rest, and for averages of what drifts.
_SETTLE, _WINDOW = 200.0, 800.0


@dataclass(frozen=True, eq=False)
class OwnAnswer:
    """Synchronization by the circuit's own coupling function and free frequencies.

    Parameters
    ----------
    sync : (H, N, N) S. locked : (H, N, N) bool. error : estimated error of averages of what drifts.
    """

    sync: Array
    locked: NDArray[np.bool_]
    error: float = 0.0


def own_answer(spec: PhaseLayerSpec, circuit: Circuit) -> OwnAnswer:
    """The generalised closed form of a circuit, imperfections included, to first order in its couplers.

    pair: :func:`oscsim.phase_reduction.locked_phases` per cell; network and clamped: the phase model of the
    same couplers, integrated.
    """
    return {"pair": _pair, "network": _network, "clamped": _clamped}[spec.dynamics](spec, circuit)


def _pair(spec: PhaseLayerSpec, circuit: Circuit) -> OwnAnswer:
    array, kappa = circuit.array, circuit.kappa[circuit.matrix]
    law = PairLaw(
        circuit.detuning[:, 0] - circuit.detuning[:, 1], kappa[:, 0, 1], kappa[:, 1, 0], circuit.coupling
    )
    state = locked_phases(law, array.start[:, 0] - array.start[:, 1])
    there = array.cell >= 0
    coupling = pair_terms.coupling(spec)
    sync, locked = np.zeros(coupling.shape), np.zeros(coupling.shape, bool)
    sync[there] = np.abs(coupling[there] * state.mean_cosine[array.cell[there]])
    locked[there] = state.locked[array.cell[there]]
    return OwnAnswer(sync, locked)


def _model(circuit: Circuit) -> tuple[PhaseModel, float]:
    """The phase model, and its largest rate."""
    model = PhaseModel(circuit.coupling, circuit.detuning, circuit.kappa, circuit.matrix)
    pull = np.abs(circuit.kappa).sum(axis=2).max(initial=0.0) * circuit.coupling.strength
    return model, max(float(pull), 1e-300)


def _network(spec: PhaseLayerSpec, circuit: Circuit) -> OwnAnswer:
    model, pull = _model(circuit)
    state = settled_network(model, circuit.array.start, _SETTLE / pull, _WINDOW / pull)
    index, coupling = np.flatnonzero(spec.valid), pair_terms.coupling(spec)
    mean = np.zeros((*coupling.shape, spec.n_channels), np.complex128)
    by_channel = state.mean[circuit.array.cell]  # (H, D, n, n)
    mean[:, index[:, None], index[None, :]] = by_channel.transpose(0, 2, 3, 1)
    allowed = pair_terms.unmasked(spec)
    sync = np.where(allowed, coupling * mean.real.mean(axis=3), 0.0)
    locked = allowed & (np.abs(mean) >= LOCK_THRESHOLD).all(axis=3)
    return OwnAnswer(sync, locked, float(np.minimum(state.error, AVERAGING_CAP).max(initial=0.0)))


def _clamped(spec: PhaseLayerSpec, circuit: Circuit) -> OwnAnswer:
    model, pull = _model(circuit)
    natural = min(spec.duration * spec.time_unit_s / circuit.natural_s, _SETTLE / pull)
    theta = model.run(circuit.array.start, np.array([0.0, natural]))[-1]
    index, coupling = np.flatnonzero(spec.valid), pair_terms.coupling(spec)
    phase = np.zeros_like(spec.theta)
    # the held half turns with the carrier: what it shows is the reference of the driven half
    drift = theta[:, len(index) :] - circuit.array.start[:, len(index) :]
    driven = theta[:, : len(index)] - drift.mean(axis=1, keepdims=True)
    phase[:, index] = driven[circuit.array.cell].transpose(0, 2, 1)
    difference = phase[:, :, None, :] - spec.theta[:, None, :, :]
    allowed = pair_terms.unmasked(spec)
    sync = np.where(allowed, coupling * np.cos(difference).mean(axis=3), 0.0)
    return OwnAnswer(sync, np.broadcast_to(allowed, sync.shape))
