"""A phase network integrated until it is at rest, or until its time average has converged."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.integrate import solve_ivp

from oscsim.beat_average import Phasor, pair_averages
from oscsim.pair_terms import coupling, network_matrix, unmasked
from oscsim.result import SyncStatus
from oscsim.spec import PhaseLayerSpec
from oscsim.tolerance import AVERAGING_CAP, AVERAGING_RESIDUAL, LOCK_THRESHOLD, SETTLE_RESIDUAL

Array = NDArray[np.float64]
_SOLVER_TOLERANCE = 1e-11
_SAMPLES = 4097
_FIRST_SPAN = 32.0


def integrate_network(
    spec: PhaseLayerSpec, f: Callable[[float, Array], Array], theta: Array, max_duration: float
) -> tuple[Array, NDArray[np.bool_], Array, SyncStatus, float]:
    """Run ``theta' = f`` in ever longer spans: (sync, locked, final phases, status, averaging error)."""
    j = coupling(spec)
    largest = np.abs(network_matrix(spec, j)).sum(axis=2).max(axis=1) + np.ptp(spec.omega, axis=1).max(axis=1)
    clock = np.where(largest > 0, largest, 1.0)[:, None, None]  # each head runs on its own
    slowed = np.broadcast_to(1.0 / clock, spec.theta.shape).ravel()
    index = np.flatnonzero(spec.valid)
    span, now = _FIRST_SPAN, 0.0
    while True:
        times = np.linspace(0.0, span, _SAMPLES)
        run = solve_ivp(
            lambda t, y: slowed * f(t, y),
            (0, span),
            theta,
            "DOP853",
            t_eval=times,
            rtol=_SOLVER_TOLERANCE,
            atol=_SOLVER_TOLERANCE,
        )
        samples, theta, now = run.y.T.reshape(-1, *spec.theta.shape), run.y[:, -1], now + span
        speed = (slowed * f(0.0, theta)).reshape(spec.theta.shape)[:, index]
        rest = np.ptp(speed, axis=1).max() <= 0.01 * SETTLE_RESIDUAL
        mean, error = _averages(samples[:, :, index])
        if rest or error <= AVERAGING_RESIDUAL or now >= max_duration:
            break
        span = min(2 * span, max(max_duration - now, _FIRST_SPAN))
    status = SyncStatus.DRIFTING if error <= AVERAGING_CAP else SyncStatus.NOT_CONVERGED
    if rest:
        last, error = samples[-1][:, index], 0.0
        mean, status = np.exp(1j * (last[:, :, None] - last[:, None, :])), SyncStatus.SETTLED
    z = np.zeros((*j.shape, spec.n_channels), np.complex128)
    z[:, index[:, None], index[None, :]] = mean
    allowed = unmasked(spec)
    locked = allowed & (np.abs(z) >= LOCK_THRESHOLD).all(axis=3)
    sync = np.where(allowed, j * np.real(z).mean(axis=3), 0.0)
    return sync, locked, samples[-1], status, error


def _averages(samples: Array) -> tuple[Phasor, float]:
    """(H, n, n, D) pair averages over samples (T, H, n, D), and their largest change on halving."""
    heads, count, channels = samples.shape[1:]
    mean, error = np.empty((heads, count, count, channels), np.complex128), 0.0
    for h in range(heads):
        for c in range(channels):
            mean[h, :, :, c], change = pair_averages(samples[:, h, :, c])
            error = max(error, change)
    return mean, error
