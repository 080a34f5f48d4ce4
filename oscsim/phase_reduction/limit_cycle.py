"""The limit cycle of an oscillator and its phase response: what is left of it when it is weakly coupled."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.integrate import solve_ivp

from oscsim.phase_reduction.shooting import (
    TIGHT,
    Flow,
    NoLimitCycle,
    refuse_fixed_point,
    rough_period,
    settled,
    shoot,
)

Array = NDArray[np.float64]
_SETTLE_PERIODS = 20
# Multipliers: the neutral one is 1 to this, all others are below 1 by at least this.
_NEUTRAL = 1e-6
# A turn is closed when it misses its start by less than this share of its size; tried so often, each time
# twice as long.
_CLOSED, _ROUNDS = 1e-3, 5
_FUNDAMENTAL = 1024  # samples for the phase of the fundamental
_MOST_TURNS = 64  # a return within 6 periods that are estimated a factor of 3 too long, and some


@dataclass(frozen=True, eq=False)
class LimitCycle:
    """A stable periodic orbit, sampled evenly in phase.

    Parameters
    ----------
    period : in natural units of time.
    states : (n, dimension) at phases 2 pi k/n.
    response : (n, dimension) Z, phase shift in rad per unit of each state variable: the adjoint solution
        [MALKIN], [ERMENTROUT] (perturbation projection vector [DEMIR]), normalised so that
        ``Z . F = 2 pi / period``.
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
    flow: Flow,
    jacobian: Flow,
    start: Array,
    period_estimate: float,
    settle: float = 0.0,
    samples: int = 1024,
    reference: int = 0,
) -> LimitCycle:
    """Find the limit cycle by shooting and solve the adjoint equation ``Z' = -J^T Z`` along it.

    Parameters
    ----------
    flow, jacobian : x' and its derivative (dimension, dimension) at one state (dimension,).
    start : in the basin of the limit cycle.
    period_estimate : good to a factor of 3. settle : time amplitudes take to settle, on top of 20 periods.
    samples : states and responses per turn.
    reference : the state variable whose fundamental peaks at phase 0.

    Raises
    ------
    NoLimitCycle
        the flow diverges, rests, does not come back, or its periodic orbit is not attracting.

    >>> rotor = lambda x: np.array([x[0] - x[1], x[0] + x[1]]) - x * (x @ x)
    >>> def bend(x):
    ...     return np.array([[1.0, -1.0], [1.0, 1.0]]) - (x @ x) * np.eye(2) - 2 * np.outer(x, x)
    >>> cycle = limit_cycle(rotor, bend, np.array([0.5, 0.0]), 6.0, samples=8)
    >>> round(float(cycle.frequency), 9), np.linalg.norm(cycle.response, axis=1).round(9).tolist()
    (1.0, [1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0])
    """
    x, guess = _approach(flow, np.asarray(start, float), period_estimate, settle)
    x, period, _ = shoot(flow, jacobian, x, guess)
    x, period = _phase_zero(flow, x, period, reference)
    x, period, monodromy = shoot(flow, jacobian, x, period)
    orbit = solve_ivp(lambda _, y: flow(y), (0.0, period), x, dense_output=True, **TIGHT)
    times = np.arange(samples) * period / samples
    states = orbit.sol(times).T
    refuse_fixed_point(x, float(np.ptp(states, axis=0).max()))
    neutral, decay = _stability(monodromy, period)
    # backward in time the adjoint is stable: whatever is not the phase response dies out
    back = solve_ivp(
        lambda t, p: -jacobian(orbit.sol(t)).T @ p, (period, 0.0), neutral, t_eval=times[::-1], **TIGHT
    )
    w, response = 2.0 * np.pi / period, back.y.T[::-1]
    return LimitCycle(float(period), states, response * (w / (response[0] @ flow(x))), decay)


def _approach(flow: Flow, x: Array, estimate: float, settle: float) -> tuple[Array, float]:
    """A state near the limit cycle and a rough period; settles for longer where turns do not close yet."""
    duration, guess = settle + _SETTLE_PERIODS * estimate, estimate
    for _ in range(_ROUNDS):
        x = settled(flow, x, duration)
        guess, gap = rough_period(flow, x, estimate)
        if gap < _CLOSED:
            break
        duration *= 2.0
    return x, guess


def _phase_zero(flow: Flow, x: Array, period: float, reference: int) -> tuple[Array, float]:
    """Where the fundamental of the reference variable peaks, and the least period of the orbit."""
    orbit = solve_ivp(lambda _, y: flow(y), (0.0, period), x, dense_output=True, **TIGHT).sol
    period = period / _turns(np.asarray(orbit(period / np.arange(1, _MOST_TURNS))).T, x)
    states = orbit(np.arange(_FUNDAMENTAL) * period / _FUNDAMENTAL).T
    late = -np.angle(np.fft.fft(states[:, reference])[1]) / (2.0 * np.pi)
    return orbit(np.mod(late, 1.0) * period), period


def _turns(after: Array, x: Array) -> int:
    """How often the orbit through x closes within what was taken for its period; after[k] is x at 1/(k+1)."""
    apart = np.abs(after - x).max(axis=1)
    return int(np.flatnonzero(apart < 1e-6 * max(float(apart.max()), 1e-6))[-1:].sum()) + 1


def _stability(monodromy: Array, period: float) -> tuple[Array, float]:
    """Left eigenvector of the neutral multiplier, and the largest modulus of the others."""
    values, vectors = np.linalg.eig(monodromy.T)
    neutral = int(np.argmin(np.abs(values - 1.0)))
    decay = float(np.abs(np.delete(values, neutral)).max(initial=0.0))
    if abs(values[neutral] - 1.0) > _NEUTRAL or decay > 1.0 - _NEUTRAL:
        raise NoLimitCycle(
            f"the periodic orbit with period {period:.6g} is not attracting: Floquet multipliers "
            f"{np.round(values, 6).tolist()}, expected one of 1 and all others smaller; an oscillator needs "
            "an amplitude that comes back"
        )
    return np.array(np.real(vectors[:, neutral]), float), decay
