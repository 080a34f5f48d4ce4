"""Periodic orbits by shooting: settle on the orbit, guess the period from a return, Newton on both."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.integrate import solve_ivp

from oscsim.errors import OscsimError

Array = NDArray[np.float64]
Flow = Callable[[Array], Array]
TIGHT: dict[str, Any] = {"method": "DOP853", "rtol": 1e-13, "atol": 1e-14}
_ROUGH: dict[str, Any] = {"method": "LSODA", "rtol": 1e-6, "atol": 1e-9}
_CLOSE: dict[str, Any] = {"method": "DOP853", "rtol": 1e-9, "atol": 1e-11}
_NEWTON = 30
_RESIDUAL = 1e-11
# A state this many times larger than where it began is not on its way to a limit cycle.
_FAR = 1e6
# An orbit smaller than this share of its distance from the origin (or of the start's) is a fixed point.
_POINT = 1e-5


class NoLimitCycle(OscsimError):
    """The right-hand side has no stable limit cycle, or none was found; the message says what happened."""


def settled(flow: Flow, start: Array, duration: float) -> Array:
    """The state after ``duration``, on its attractor to about 1e-5.

    Raises
    ------
    NoLimitCycle
        the flow diverges.
    """
    bound = _FAR * (1.0 + float(np.abs(start).max()))

    def far(_: float, x: Array) -> float:
        return bound - float(np.abs(x).max())

    far.terminal = True  # type: ignore[attr-defined]
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        run = solve_ivp(lambda _, x: flow(x), (0.0, duration), start, events=far, **_ROUGH)
    x = run.y[:, -1]
    if run.status != 0 or not np.isfinite(x).all():
        raise NoLimitCycle(
            f"the flow diverges: |x| reaches {np.abs(x).max():.3g} after {run.t[-1]:.3g} time units from "
            f"{start.tolist()}, expected a bounded orbit; choose a start in the basin of the limit cycle, or "
            "check the sign of the damping"
        )
    return x


def refuse_fixed_point(x: Array, size: float) -> None:
    """Raise NoLimitCycle where an orbit through x of this size is none."""
    if size < _POINT * (1.0 + float(np.abs(x).max())):
        raise NoLimitCycle(
            f"no oscillation: the flow rests at the fixed point {np.round(x, 6).tolist()}, expected a limit "
            "cycle; raise the gain (net negative resistance) or choose another start"
        )


def rough_period(flow: Flow, x: Array, estimate: float) -> tuple[float, float]:
    """When the orbit through x first comes back to it, and how far it misses x, relative to its size.

    Looks for 6 estimated periods.

    Raises
    ------
    NoLimitCycle
        the orbit rests at a fixed point, or does not come back.
    """
    normal = flow(x)

    def crossing(_: float, y: Array) -> float:
        return float(normal @ (y - x))

    crossing.direction = 1.0  # type: ignore[attr-defined]
    span = (0.0, 6.0 * estimate)
    run = solve_ivp(lambda _, y: flow(y), span, x, events=crossing, max_step=estimate / 20, **_CLOSE)
    size = float(np.ptp(run.y, axis=1).max())
    refuse_fixed_point(x, size)
    distance = np.array([np.linalg.norm(y - x) for y in run.y_events[0]])
    times = run.t_events[0]
    # the orbit passes the plane through x more than once a period: only there where it began counts
    away = (times > 0.02 * estimate) & (distance < 0.2 * size)
    if not away.any():
        raise NoLimitCycle(
            f"no return to the same state within {6.0 * estimate:g} time units, expected a period near "
            f"{estimate:g}; give a better period estimate (a factor of 3 is near enough)"
        )
    near = away & (distance < max(1e-3 * size, 1.5 * float(distance[away].min())))
    first = int(np.argmax(near))
    return float(times[first]), float(distance[first]) / size


def shoot(flow: Flow, jacobian: Flow, x: Array, period: float) -> tuple[Array, float, Array]:
    """State, period and monodromy matrix of the periodic orbit near (x, period): Newton's method to 1e-11.

    Raises
    ------
    NoLimitCycle
        Newton's method does not converge.
    """
    n, anchor, guess = len(x), flow(x), period
    residual = np.full(n, np.inf)
    for _ in range(_NEWTON):
        if not 0.3 * guess < period < 3.0 * guess or not np.isfinite(x).all():
            break
        end, monodromy = _variational(flow, jacobian, x, period)
        residual = end - x
        if np.abs(residual).max() < _RESIDUAL * max(1.0, np.abs(x).max()):
            return x, period, monodromy
        system = np.zeros((n + 1, n + 1))
        system[:n, :n], system[:n, n], system[n, :n] = monodromy - np.eye(n), flow(end), anchor
        step = np.linalg.lstsq(system, np.concatenate([-residual, [0.0]]), rcond=None)[0]
        x, period = x + step[:n], period + step[n]
    raise NoLimitCycle(
        f"shooting from period {guess:.4g} left a residual of {np.abs(residual).max():.2g} in the state, "
        f"expected {_RESIDUAL:g}; there may be no limit cycle near: settle longer, give a better period "
        "estimate, or check the Jacobian"
    )


def _variational(flow: Flow, jacobian: Flow, x: Array, period: float) -> tuple[Array, Array]:
    n = len(x)

    def f(_: float, y: Array) -> Array:
        return np.concatenate([flow(y[:n]), (jacobian(y[:n]) @ y[n:].reshape(n, n)).ravel()])

    run = solve_ivp(f, (0.0, period), np.concatenate([x, np.eye(n).ravel()]), **TIGHT)
    return run.y[:n, -1], run.y[n:, -1].reshape(n, n)
