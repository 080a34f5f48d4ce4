"""Time integration of a phase layer with scipy: an oracle that knows the equations, not their solution."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.integrate import solve_ivp

from oscsim.errors import SpecError
from oscsim.network_average import network_read_out
from oscsim.pair_terms import (
    coupling,
    held_phasor,
    initial_difference,
    locking_strength,
    mismatch,
    network_matrix,
    spec_order_parameter,
    unmasked,
)
from oscsim.phase import order_parameter
from oscsim.readout import attend, normalise, phase_sync
from oscsim.result import Provenance, SyncResult, SyncStatus
from oscsim.spec import PhaseLayerSpec
from oscsim.tolerance import AVERAGING_RESIDUAL, LOCK_THRESHOLD, ORACLE, ORACLE_AVERAGE, SETTLE_RESIDUAL

Array = NDArray[np.float64]
Rhs = Callable[[float, Array], Array]
_SOLVER_TOLERANCE = 1e-12


def right_hand_side(spec: PhaseLayerSpec) -> tuple[Rhs, Array]:
    """The ODE of a layer, docs/spec.md section 3, as ``(f(t, y), y(0))`` with y flattened.

    pair: y is psi (H, N, N); clamped: phi (H, N, D), padded rows standing still; network: theta
    (H, N, D). Rates in rad / time unit.
    """
    j = coupling(spec)
    if spec.dynamics == "pair":
        d, a = mismatch(spec).ravel(), locking_strength(spec, j).ravel()
        return lambda _, psi: d - a * np.sin(psi), initial_difference(spec, j).ravel()
    if spec.dynamics == "clamped":
        speed = np.ones_like(spec.theta) if spec.rate is None else spec.rate
        drive = np.where(spec.valid[None, :, None], speed, 0.0).ravel() * held_phasor(spec, j).ravel()
        start = spec.theta if spec.phase_0 is None else spec.phase_0
        return lambda _, phi: (drive * np.exp(-1j * phi)).imag, start.ravel().copy()
    matrix, shape = network_matrix(spec, j), spec.theta.shape
    omega = spec.omega - spec.omega.mean(axis=1, keepdims=True)

    def network(_: float, theta: Array) -> Array:
        z = np.exp(1j * theta.reshape(shape))
        return (omega + ((matrix @ z) * z.conj()).imag).ravel()

    return network, spec.theta.ravel().copy()


def trajectory(spec: PhaseLayerSpec, times: Array) -> Array:
    """Phases at the given times (time units), shape (len(times), ...) as in :func:`right_hand_side`.

    A network is shown in the frame that rotates with the mean frequency of each channel.
    """
    f, start = right_hand_side(spec)
    run = solve_ivp(
        f,
        (0.0, float(times[-1])),
        start,
        "DOP853",
        t_eval=times,
        rtol=_SOLVER_TOLERANCE,
        atol=_SOLVER_TOLERANCE,
    )
    heads, count, channels = spec.omega.shape
    shape = (heads, count, count) if spec.dynamics == "pair" else (heads, count, channels)
    return run.y.T.reshape(len(times), *shape)


def integrate(spec: PhaseLayerSpec, *, max_duration: float = 4000.0) -> SyncResult:
    """Synchronization of a layer by integrating its ODE; knows nothing of the closed form.

    Parameters
    ----------
    max_duration : longest run, on each cell's own clock (pair: max(a, d) t; clamped: |rho| R t;
        network: largest rate times t); what has not settled by then is ``not_converged``.

    Returns
    -------
    SyncResult, float64, source "ode"; comparable with ``solve(spec)``.

    >>> from oscsim import PhaseLayerSpec, FrequencyCoupling
    >>> spec = PhaseLayerSpec(omega=[[[0.0], [0.6]]], theta=[[[0.0], [0.0]]],
    ...                       coupling=FrequencyCoupling(alpha=[0.0]), gain=[1.0])
    >>> integrate(spec).sync.round(9).tolist()
    [[[1.0, 0.8], [0.8, 1.0]]]
    """
    if not max_duration > 0:
        raise SpecError(f"max_duration: given {max_duration}, expected a number > 0")
    run = {"pair": _pair, "clamped": _clamped, "network": _network}[spec.dynamics]
    return run(spec, max_duration)


def _pair(spec: PhaseLayerSpec, max_duration: float) -> SyncResult:
    j = coupling(spec)
    d, a, psi = mismatch(spec), locking_strength(spec, j), initial_difference(spec, j)
    allowed = np.broadcast_to(unmasked(spec), j.shape)
    mean, locked, settled = np.zeros(j.shape), np.zeros(j.shape, bool), np.ones(j.shape, bool)
    clock = np.maximum(np.abs(a), d)
    safe = np.where(clock > 0, clock, 1.0)
    cells = _integrate_cells((d / safe)[allowed], (a / safe)[allowed], psi[allowed], max_duration)
    mean[allowed], locked[allowed], settled[allowed] = cells
    sync = np.where(allowed, np.abs(j * mean), 0.0)
    status = SyncStatus.SETTLED if settled.all() else SyncStatus.NOT_CONVERGED
    return _result(spec, sync, locked, None, spec_order_parameter(spec), status)


def _integrate_cells(
    d: Array, a: Array, psi: Array, max_duration: float
) -> tuple[Array, NDArray[np.bool_], NDArray[np.bool_]]:
    """Run cells until each is at rest or has made one whole turn: (<cos psi>, locked, settled)."""
    count = len(d)
    mean, locked, settled = np.cos(psi), np.zeros(count, bool), np.zeros(count, bool)
    y, now, span = np.concatenate([psi, np.zeros(count)]), 0.0, 8.0
    active = np.arange(count)
    while len(active) and now < max_duration:
        span = min(span, max_duration - now)
        n, dd, aa = len(active), d[active], a[active]

        def f(_: float, y: Array, dd: Array = dd, aa: Array = aa, n: int = n) -> Array:
            return np.concatenate([dd - aa * np.sin(y[:n]), np.cos(y[:n])])

        run = solve_ivp(
            f, (0, span), y, "DOP853", rtol=_SOLVER_TOLERANCE, atol=_SOLVER_TOLERANCE, dense_output=True
        )
        turned = run.y[:n, -1] - psi[active] >= 2 * np.pi
        mean[active[turned]] = _whole_turn_mean(run, psi[active], turned, now, dd - aa * np.sin(psi[active]))
        rest = np.abs(dd - aa * np.sin(run.y[:n, -1])) <= 0.01 * SETTLE_RESIDUAL
        mean[active[rest]] = np.cos(run.y[:n, -1][rest])
        locked[active[rest]] = True
        settled[active[turned | rest]] = True
        keep = ~(turned | rest)
        y = run.y[:, -1].reshape(2, n)[:, keep].ravel()
        active, now, span = active[keep], now + span, 2 * span
    return mean, locked, settled


def _whole_turn_mean(run: object, start: Array, turned: NDArray[np.bool_], now: float, speed: Array) -> Array:
    """``<cos psi>`` over exactly one turn: Newton for the time at which psi = psi(0) + 2 pi."""
    which = np.flatnonzero(turned)
    if not len(which):
        return np.zeros(0)
    grid, n = run.t, len(turned)  # type: ignore[attr-defined]
    passed = run.y[which] - start[which, None] >= 2 * np.pi  # type: ignore[attr-defined]
    t = grid[np.argmax(passed, axis=1)]
    for _ in range(30):  # psi' at the crossing equals psi' at the start: the motion is periodic
        psi = run.sol(t)[which, np.arange(len(which))]  # type: ignore[attr-defined]
        t = np.clip(t - (psi - start[which] - 2 * np.pi) / speed[which], grid[0], grid[-1])
    area = run.sol(t)[n + which, np.arange(len(which))]  # type: ignore[attr-defined]
    return area / (now + t)


def _clamped(spec: PhaseLayerSpec, max_duration: float) -> SyncResult:
    j = coupling(spec)
    f, phi = right_hand_side(spec)
    own = np.abs(held_phasor(spec, j) if spec.rate is None else spec.rate * held_phasor(spec, j)).ravel()
    own = np.where(np.broadcast_to(spec.valid[None, :, None], spec.theta.shape).ravel(), own, 0.0)
    clock = np.where(own > 0, own, 1.0)
    # on its own clock every oscillator relaxes at rate 1, so one run serves all, however slow
    end = np.where(own > 0, np.minimum(spec.duration * clock, max_duration), 0.0)
    now = 0.0
    while now < end.max():
        step = np.clip(end - now, 0.0, 60.0)
        run = solve_ivp(
            lambda t, y, step=step: step / clock * f(t, y), (0, 1), phi, "DOP853",
            rtol=_SOLVER_TOLERANCE, atol=_SOLVER_TOLERANCE, max_step=0.05,
        )  # fmt: skip
        phi, now = run.y[:, -1], now + 60.0
        moving = np.abs(f(0.0, phi)) / clock > 0.01 * SETTLE_RESIDUAL
        if not moving.any():
            break
    phase = phi.reshape(spec.theta.shape)
    cut = moving & (end < spec.duration * clock) if now else np.zeros(1, bool)
    status = SyncStatus.NOT_CONVERGED if cut.any() else SyncStatus.SETTLED
    allowed = unmasked(spec)
    sync = np.where(allowed, phase_sync(j, phase, spec.theta), 0.0)
    return _result(spec, sync, np.broadcast_to(allowed, j.shape), phase, spec_order_parameter(spec), status)


def _network(spec: PhaseLayerSpec, max_duration: float) -> SyncResult:
    j, (f, y) = coupling(spec), right_hand_side(spec)
    largest = np.abs(network_matrix(spec, j)).sum(axis=2).max(axis=1) + np.ptp(spec.omega, axis=1).max(axis=1)
    clock = np.where(largest > 0, largest, 1.0)[:, None, None]  # each head on its own
    slowed = np.broadcast_to(1.0 / clock, spec.theta.shape).ravel()
    index = np.flatnonzero(spec.valid)
    span, now = 32.0, 0.0
    while True:
        times = np.linspace(0.0, span, 4097)
        run = solve_ivp(
            lambda t, y: slowed * f(t, y), (0, span), y, "DOP853", t_eval=times, rtol=1e-11, atol=1e-11
        )
        samples, y, now = run.y.T.reshape(-1, *spec.theta.shape), run.y[:, -1], now + span
        speed = (slowed * f(0.0, y)).reshape(spec.theta.shape)[:, index]
        rest = np.ptp(speed, axis=1).max() <= 0.01 * SETTLE_RESIDUAL
        mean, error = network_read_out(samples[:, :, index])
        if rest or error <= AVERAGING_RESIDUAL or now >= max_duration:
            break
        span = min(2 * span, max(max_duration - now, 32.0))
    status = SyncStatus.DRIFTING if error <= AVERAGING_RESIDUAL else SyncStatus.NOT_CONVERGED
    if rest:
        last = samples[-1][:, index]
        mean, status = np.exp(1j * (last[:, :, None] - last[:, None, :])), SyncStatus.SETTLED
    z = np.zeros((*j.shape, spec.n_channels), complex)
    z[np.ix_(range(spec.n_heads), index, index)] = mean
    allowed = unmasked(spec)
    locked = allowed & (np.abs(z) >= LOCK_THRESHOLD).all(axis=3)
    sync = np.where(allowed, j * z.real.mean(axis=3), 0.0)
    r = order_parameter(samples[-1], spec.valid, spec.mask == "causal")
    return _result(spec, sync, locked, samples[-1], r, status)


def _result(
    spec: PhaseLayerSpec,
    sync: Array,
    locked: NDArray[np.bool_],
    phase: Array | None,
    r: Array,
    status: SyncStatus,
) -> SyncResult:
    weights = normalise(sync)
    provenance = Provenance("ode", spec.digest, settings={"method": "DOP853", "tolerance": _SOLVER_TOLERANCE})
    accuracy = ORACLE_AVERAGE if status is SyncStatus.DRIFTING else ORACLE
    output = attend(weights, spec.values)
    return SyncResult(sync, locked, weights, r, output, phase, status, provenance, accuracy)
