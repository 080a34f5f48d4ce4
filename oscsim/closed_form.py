"""Closed forms in float64, one function per equation (docs/spec.md sections 2 and 3).

Sources: [SSA] Hays, arXiv 2602.14445; [ADLER] Adler, Proc. IRE 34 (1946) 351.
"""

import numpy as np
from numpy.typing import NDArray
from scipy.special import wrightomega

from oscsim.phase import wrap
from oscsim.tolerance import UNSTABLE_BAND

Array = NDArray[np.float64]


def lock_radius(alpha: Array, gain: Array, r: Array) -> Array:
    """Largest mismatch that still locks under frequency coupling, rad / time unit.

    ``d* = sqrt(W0(2 alpha K^2 r^2) / (2 alpha))``, the solution of ``d = K r exp(-alpha d^2)`` [SSA];
    ``d* = K r`` for alpha = 0. Arguments broadcast. Below 2 alpha K^2 r^2 = 1e-6 the series
    ``K r (1 - x/2 + 5 x^2/8)``, x = alpha K^2 r^2 * 2, replaces the quotient of two vanishing numbers.

    >>> float(lock_radius(np.array(0.0), np.array(2.0), np.array(0.5)))
    1.0
    >>> d = lock_radius(np.array(0.7), np.array(2.0), np.array(0.9))
    >>> bool(abs(d - 1.8 * np.exp(-0.7 * d**2)) < 1e-15)
    True
    """
    alpha, a0 = np.broadcast_arrays(np.asarray(alpha, float), np.asarray(gain, float) * r)
    x = 2.0 * alpha * np.square(a0)
    small = x < 1e-6
    with np.errstate(divide="ignore"):
        # W0(x) = wrightomega(log x): no overflow however large x is
        w = wrightomega(np.log(2.0) + np.log(alpha) + 2.0 * np.log(a0)).real
    safe = np.where(small, 1.0, alpha)
    x = np.where(small, x, 0.0)
    series = a0 * (1.0 - x / 2.0 + 0.625 * x * x)
    return np.where(small, series, np.sqrt(w / (2.0 * safe)))


def lock_ratio(d: Array, a: Array) -> Array:
    """``rho = d/|a|``; 0 where both vanish, infinity where only a does."""
    with np.errstate(over="ignore"):  # too large a ratio is infinite: far from locking
        rho = np.divide(d, np.abs(a), out=np.full(np.shape(d), np.inf), where=a != 0)
    return np.where((a == 0) & (d == 0), 0.0, rho)


def synchronization(j: Array, d: Array, a: Array) -> Array:
    """``S = |J| sqrt(1 - (d/a)^2)`` where ``d <= |a|``, else 0 [SSA].

    >>> S = synchronization(np.array([1.0, -1.0, 1.0]), np.array([0.6, 0.0, 2.0]), np.array([1.0, -1.0, 1.0]))
    >>> S.round(12).tolist()
    [0.8, 1.0, 0.0]
    """
    rho = np.minimum(lock_ratio(d, a), 1.0)
    # (1 - rho)(1 + rho) keeps the digits that 1 - rho^2 loses near the edge
    return np.where(d <= np.abs(a), np.abs(j) * np.sqrt((1.0 - rho) * (1.0 + rho)), 0.0)


def pair_trajectory(d: Array, a: Array, psi_0: Array, t: Array) -> Array:
    """Phase difference of an injection-locked cell at time t, rad, wrapped to [-pi, pi) [ADLER].

    Solves ``psi' = d - a sin psi`` exactly in both regimes: z = exp(i psi) obeys a Riccati equation, so
    its flow is a Moebius map, the exponential of a 2x2 matrix whose square is ((a^2 - d^2)/4) I:
    ``z(t) = (z0 (c + i d s) + a s) / (z0 a s + c - i d s)``, s = sinh(lambda t/2)/lambda,
    c = cosh(lambda t/2), ``lambda = sqrt(a^2 - d^2)`` (imaginary when unlocked). Arguments broadcast.

    >>> float(pair_trajectory(np.array(0.0), np.array(1.0), np.array(1.0), np.array(50.0)).round(12))
    0.0
    """
    d, a, psi_0, t = np.broadcast_arrays(d, a, psi_0, t)
    square = (np.abs(a) - d) * (np.abs(a) + d)
    rate = np.sqrt(np.abs(square))
    half = 0.5 * rate * t
    flat = rate * t < 1e-8  # both forms tend to c = 1, s = t/2
    safe = np.where(rate > 0, rate, 1.0)
    # dividing numerator and denominator by cosh keeps a long locked run finite
    c = np.where(square < 0, np.cos(half), 1.0)
    s = np.where(square < 0, np.sin(half), np.tanh(half)) / safe
    s = np.where(flat, 0.5 * t, s)
    z = np.exp(1j * psi_0)
    numerator = z * (c + 1j * d * s) + a * s
    denominator = z * a * s + c - 1j * d * s
    return wrap(np.angle(numerator * np.conj(denominator)).astype(np.float64))


