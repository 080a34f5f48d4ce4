"""The locked state of uniformly coupled oscillators from one scalar equation: a check of Newton's method."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq

from oscsim.errors import SpecError

Array = NDArray[np.float64]
_TIGHTEST = 4 * np.finfo(float).eps  # the smallest brentq takes


@dataclass(frozen=True, eq=False)
class UniformLockedState:
    """Order parameter r, common frequency (rad / time unit) and phases (n,) from the mean field on, rad."""

    order: float
    frequency: float
    theta: Array


def uniform_locked_state(omega: Array, gain: float) -> UniformLockedState | None:
    """The stable locked state of ``theta_i' = omega_i + (K/N) sum_j sin(theta_j - theta_i)``, or None.

    The mean field turns N equations into one [KURAMOTO]: with Omega the mean frequency,

        r = (1/N) sum_i sqrt(1 - ((omega_i - Omega)/(K r))^2) ,   sin(theta_i - Psi) = (omega_i - Omega)/(K r)

    As a function of u = K r the right-hand side minus u/K is concave for u >= max |omega_i - Omega|, so it
    has at most two zeros, and the larger one is the stable state [MIROLLO].

    Parameters
    ----------
    omega : (n,) rad / time unit; gain : K > 0, rad / time unit.

    >>> state = uniform_locked_state(np.array([0.3, -0.3]), gain=1.0)
    >>> bool(abs(np.sin(state.theta[0] - state.theta[1]) - 0.6) < 1e-14)
    True
    >>> uniform_locked_state(np.array([0.6, -0.6]), gain=1.0) is None
    True
    """
    if not gain > 0:
        raise SpecError(f"gain: given {gain}, expected K > 0")
    frequency = float(omega.mean())
    delta = omega - frequency
    least = float(np.abs(delta).max())
    if least == 0.0:
        return UniformLockedState(1.0, frequency, np.zeros_like(delta))
    if least >= gain:  # u = K r <= K
        return None

    def excess(u: float) -> float:
        return float(_cosine(delta, u).mean()) - u / gain

    def slope(u: float) -> float:
        return float((np.square(delta) / _cosine(delta, u)).mean()) / u**3 - 1.0 / gain

    # the slope falls from +infinity at the left end; its zero, if there is one, is the top of the excess
    top = _zero(slope, float(np.nextafter(least, np.inf)), gain) if slope(gain) < 0 else gain
    if excess(top) < 0:
        return None
    u = _zero(excess, top, gain)
    return UniformLockedState(u / gain, frequency, np.arcsin(delta / u))


def _zero(f: Callable[[float], float], low: float, high: float) -> float:
    return float(brentq(f, low, high, xtol=np.finfo(float).tiny, rtol=_TIGHTEST))  # type: ignore[arg-type]


def _cosine(delta: Array, u: float) -> Array:
    rho = np.minimum(np.abs(delta) / u, 1.0)
    return np.sqrt((1.0 - rho) * (1.0 + rho))
