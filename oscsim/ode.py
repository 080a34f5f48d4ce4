"""Time integration of a phase layer with scipy: an oracle that knows the equations, not their solution."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.integrate import solve_ivp

from oscsim.errors import SpecError
from oscsim.ode_cells import integrate_cells
from oscsim.ode_network import integrate_network
from oscsim.pair_terms import (
    coupling,
    free_rate,
    held_phasor,
    initial_difference,
    initial_phase,
    locking_strength,
    mismatch,
    network_matrix,
    spec_order_parameter,
    unmasked,
)
from oscsim.phase import order_parameter
from oscsim.readout import attend, phase_sync, row_weights
from oscsim.result import Provenance, SyncResult, SyncStatus
from oscsim.spec import PhaseLayerSpec
from oscsim.tolerance import ORACLE, SETTLE_RESIDUAL, with_average

Array = NDArray[np.float64]
Rhs = Callable[[float, Array], Array]
_SOLVER_TOLERANCE = 1e-12


def right_hand_side(spec: PhaseLayerSpec) -> tuple[Rhs, Array]:
    """The ODE of a layer, docs/spec.md sections 3 to 5, as ``(f(t, y), y(0))`` with y flattened.

    pair: y is psi (H, N, N); clamped: phi (H, N, D), padded rows standing still; network: theta
    (H, N, D). Rates in rad / time unit.
    """
    d = mismatch(spec)
    j = coupling(spec, d)
    if spec.dynamics == "pair":
        a = locking_strength(spec, j)
        start = initial_difference(spec, d, j).ravel()
        return lambda _, psi: d.ravel() - a.ravel() * np.sin(psi), start
    if spec.dynamics == "clamped":
        drive = (free_rate(spec) * held_phasor(spec, j)).ravel()
        return lambda _, phi: (drive * np.exp(-1j * phi)).imag, initial_phase(spec).ravel().copy()
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
    if spec.dynamics == "pair":
        return _pair(spec, max_duration)
    if spec.dynamics == "clamped":
        return _clamped(spec, max_duration)
    sync, locked, phase, status, error = integrate_network(spec, *right_hand_side(spec), max_duration)
    r = order_parameter(phase, spec.valid, spec.mask == "causal")
    return _result(spec, sync, locked, phase, r, status, error)


def _pair(spec: PhaseLayerSpec, max_duration: float) -> SyncResult:
    d = mismatch(spec)
    j = coupling(spec, d)
    a = locking_strength(spec, j)
    psi = initial_difference(spec, d, j)
    allowed = np.broadcast_to(unmasked(spec), j.shape)
    mean, locked, settled = np.zeros(j.shape), np.zeros(j.shape, bool), np.ones(j.shape, bool)
    clock = np.maximum(np.abs(a), d)
    safe = np.where(clock > 0, clock, 1.0)
    cells = integrate_cells((d / safe)[allowed], (a / safe)[allowed], psi[allowed], max_duration)
    mean[allowed], locked[allowed], settled[allowed] = cells
    sync = np.where(allowed, np.abs(j * mean), 0.0)
    status = SyncStatus.SETTLED if settled.all() else SyncStatus.NOT_CONVERGED
    return _result(spec, sync, locked, None, spec_order_parameter(spec), status)


def _clamped(spec: PhaseLayerSpec, max_duration: float) -> SyncResult:
    j = coupling(spec)
    f, phi = right_hand_side(spec)
    own = np.abs(free_rate(spec) * held_phasor(spec, j)).ravel()
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


def _result(
    spec: PhaseLayerSpec,
    sync: Array,
    locked: NDArray[np.bool_],
    phase: Array | None,
    r: Array,
    status: SyncStatus,
    averaging_error: float = 0.0,
) -> SyncResult:
    weights = row_weights(sync, locked, spec.dynamics)
    provenance = Provenance("ode", spec.digest, settings={"method": "DOP853", "tolerance": _SOLVER_TOLERANCE})
    accuracy = with_average(ORACLE, averaging_error)
    output = attend(weights, spec.values)
    return SyncResult(sync, locked, weights, r, output, phase, status, provenance, accuracy)
