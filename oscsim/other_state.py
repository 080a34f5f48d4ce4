"""A network run that rests in another state than the reference: told apart from a wrong answer."""

import numpy as np

from oscsim.locked_state import rest_error, stable
from oscsim.readout import phase_sync
from oscsim.result import Conditioning, SyncResult


def other_state(result: SyncResult, terms: Conditioning) -> tuple[str, str] | None:
    """Status and words if the phases of the run solve the locked-state equations, else None.

    ``omega_i + sum_j M_ij sin(theta_j - theta_i)`` has to be one frequency per channel, to epsilon of each
    row's own rates, and S has to be the one of these phases.
    """
    phase, matrix, omega = result.phase, terms.network_matrix, terms.omega
    if phase is None or matrix is None or omega is None:
        return None
    scale = np.maximum(np.abs(terms.coupling), np.abs(terms.coupling).max())
    sync = np.where(terms.unmasked, phase_sync(terms.coupling, phase, phase), 0.0)
    if (np.abs(result.sync - sync) > result.accuracy.epsilon * scale).any():
        return None
    index = np.flatnonzero(np.diagonal(terms.unmasked))
    settled = True
    for h in range(len(omega)):
        sub = matrix[h][np.ix_(index, index)]
        for c in range(omega.shape[2]):
            theta, rates = phase[h, index, c], omega[h, index, c]
            if rest_error(sub, rates, theta) > result.accuracy.epsilon:
                return None
            settled &= stable(sub, rates, theta)
    if settled:
        return "other_state", (
            "the run rests in a stable locked state, but not in the one Newton finds from theta = 0: "
            "both are right, the start decides"
        )
    return "unstable_state", "the run rests in an unstable locked state, where it started; move the start"
