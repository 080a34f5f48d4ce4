"""Limit cycles at many tuning capacitances, by shooting at all of them at once."""

import numpy as np
from numpy.typing import NDArray
from scipy.integrate import solve_ivp

from oscsim.oscillators.oscillator import Oscillator
from oscsim.phase_reduction.limit_cycle import LimitCycle
from oscsim.phase_reduction.shooting import TIGHT, NoLimitCycle

Array = NDArray[np.float64]
_NEWTON = 12
_RESIDUAL = 1e-11
# Tangents steer Newton's method and decide nothing: differences of the flow, a tolerance above their noise.
_DIFFERENCE, _TANGENT = 1e-6, 1e-6
# Numbers of steps from the nominal orbit to the wanted one, tried in turn.
_STAGES = (1, 4, 16)


def tuned_frequencies(oscillator: Oscillator, cycle: LimitCycle, capacitance: Array) -> Array:
    """Frequency (M,) at tuning capacitances (M,), rad per natural unit of time, to 1e-11.

    Newton's method from the nominal orbit, on all M orbits at once; where that is too far, over more and more
    capacitances in between.

    Raises
    ------
    NoLimitCycle
        no orbit is found that way.
    """
    for stages in _STAGES:
        x = np.repeat(cycle.states[:1].T, len(capacitance), axis=1)
        period, before = np.full(len(capacitance), cycle.period), np.ones_like(capacitance)
        for k in range(1, stages + 1):
            there = capacitance ** (k / stages)
            found = _orbits(oscillator, x, period * np.sqrt(there / before), there)
            if found is None:
                break
            (x, period), before = found, there
        else:
            return 2.0 * np.pi / period
    raise NoLimitCycle(
        f"tuning: no orbits of {oscillator} at relative capacitances {capacitance.min():.3g} to "
        f"{capacitance.max():.3g}, expected some near the nominal one; use a smaller mu"
    )


def _orbits(
    oscillator: Oscillator, x: Array, period: Array, capacitance: Array
) -> tuple[Array, Array] | None:
    """States (n, M) and periods (M,) of the orbits near these, or None if Newton's method leaves them."""
    anchor, guess, size = oscillator.flow(x, capacitance), period, np.abs(x).max()
    for _ in range(_NEWTON):
        end, monodromy = _turn(oscillator, x, period, capacitance)
        residual = end - x
        if np.abs(residual).max() < _RESIDUAL * max(1.0, size):
            return x, period
        step = np.linalg.solve(*_newton(monodromy, oscillator.flow(end, capacitance), anchor, residual))
        x, period = x + step[:, :-1, 0].T, period + step[:, -1, 0]
        if np.abs(x).max() > 2.0 * size or np.abs(np.log2(np.maximum(period / guess, 0.1))).max() > 1.0:
            return None
    return None


def _newton(monodromy: Array, velocity: Array, anchor: Array, residual: Array) -> tuple[Array, Array]:
    """Bordered systems (M, n + 1, n + 1) and right-hand sides (M, n + 1, 1) of a shooting step."""
    n, count = residual.shape
    system, right = np.zeros((count, n + 1, n + 1)), np.zeros((count, n + 1, 1))
    system[:, :n, :n] = monodromy.transpose(2, 0, 1) - np.eye(n)
    system[:, :n, n], system[:, n, :n], right[:, :n, 0] = velocity.T, anchor.T, -residual.T
    return system, right


def _turn(oscillator: Oscillator, x: Array, period: Array, capacitance: Array) -> tuple[Array, Array]:
    """States (n, M) after one turn and monodromy matrices (n, n, M), columns by the start's component.

    All M orbits are one system over a turn ``s = t/T_m`` in [0, 1] and share the steps of the integrator.
    """
    n, count = x.shape
    shift = _DIFFERENCE * np.eye(n)[:, :, None]

    def slope(_: float, flat: Array) -> Array:
        y = flat.reshape(n, n + 1, count)  # state, then the tangents
        at, tangents = y[:, 0], y[:, 1:]
        f = oscillator.flow(at, capacitance)
        ahead = oscillator.flow(at[:, None] + shift, capacitance)
        behind = oscillator.flow(at[:, None] - shift, capacitance)
        jacobian = (ahead - behind) / (2.0 * _DIFFERENCE)
        moved = np.einsum("ijm,jkm->ikm", jacobian, tangents)
        return (period * np.concatenate([f[:, None], moved], axis=1)).ravel()

    start = np.concatenate([x[:, None], np.repeat(np.eye(n)[:, :, None], count, axis=2)], axis=1)
    loose = np.broadcast_to((np.arange(n + 1) > 0)[:, None], start.shape).ravel()
    rtol, atol = (np.where(loose, _TANGENT, TIGHT[name]) for name in ("rtol", "atol"))
    run = solve_ivp(slope, (0.0, 1.0), start.ravel(), method=TIGHT["method"], rtol=rtol, atol=atol)
    end = run.y[:, -1].reshape(n, n + 1, count)
    return end[:, 0], end[:, 1:]
