"""Exact oracles of the network dynamics: the fully locked state, and two oscillators also unlocked."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from oscsim import closed_form
from oscsim.locked_state import locked_state
from oscsim.pair_terms import network_matrix, spec_order_parameter, unmasked
from oscsim.phase import order_parameter, wrap
from oscsim.readout import phase_sync
from oscsim.result import Conditioning, SyncStatus
from oscsim.spec import PhaseLayerSpec
from oscsim.tolerance import condition_of_ratio

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Solved:
    """The parts of a reference result that an oracle has to supply."""

    sync: Array
    locked: NDArray[np.bool_]
    phase: Array | None
    order_parameter: Array
    conditioning: Conditioning
    status: SyncStatus = SyncStatus.SETTLED


def solve_network(spec: PhaseLayerSpec, j: Array) -> Solved | None:
    """The exact answer of a network, or None where only the mean-field approximation is known."""
    matrix = network_matrix(spec, j)
    index = np.flatnonzero(spec.valid)
    phase, condition = np.zeros_like(spec.theta), np.ones_like(spec.theta)
    for h in range(spec.n_heads):
        sub = matrix[h][np.ix_(index, index)]
        for c in range(spec.n_channels):
            state = locked_state(sub, spec.omega[h, index, c], spec.mask == "causal")
            if state is None:
                return _two_oscillators(spec, j, matrix, index) if len(index) == 2 else None
            phase[h, index, c] = wrap(state.theta)
            condition[h, index, c] = np.maximum(state.condition, 1.0)
    return _locked_network(spec, j, phase, condition)


def _locked_network(spec: PhaseLayerSpec, j: Array, phase: Array, phase_condition: Array) -> Solved:
    allowed = unmasked(spec)
    difference = phase[:, :, None, :] - phase[:, None, :, :]
    both = phase_condition[:, :, None, :] + phase_condition[:, None, :, :]
    conditioning = Conditioning(
        law="locked_network",
        unmasked=allowed,
        coupling=j,
        condition=np.maximum(1.0, (np.abs(np.sin(difference)) * both).max(axis=3)),
        edge_distance=np.full(j.shape, np.inf),
        phase_condition=phase_condition,
        values=spec.values,
        network_matrix=network_matrix(spec, j),
        omega=spec.omega,
    )
    sync = np.where(allowed, phase_sync(j, phase, phase), 0.0)
    r = order_parameter(phase, spec.valid, spec.mask == "causal")
    return Solved(sync, np.broadcast_to(allowed, j.shape), phase, r, conditioning)


def _two_oscillators(spec: PhaseLayerSpec, j: Array, matrix: Array, index: NDArray[np.int_]) -> Solved:
    """Two oscillators obey the pair law per channel: ``psi' = delta - (M_10 + M_01) sin psi``.

    Not fully locked, so there are no phases to report, and the order parameter is the spec's.
    """
    first, second = index
    delta = np.abs(spec.omega[:, second] - spec.omega[:, first])  # (H, D)
    a = np.broadcast_to((matrix[:, second, first] + matrix[:, first, second])[:, None], delta.shape)
    rho = closed_form.lock_ratio(delta, a)
    held = np.cos(spec.theta[:, second] - spec.theta[:, first])  # nothing pulls, nothing drifts
    cosine = closed_form.synchronization(np.sign(a), delta, a) * np.where(a < 0, -1.0, 1.0)
    cosine = np.where((a == 0) & (delta == 0), held, cosine)
    allowed, eye = unmasked(spec), np.eye(spec.n_oscillators, dtype=bool)
    conditioning = Conditioning(
        law="two_oscillators",
        unmasked=allowed,
        coupling=j,
        condition=_spread(condition_of_ratio(rho).max(axis=1), eye, 1.0),
        edge_distance=_spread(np.abs(rho - 1.0).min(axis=1), eye, np.inf),
        values=spec.values,
    )
    sync = np.where(allowed, j * _spread(cosine.mean(axis=1), eye, 1.0), 0.0)
    locked = allowed & (_spread((rho <= 1.0).all(axis=1).astype(float), eye, 1.0) > 0)
    return Solved(sync, locked, None, spec_order_parameter(spec), conditioning)


def _spread(per_head: Array, eye: NDArray[np.bool_], diagonal: float) -> Array:
    """(H,) pair quantity -> (H, N, N) with its own diagonal; masked cells are cut off later."""
    return np.where(eye, diagonal, per_head[:, None, None])
