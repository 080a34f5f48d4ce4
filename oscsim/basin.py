"""Whether a network that starts at its own phases ends in the fully locked state that exists for it."""

from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from oscsim.beat_average import FEWEST_TURNS
from oscsim.errors import SpecError
from oscsim.ode import integrate, trajectory
from oscsim.pair_terms import coupling, network_matrix
from oscsim.phase import wrap
from oscsim.reference import solve
from oscsim.result import SyncResult, SyncStatus
from oscsim.spec import PhaseLayerSpec
from oscsim.tolerance import SETTLE_RESIDUAL

Array = NDArray[np.float64]


class Basin(StrEnum):
    """Answer of :func:`basin`."""

    REACHED = "reached"
    MISSED = "missed"
    UNDECIDED = "undecided"
    NO_STATE = "no locked state"


def basin(spec: PhaseLayerSpec, *, max_duration: float = 4000.0) -> Basin:
    """Integrate a network from ``spec.theta`` and say whether it comes to rest in the state ``solve`` names.

    ``reached``: at rest in that state, up to one rotation per head and channel. ``missed``: at rest in
    another state, or rotating with an average that has converged. ``undecided``: neither within
    ``max_duration``, as of a chaotic or a creeping network. ``no locked state``: there is none to reach.

    Parameters
    ----------
    max_duration : as in :func:`oscsim.integrate`.

    Raises
    ------
    SpecError
        dynamics other than "network".

    >>> from oscsim import PhaseLayerSpec, FrequencyCoupling
    >>> layer = PhaseLayerSpec(omega=[[[0.0], [0.1], [0.2]]], theta=[[[0.0], [2.0], [4.0]]],
    ...                        coupling=FrequencyCoupling(alpha=[0.0]), gain=[1.0], dynamics="network")
    >>> basin(layer).value
    'reached'
    """
    if spec.dynamics != "network":
        raise SpecError(f"dynamics: given {spec.dynamics}, expected network; other dynamics have one end")
    exact = solve(spec)
    if exact.phase is None or exact.status is SyncStatus.NO_LOCKED_STATE:
        return Basin.NO_STATE
    result = integrate(spec, max_duration=max_duration)
    if result.status is SyncStatus.DRIFTING:
        start = _phase(result)
        end = _later(spec, start, max_duration)
        turns = np.ptp((end - start)[:, spec.valid], axis=1) / (2.0 * np.pi)
        if turns.max() >= FEWEST_TURNS:
            return Basin.MISSED
        # it creeps: its average stands still before it does
        result = integrate(spec.replace(theta=wrap(end)), max_duration=max_duration)
    if result.status is not SyncStatus.SETTLED:
        return Basin.UNDECIDED
    return Basin.REACHED if _same_state(spec, _phase(result), exact) else Basin.MISSED


def _phase(result: SyncResult) -> Array:
    assert result.phase is not None  # a network always has phases; narrows the type
    return result.phase


def _same_state(spec: PhaseLayerSpec, theta: Array, exact: SyncResult) -> bool:
    """Equal up to one rotation per head and channel, to what a run at rest can be wrong by."""
    away = np.exp(1j * (theta - _phase(exact)))[:, spec.valid]
    distance = np.abs(np.angle(away * away.mean(axis=1, keepdims=True).conj()))
    condition = exact.conditioning and exact.conditioning.phase_condition
    allowed = SETTLE_RESIDUAL * (1.0 if condition is None else condition[:, spec.valid])
    return bool((distance <= allowed).all())


def _later(spec: PhaseLayerSpec, theta: Array, duration: float) -> Array:
    """Phases (H, N, D) after ``duration`` on the network's own clock, largest rate times t."""
    pull = np.abs(network_matrix(spec, coupling(spec))).sum(axis=2).max()
    rate = float(pull + np.ptp(spec.omega[:, spec.valid], axis=1).max())
    return trajectory(spec.replace(theta=theta), np.array([0.0, duration / rate]))[1]