def pair_rate(d: Array, a: Array) -> Array:
    """Relaxation rate ``sqrt(a^2 - d^2)`` of a locked cell, or beat ``sqrt(d^2 - a^2)``; 1 / time unit."""
    return np.sqrt(np.abs((np.abs(a) - d) * (np.abs(a) + d)))


def pair_settling_time(d: Array, a: Array, psi_0: Array, accuracy: float) -> Array:
    """Time after which a locked cell stays within ``accuracy`` rad of its fixed point, in time units.

    ``w = (z - z*)/(z - z_u)`` decays exactly like exp(-lambda t), with z*, z_u the stable and unstable
    points; hence ``t = ln(|w0| |z* - z_u| / accuracy) / lambda``. Infinite at the edge, for a start on
    the unstable point, and for unlocked cells (which have a beat ``2 pi / pair_rate`` instead).

    >>> t = pair_settling_time(np.array(0.6), np.array(1.0), np.array(0.0), 1e-6)
    >>> psi = pair_trajectory(np.array(0.6), np.array(1.0), np.array(0.0), t)
    >>> bool(abs(abs(psi - np.arcsin(0.6)) - 1e-6) < 1e-10)
    True
    """
    rho = np.minimum(lock_ratio(d, a), 1.0)
    psi_s = np.where(np.asarray(a) < 0, np.pi - np.arcsin(-rho), np.arcsin(rho))
    stable, unstable = np.exp(1j * psi_s), np.exp(1j * (np.pi - psi_s))
    start = np.exp(1j * np.asarray(psi_0))
    rate = np.where(d < np.abs(a), pair_rate(d, a), 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        w0 = np.abs(start - stable) / np.abs(start - unstable)
        time = np.log(w0 * np.abs(stable - unstable) / accuracy) / rate
    return np.where(rate > 0, np.maximum(time, 0.0), np.inf)


def clamped_flow(phase_0: Array, drive: NDArray[np.complex128], rate: Array, duration: float) -> Array:
    """Phase of a free oscillator driven by held sources at time T, continuous from phase_0, rad.

    ``phi(T) = Psi + 2 atan2(exp(-x) sin(u/2), cos(u/2))``, ``u = phi(0) - Psi``, ``x = rho R T``,
    ``G = R exp(i Psi)`` the drive (docs/spec.md section 5). Stays put where x = 0 or R = 0.

    Parameters
    ----------
    phase_0 : (H, N, D) rad; drive : (H, N, D) complex G, 1 / time unit.
    rate : (H, N, D) signed rho; duration : T in time units, infinity allowed.

    >>> G = np.array(1.0 + 0.0j)
    >>> float(clamped_flow(np.array(1.0), G, np.array(1.0), np.inf).round(12))
    0.0
    """
    strength = rate * np.abs(drive)
    x = np.zeros(np.shape(strength))
    np.multiply(strength, duration, out=x, where=strength != 0)  # 0 * inf is 0 here
    u = wrap(phase_0 - np.angle(drive))
    # exp of a non-positive number on either side of the quotient: never overflows
    sine = np.exp(-np.maximum(x, 0.0)) * np.sin(u / 2)
    cosine = np.exp(np.minimum(x, 0.0)) * np.cos(u / 2)
    moved = wrap(2.0 * np.arctan2(sine, cosine) - u)
    return phase_0 + np.where(x == 0, 0.0, moved)


def clamped_growth(phase_0: Array, drive: NDArray[np.complex128], rate: Array, duration: float) -> Array:
    """Growth of a small error of the start into the end, ``d phi(T) / d phi(0)``, dimensionless.

    ``e^{-x} (1 + t^2) / (1 + t^2 e^{-2x})``, x = |rho| R T, t the tangent of half the initial distance
    to the stable point; an error made on the way grows by no more than max(1, this). A start within
    UNSTABLE_BAND of the unstable point may sit on either side of it, so it counts with the largest
    growth any start has, e^x (infinite for T = infinity: rounding decides which way it falls).
    """
    strength = rate * np.abs(drive)
    x = np.zeros(np.shape(strength))
    np.multiply(np.abs(strength), duration, out=x, where=strength != 0)
    stable = np.angle(drive) + np.where(strength < 0, np.pi, 0.0)
    distance = np.abs(wrap(phase_0 - stable))
    with np.errstate(over="ignore", invalid="ignore"):
        # the same, divided by cos^2 of the half distance: finite for every t
        spread = np.square(np.cos(distance / 2)) * np.exp(x) + np.square(np.sin(distance / 2)) * np.exp(-x)
        unstable = np.pi - distance < UNSTABLE_BAND
        return np.where(x == 0, 1.0, np.where(unstable, np.exp(x), 1.0 / spread))
