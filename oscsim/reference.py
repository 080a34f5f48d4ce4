"""The reference: what a phase layer's synchronization is, solved in closed form in float64."""

import numpy as np
from numpy.typing import NDArray

from oscsim import closed_form
from oscsim.network_reference import Solved, solve_network
from oscsim.pair_terms import (
    coupling,
    free_rate,
    held_phasor,
    initial_phase,
    locking_strength,
    mismatch,
    spec_order_parameter,
    unmasked,
)
from oscsim.readout import attend, phase_sync, row_weights
from oscsim.result import Conditioning, Provenance, SyncResult, SyncStatus
from oscsim.spec import PhaseLayerSpec
from oscsim.tolerance import ORACLE, condition_of_ratio

Array = NDArray[np.float64]


def solve(spec: PhaseLayerSpec) -> SyncResult:
    """Closed-form synchronization of a phase layer (docs/spec.md sections 2 and 3).

    pair: ``S_ij = |J_ij| sqrt(1 - (d_ij/a_ij)^2)`` where ``d_ij <= |a_ij|``, else 0.
    clamped: the exact flow map, ``S_ij = J_ij (1/D) sum_l cos(phi_i^l - theta_j^l)``.
    network: the stable fully locked state (two oscillators also when unlocked); where none exists the
    status is ``no_locked_state`` and sync is the mean-field closed form with the spec's order parameter.

    Returns
    -------
    SyncResult with ``conditioning``; float64.

    >>> from oscsim import PhaseLayerSpec, FrequencyCoupling
    >>> spec = PhaseLayerSpec(omega=[[[0.0], [0.6]]], theta=[[[0.0], [0.0]]],
    ...                       coupling=FrequencyCoupling(alpha=[0.0]), gain=[1.0])
    >>> solve(spec).sync.round(12).tolist()
    [[[1.0, 0.8], [0.8, 1.0]]]
    """
    d = mismatch(spec)
    j = coupling(spec, d)
    if spec.dynamics == "pair":
        return _solve_pair(spec, d, j, "pair", SyncStatus.SETTLED)
    if spec.dynamics == "clamped":
        return _solve_clamped(spec, j)
    solved = solve_network(spec, j)
    if solved is None:
        return _solve_pair(spec, d, j, "mean_field", SyncStatus.NO_LOCKED_STATE)
    return _result(spec, solved)


def _solve_pair(spec: PhaseLayerSpec, d: Array, j: Array, law: str, status: SyncStatus) -> SyncResult:
    a = locking_strength(spec, j)
    allowed = unmasked(spec)
    rho = closed_form.lock_ratio(d, a)
    sync = np.where(allowed, closed_form.synchronization(j, d, a), 0.0)
    conditioning = Conditioning(
        law=law,
        unmasked=allowed,
        coupling=j,
        condition=condition_of_ratio(rho),
        edge_distance=np.abs(rho - 1.0),
        values=spec.values,
    )
    locked = allowed & (d <= np.abs(a))
    return _result(spec, Solved(sync, locked, None, spec_order_parameter(spec), conditioning, status))


def _solve_clamped(spec: PhaseLayerSpec, j: Array) -> SyncResult:
    drive = held_phasor(spec, j)
    start, rate = initial_phase(spec), free_rate(spec)
    phase = closed_form.clamped_flow(start, drive, rate, spec.duration)
    allowed = unmasked(spec)
    sync = np.where(allowed, phase_sync(j, phase, spec.theta), 0.0)
    phase_condition = _clamped_condition(spec, j, drive, start, rate)
    conditioning = Conditioning(
        law="clamped",
        unmasked=allowed,
        coupling=j,
        condition=np.broadcast_to(phase_condition.max(axis=2)[:, :, None], j.shape),
        edge_distance=np.full(j.shape, np.inf),
        phase_condition=phase_condition,
        values=spec.values,
    )
    locked = np.broadcast_to(allowed, j.shape)
    return _result(spec, Solved(sync, locked, phase, spec_order_parameter(spec), conditioning))


def _clamped_condition(
    spec: PhaseLayerSpec, j: Array, drive: NDArray[np.complex128], start: Array, rate: Array
) -> Array:
    """``max(1, sum_j |C_ij| / R, growth)``: how a relative error of the drive and of the start grow.

    sum|C|/R rather than 1/R: scaling K and time together must not change it, and rounding of G is
    relative to the sum of its terms. Padded and free-standing oscillators do not move: condition 1.
    """
    total = np.where(unmasked(spec), spec.gain[:, None, None] * np.abs(j), 0.0).sum(axis=2)[:, :, None]
    strength = np.abs(drive)
    with np.errstate(divide="ignore", invalid="ignore"):
        cancellation = np.where(total > 0, total / strength, 1.0)
    growth = closed_form.clamped_growth(start, drive, rate, spec.duration)
    still = (rate == 0) | (spec.duration == 0) | (total == 0)
    return np.where(still, 1.0, np.maximum(np.maximum(cancellation, growth), 1.0))


def _result(spec: PhaseLayerSpec, solved: Solved) -> SyncResult:
    weights = row_weights(solved.sync, solved.locked, spec.dynamics)
    return SyncResult(
        sync=solved.sync,
        locked=solved.locked,
        weights=weights,
        order_parameter=solved.order_parameter,
        output=attend(weights, spec.values),
        phase=solved.phase,
        status=solved.status,
        provenance=Provenance("closed_form", spec.digest, notes=(solved.conditioning.oracle,)),
        accuracy=ORACLE,
        conditioning=solved.conditioning,
    )
