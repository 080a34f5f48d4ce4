"""What a circuit ought to do according to its own phase reduction, without running it."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from oscsim import pair_terms
from oscsim.circuits import Circuit
from oscsim.phase_reduction import NetworkState, PairLaw, PhaseModel, locked_phases, settled_network
from oscsim.spec import PhaseLayerSpec
from oscsim.tolerance import LOCK_THRESHOLD

Array = NDArray[np.float64]
# Lengths of a network run in units of 1/(its largest pull): to rest, and for averages of what drifts; doubled
# until both have converged, at most so many times.
_SETTLE, _WINDOW, _DOUBLINGS = 200.0, 800.0, 3
# Own-clock time of a driven oscillator after which it is where it will be, and steps that integrate it.
_DRIVEN, _DRIVEN_STEPS = 60.0, 1200
# A pair of a drifting network is still below so many turns in a window, and averaged from so many on.
_STILL, _ENOUGH_TURNS = 1e-6, 2.5
# An average that still changes by more says nothing about errors of circuits, which are of this size.
_SMALL = 1e-3


@dataclass(frozen=True, eq=False)
class OwnAnswer:
    """Synchronization by the circuit's own coupling function and free frequencies.

    Parameters
    ----------
    sync : (H, N, N) S. locked : (H, N, N) bool.
    error : estimated error of averages of what drifts; infinite where nothing converged.
    """

    sync: Array
    locked: NDArray[np.bool_]
    error: float = 0.0

    @property
    def settled(self) -> bool:
        """Whether the law gives an answer sharp enough to compare a circuit with."""
        return self.error <= _SMALL


def own_answer(spec: PhaseLayerSpec, circuit: Circuit) -> OwnAnswer:
    """The generalised closed form of a circuit, imperfections included, to first order in its couplers.

    pair: :func:`oscsim.phase_reduction.locked_phases` per cell; network: the phase model of the same
    couplers, integrated; clamped: every driven oscillator on its own clock. Without noise and read-out bits.
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
    start, settle, window = circuit.array.start, _SETTLE / pull, _WINDOW / pull
    for _ in range(_DOUBLINGS + 1):
        state = settled_network(model, start, settle, window, _residual(model))
        error = np.inf if _creeps(model, state, window) else float(state.error.max(initial=0.0))
        if error <= _SMALL:
            break
        start, settle, window = state.theta, 2.0 * settle, 2.0 * window
    index, coupling = np.flatnonzero(spec.valid), pair_terms.coupling(spec)
    mean = np.zeros((*coupling.shape, spec.n_channels), np.complex128)
    by_channel = state.mean[circuit.array.cell]  # (H, D, n, n)
    mean[:, index[:, None], index[None, :]] = by_channel.transpose(0, 2, 3, 1)
    allowed = pair_terms.unmasked(spec)
    sync = np.where(allowed, coupling * mean.real.mean(axis=3), 0.0)
    locked = allowed & (np.abs(mean) >= LOCK_THRESHOLD).all(axis=3)
    return OwnAnswer(sync, locked, error)


def _residual(model: PhaseModel) -> float:
    """Rest relative to the fastest rate, such that also the weakest row has come to rest."""
    rows = np.abs(model.kappa).sum(axis=2)
    weakest = float(rows[rows > 0.0].min(initial=np.inf)) / max(float(rows.max(initial=0.0)), 1e-300)
    return max(1e-9 * min(weakest, 1.0), 1e-15)


def _creeps(model: PhaseModel, state: NetworkState, window: float) -> bool:
    """Whether a pair of a network that is not at rest has moved, but too few turns to be averaged."""
    moving = ~state.at_rest
    rates = model.rates(state.theta)[moving]
    turns = np.abs(rates[:, :, None] - rates[:, None, :]) * window / (2.0 * np.pi)
    return bool(((turns > _STILL) & (turns < _ENOUGH_TURNS)).any())


def _clamped(spec: PhaseLayerSpec, circuit: Circuit) -> OwnAnswer:
    count, natural = int(spec.valid.sum()), spec.duration * spec.time_unit_s / circuit.natural_s
    held = circuit.detuning[:, count:]
    # held oscillators that differ have no common frame: what they drive never comes to rest
    apart = np.ptp(held, axis=1).max(initial=0.0) > 1e-12
    if apart and not np.isfinite(natural):
        driven, error = circuit.array.start[:, :count], np.inf
    elif apart:
        model, _ = _model(circuit)
        theta = model.run(circuit.array.start, np.array([0.0, natural]))[-1]
        driven, error = theta[:, :count] - natural * held.mean(axis=1, keepdims=True), 0.0
    else:
        driven, error = _driven(circuit, count, natural), 0.0
    index, coupling = np.flatnonzero(spec.valid), pair_terms.coupling(spec)
    phase = np.zeros_like(spec.theta)
    phase[:, index] = driven[circuit.array.cell].transpose(0, 2, 1)
    difference = phase[:, :, None, :] - spec.theta[:, None, :, :]
    allowed = pair_terms.unmasked(spec)
    sync = np.where(allowed, coupling * np.cos(difference).mean(axis=3), 0.0)
    return OwnAnswer(sync, np.broadcast_to(allowed, sync.shape), error)


def _driven(circuit: Circuit, count: int, natural: float) -> Array:
    """Phases (B, count) after ``natural`` units of time under sources that stand still in their common frame.

    ``phi' = f_0 + sum_n 2 Re(f_n e^{-i n phi})``, ``f_n = sum_j kappa_ij c_n e^{i n theta_j}``: one equation
    per oscillator, so each takes the steps that its own rates ask for.
    """
    coupling, kappa = circuit.coupling, circuit.kappa[circuit.matrix][:, :count, count:]
    phase, theta = circuit.array.start[:, :count].copy(), circuit.array.start[:, count:]
    n = np.arange(1, len(coupling.coefficients))
    sources = np.einsum("bij,bjn->bin", kappa, np.exp(1j * theta[..., None] * n)) * coupling.coefficients[1:]
    constant = circuit.detuning[:, :count] - circuit.detuning[:, count:].mean(axis=1, keepdims=True)
    constant = constant + np.abs(kappa).sum(axis=2) * coupling.shift
    constant = constant + kappa.sum(axis=2) * coupling.coefficients[0].real
    rate = np.abs(constant) + 2.0 * (n * np.abs(sources)).sum(axis=2)
    span = np.where(rate > 0.0, np.minimum(natural, _DRIVEN / np.where(rate > 0.0, rate, 1.0)), 0.0)
    h = span / _DRIVEN_STEPS

    def slope(phi: Array) -> Array:
        return constant + 2.0 * (sources * np.exp(-1j * phi[..., None] * n)).real.sum(axis=2)

    for _ in range(_DRIVEN_STEPS):
        a = slope(phase)
        b = slope(phase + 0.5 * h * a)
        c = slope(phase + 0.5 * h * b)
        phase = phase + h / 6.0 * (a + 2.0 * b + 2.0 * c + slope(phase + h * c))
    return phase
