"""A family reduced to its phase: limit cycle, coupling function, frequency against tuning, phase of a state."""

from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from numpy.polynomial import chebyshev
from numpy.typing import NDArray

from oscsim.oscillators.oscillator import Oscillator
from oscsim.phase_reduction.coupling_function import CouplingFunction, coupling_function
from oscsim.phase_reduction.limit_cycle import LimitCycle, frequency_near, limit_cycle

Array = NDArray[np.float64]
# Tuning capacitances between which the frequency is interpolated: +-20 % of frequency for an LC tank.
_LOWEST, _HIGHEST, _NODES = 0.69, 1.45, 11


@dataclass(frozen=True, eq=False)
class Reduction:
    """One *uncoupled* oscillator, reduced to its phase.

    Parameters
    ----------
    oscillator : the family with its parameters.
    cycle : its limit cycle and phase response.
    coupling : its averaged coupling function.
    """

    oscillator: Oscillator
    cycle: LimitCycle
    coupling: CouplingFunction

    @property
    def contraction(self) -> float:
        """How fast amplitudes recover, per radian of phase: ``-ln(decay) / 2 pi`` (mu for a weak LC)."""
        return float(-np.log(max(self.cycle.decay, 1e-300)) / (2.0 * np.pi))

    @cached_property
    def _angle(self) -> tuple[Array, float]:
        """Argument of the phasor along the cycle, counted from phase 0, and the sense in which it turns."""
        angle = np.unwrap(np.angle(self.oscillator.phasor(self.cycle.states.T)))
        sense = 1.0 if angle[-1] > angle[0] else -1.0
        return np.append(sense * (angle - angle[0]), 2.0 * np.pi), sense

    def phase(self, x: Array) -> Array:
        """Phase (...) in [0, 2 pi) of states (dimension, ...): that of the cycle at the same phasor angle."""
        angle, sense = self._angle
        first = np.angle(self.oscillator.phasor(self.cycle.states[0]))
        turned = np.mod(sense * (np.angle(self.oscillator.phasor(x)) - first), 2.0 * np.pi)
        return np.interp(turned, angle, np.linspace(0.0, 2.0 * np.pi, len(angle)))

    def state(self, phase: Array) -> Array:
        """State (dimension, ...) on the limit cycle at phases (...)."""
        grid = np.linspace(0.0, 2.0 * np.pi, len(self.cycle.states) + 1)
        closed = np.vstack([self.cycle.states, self.cycle.states[:1]])
        turned = np.mod(phase, 2.0 * np.pi)
        return np.stack([np.interp(turned, grid, column) for column in closed.T])

    @cached_property
    def _tuning(self) -> Array:
        """Chebyshev coefficients of ln(frequency sqrt(c)) over ln c."""
        nodes = np.cos(np.pi * (np.arange(_NODES) + 0.5) / _NODES)
        values = [self._frequency(c) * np.sqrt(c) for c in _capacitance(nodes)]
        return chebyshev.chebfit(nodes, np.log(values), _NODES - 1)

    def _frequency(self, capacitance: float) -> float:
        oscillator, root = self.oscillator, np.sqrt(capacitance)

        def flow(x: Array) -> Array:
            return oscillator.flow(x, capacitance)

        def jacobian(x: Array) -> Array:
            step = 1e-6
            return np.stack([(flow(x + e) - flow(x - e)) / (2 * step) for e in step * np.eye(len(x))], axis=1)

        return frequency_near(flow, jacobian, self.cycle.states[0], self.cycle.period * root)

    @property
    def reach(self) -> tuple[float, float]:
        """Tuning capacitances between which :meth:`frequency` is known."""
        return (0.0, np.inf) if self.oscillator.uniform_tuning else (_LOWEST, _HIGHEST)

    def frequency(self, capacitance: Array) -> Array:
        """Free frequency at tuning capacitances, rad per natural unit of time; LC between 0.69 and 1.45."""
        if self.oscillator.uniform_tuning:
            return self.cycle.frequency / np.asarray(capacitance, float)
        return np.exp(chebyshev.chebval(_node(capacitance), self._tuning)) / np.sqrt(capacitance)

    def tuned(self, frequency: Array) -> Array:
        """The tuning capacitance at which the free frequency is ``frequency`` (Newton on the same curve)."""
        c = self.cycle.frequency / np.asarray(frequency, float)
        if self.oscillator.uniform_tuning:
            return c
        c = np.clip(np.square(c), _LOWEST, _HIGHEST)
        for _ in range(60):
            slope = (self.frequency(c * 1.0001) - self.frequency(c / 1.0001)) / (c * 2.0e-4)
            step = (self.frequency(c) - frequency) / slope
            c = np.clip(c - step, _LOWEST, _HIGHEST)
            if np.abs(step).max(initial=0.0) < 1e-14:
                break
        return c


def _capacitance(node: Array) -> Array:
    low, high = np.log(_LOWEST), np.log(_HIGHEST)
    return np.exp(0.5 * (low + high) + 0.5 * (high - low) * node)


def _node(capacitance: Array) -> Array:
    low, high = np.log(_LOWEST), np.log(_HIGHEST)
    return (2.0 * np.log(capacitance) - low - high) / (high - low)


@lru_cache(maxsize=32)
def reduce(oscillator: Oscillator) -> Reduction:
    """Reduce a family to its phase; cached, because lowering a layer asks again and again.

    >>> from oscsim.oscillators.lc import LC
    >>> round(2 * reduce(LC(mu=0.1)).coupling.strength, 4)
    1.0002
    """
    settle = 20.0 / oscillator.relaxation_estimate()
    cycle = limit_cycle(
        oscillator.flow, oscillator.jacobian, oscillator.start(), oscillator.period_estimate(), settle
    )
    states = cycle.states.T
    response = cycle.response[:, list(oscillator.ports)]
    coupling = coupling_function(response, oscillator.signal(states).T, oscillator.load(states).T)
    return Reduction(oscillator, cycle, coupling)
