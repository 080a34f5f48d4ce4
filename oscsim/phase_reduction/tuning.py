"""Free frequency of an oscillator against its tuning capacitance."""

from dataclasses import dataclass

import numpy as np
from numpy.polynomial import chebyshev
from numpy.typing import NDArray
from scipy.integrate import solve_ivp

from oscsim.errors import LoweringError
from oscsim.oscillators.oscillator import Oscillator
from oscsim.phase_reduction.limit_cycle import LimitCycle
from oscsim.phase_reduction.shooting import TIGHT, NoLimitCycle

Array = NDArray[np.float64]
_NEWTON = 12
_RESIDUAL = 1e-11
# Tangents steer Newton's method and decide nothing: differences of the flow, a tolerance above their noise.
_DIFFERENCE, _TANGENT = 1e-6, 1e-6
# Tuning capacitances between which the frequency is known: 0.71 to 1.41 of nominal for an LC tank.
LOWEST, HIGHEST, _NODES = 0.5, 2.0, 24
_INVERSE = 60
_STAGES = (1, 4, 16)


@dataclass(frozen=True, eq=False)
class TuningCurve:
    """``ln(frequency sqrt(c))`` as a Chebyshev series over ln c, 1/2 <= c <= 2: to 1e-12 up to mu = 3.

    Parameters
    ----------
    coefficients : of the series.
    """

    coefficients: Array

    def frequency(self, capacitance: Array) -> Array:
        """Free frequency at relative tuning capacitances, rad per natural unit of time.

        Raises
        ------
        LoweringError
            a capacitance outside the range.
        """
        c = np.asarray(capacitance, float)
        if c.size and not (c.min() >= LOWEST and c.max() <= HIGHEST):
            raise LoweringError(
                f"tuning capacitances: given {c.min():.4g} to {c.max():.4g} of nominal, expected between "
                f"{LOWEST:g} and {HIGHEST:g}; make detunings or mismatches smaller"
            )
        return np.exp(chebyshev.chebval(_node(c), self.coefficients)) / np.sqrt(c)

    def capacitance(self, frequency: Array) -> Array:
        """The inverse: capacitances at which the free frequency is this (Newton's method, to rounding).

        Raises
        ------
        LoweringError
            a frequency that no capacitance in the range reaches.
        """
        wanted = np.asarray(frequency, float)
        slope = chebyshev.chebder(self.coefficients)
        span = np.log(HIGHEST / LOWEST)
        node, level = np.zeros_like(wanted), np.log(wanted)
        for _ in range(_INVERSE):
            c = _capacitance(node)
            residual = chebyshev.chebval(node, self.coefficients) - 0.5 * np.log(c) - level
            step = residual / (chebyshev.chebval(node, slope) - 0.25 * span)
            node = np.clip(node - step, -1.0, 1.0)
        reached = self.frequency(_capacitance(node))
        if np.abs(reached / wanted - 1.0).max(initial=0.0) > 1e-12:
            ends = self.frequency(np.array([HIGHEST, LOWEST]))
            raise LoweringError(
                f"tuning: given free frequencies from {wanted.min():.4g} to {wanted.max():.4g} rad per "
                f"natural unit, expected {ends[0]:.4g} to {ends[1]:.4g} (capacitances {HIGHEST:g} to "
                f"{LOWEST:g} of nominal); make detunings smaller (a larger time_unit_s), or lower mu"
            )
        return _capacitance(node)


def tuning_curve(oscillator: Oscillator, cycle: LimitCycle) -> TuningCurve:
    """Interpolate the free frequency from shooting at 24 capacitances."""
    nodes = np.cos(np.pi * (np.arange(_NODES) + 0.5) / _NODES)
    capacitance = _capacitance(nodes)
    values = tuned_frequencies(oscillator, cycle, capacitance) * np.sqrt(capacitance)
    series = chebyshev.chebfit(nodes, np.log(values), _NODES - 1)
    return TuningCurve(np.asarray(series, np.float64))


def _capacitance(node: Array) -> Array:
    low, high = np.log(LOWEST), np.log(HIGHEST)
    return np.exp(0.5 * (low + high) + 0.5 * (high - low) * node)


def _node(capacitance: Array) -> Array:
    low, high = np.log(LOWEST), np.log(HIGHEST)
    return (2.0 * np.log(capacitance) - low - high) / (high - low)


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
