"""Pair cells integrated one by one on their own clocks until each is at rest or has made a whole turn."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.integrate import solve_ivp

from oscsim.tolerance import SETTLE_RESIDUAL

Array = NDArray[np.float64]
_SOLVER_TOLERANCE = 1e-12


def integrate_cells(
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


def _whole_turn_mean(run: Any, start: Array, turned: NDArray[np.bool_], now: float, speed: Array) -> Array:
    """``<cos psi>`` over exactly one turn: Newton for the time at which psi = psi(0) + 2 pi."""
    which = np.flatnonzero(turned)
    if not len(which):
        return np.zeros(0)
    grid, n = run.t, len(turned)
    passed = run.y[which] - start[which, None] >= 2 * np.pi
    t = grid[np.argmax(passed, axis=1)]
    for _ in range(30):  # psi' at the crossing equals psi' at the start: the motion is periodic
        psi = run.sol(t)[which, np.arange(len(which))]
        t = np.clip(t - (psi - start[which] - 2 * np.pi) / speed[which], grid[0], grid[-1])
    area = run.sol(t)[n + which, np.arange(len(which))]
    return area / (now + t)
