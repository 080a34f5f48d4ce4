"""The limit cycle of an oscillator and its phase response: what is left of it when it is weakly coupled."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.integrate import solve_ivp

from oscsim.errors import OscsimError

Array = NDArray[np.float64]
Flow = Callable[[Array], Array]
_TOLERANCE = {"method": "DOP853", "rtol": 1e-12, "atol": 1e-13}
_NEWTON = 30


class NoLimitCycle(OscsimError):
    """The right-hand side settles on no limit cycle (or none was found); the message says what happened."""


@dataclass(frozen=True, eq=False)
class LimitCycle:
    """A stable periodic orbit, sampled evenly in phase.

    Parameters
    ----------
    period : in natural units of time.
    states : (n, dimension) at phases 2 pi k/n.
    response : (n, dimension) Z, phase shift in rad per unit of each state variable: the adjoint solution
        (perturbation projection vector), normalised so that ``Z . F = 2 pi / period``.
    decay : largest modulus of the other Floquet multipliers; 0 is instant return to the cycle.
    """

    period: float
    states: Array
    response: Array
    decay: float

    @property
    def frequency(self) -> float:
        """w = 2 pi / period, rad per natural unit of time."""
        return 2.0 * np.pi / self.period


def limit_cycle(
    flow: Flow, jacobian: Flow, start: Array, period_estimate: float, settle: float = 0.0, samples: int = 1024
) -> LimitCycle:
    """Find the limit cycle by shooting and solve the adjoint equation along it."""
    run = solve_ivp(lambda _, x: flow(x), (0.0, settle + 20 * period_estimate), start, **_TOLERANCE)
    x, period = run.y[:, -1], period_estimate
    x, period = _first_return(flow, x, period_estimate)
    x, period, monodromy = _shoot(flow, jacobian, x, period)
    return _adjoint(flow, jacobian, x, period, monodromy, samples)


def frequency_near(flow: Flow, jacobian: Flow, x: Array, period: float) -> float:
    """Frequency of the limit cycle that passes near x with about this period, rad per natural unit of time."""
    return 2.0 * np.pi / _shoot(flow, jacobian, x, period)[1]


def _first_return(flow: Flow, x: Array, period: float) -> tuple[Array, float]:
    """A rough period: the time after which the orbit crosses the plane through x normal to the flow."""
    normal, origin = flow(x), x

    def crossing(_: float, y: Array) -> float:
        return float(normal @ (y - origin))

    crossing.direction = 1.0  # type: ignore[attr-defined]
    run = solve_ivp(
        lambda _, y: flow(y), (0.0, 6.0 * period), x, events=crossing, max_step=period / 50, **_TOLERANCE
    )
    times = run.t_events[0][run.t_events[0] > 0.05 * period]
    if not len(times):
        raise NoLimitCycle(f"no return within {6.0 * period:g} time units; expected a period near {period:g}")
    near = [np.linalg.norm(y - origin) for y, t in zip(run.y_events[0], run.t_events[0]) if t > 0.05 * period]
    best = int(np.argmax(np.array(near) < 1.5 * min(near) + 1e-9))
    return x, float(times[best])


def _shoot(flow: Flow, jacobian: Flow, x: Array, period: float) -> tuple[Array, float, Array]:
    n, anchor = len(x), flow(x)
    for _ in range(_NEWTON):
        end, monodromy = _variational(flow, jacobian, x, period)
        residual = end - x
        if np.abs(residual).max() < 1e-11 * max(1.0, np.abs(x).max()):
            return x, period, monodromy
        system = np.zeros((n + 1, n + 1))
        system[:n, :n], system[:n, n], system[n, :n] = monodromy - np.eye(n), flow(end), anchor
        step = np.linalg.solve(system, np.concatenate([-residual, [0.0]]))
        x, period = x + step[:n], period + step[n]
    raise NoLimitCycle(f"shooting did not converge: residual {np.abs(residual).max():.2g}")


def _variational(flow: Flow, jacobian: Flow, x: Array, period: float) -> tuple[Array, Array]:
    n = len(x)

    def f(_: float, y: Array) -> Array:
        return np.concatenate([flow(y[:n]), (jacobian(y[:n]) @ y[n:].reshape(n, n)).ravel()])

    run = solve_ivp(f, (0.0, period), np.concatenate([x, np.eye(n).ravel()]), **_TOLERANCE)
    return run.y[:n, -1], run.y[n:, -1].reshape(n, n)


def _adjoint(
    flow: Flow, jacobian: Flow, x: Array, period: float, monodromy: Array, samples: int
) -> LimitCycle:
    values, vectors = np.linalg.eig(monodromy.T)
    neutral = int(np.argmin(np.abs(values - 1.0)))
    others = np.abs(np.delete(values, neutral))
    orbit = solve_ivp(lambda _, y: flow(y), (0.0, period), x, dense_output=True, **_TOLERANCE)
    z = vectors[:, neutral].real
    times = np.arange(samples) * period / samples
    # backward in time the adjoint is stable: whatever is not the phase response dies out
    back = solve_ivp(
        lambda t, p: -jacobian(orbit.sol(t)).T @ p, (period, 0.0), z, t_eval=times[::-1], **_TOLERANCE
    )
    states, response = orbit.sol(times).T, back.y.T[::-1]
    w = 2.0 * np.pi / period
    along = np.einsum("ki,ki->k", response, np.array([flow(s) for s in states]))
    return LimitCycle(period, states, response * (w / along)[:, None], float(others.max(initial=0.0)))
