"""A family reduced to its phase: limit cycle, coupling function, frequency and phase of a state."""

from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy.interpolate import CubicSpline, PchipInterpolator

from oscsim.errors import ConfigError
from oscsim.oscillators.oscillator import Oscillator
from oscsim.phase_reduction.coupling_function import CouplingFunction, coupling_function
from oscsim.phase_reduction.limit_cycle import LimitCycle, limit_cycle
from oscsim.phase_reduction.tuning import HIGHEST, LOWEST, TuningCurve, tuning_curve

Array = NDArray[np.float64]
_TURN = 2.0 * np.pi
_DRIVE_STEP = 1e-5
# Integration leaves this much of a multiplier that is really smaller.
_LEAST_DECAY = 1e-13


@dataclass(frozen=True, eq=False)
class Reduction:
    """One *uncoupled* oscillator, reduced to its phase; phase 0 is where the fundamental of its node peaks.

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
        """How fast amplitudes recover, per radian of phase: ``-ln(decay)/(2 pi)``, at most 4.76.

        mu for a weak LC; what recovers faster than integration can tell is as good as instant.
        """
        return float(-np.log(max(self.cycle.decay, _LEAST_DECAY)) / _TURN)

    @cached_property
    def device_response(self) -> Array:
        """(devices,) change of free frequency per unit of each device's relative strength, by the response.

        ``<Z . dF/d drive_k>`` over one turn: first-order perturbation of the frequency.
        """
        states, count = self.cycle.states.T, self.oscillator.devices
        answer = np.empty(count)
        for k in range(count):
            one = _DRIVE_STEP * (np.arange(count) == k)[:, None]
            up, down = (self.oscillator.flow(states, 1.0, 1.0 + sign * one) for sign in (1.0, -1.0))
            answer[k] = (self.cycle.response.T * (up - down)).sum(axis=0).mean() / (2.0 * _DRIVE_STEP)
        return answer

    @cached_property
    def _orbit(self) -> CubicSpline:
        """State over phase."""
        closed = np.vstack([self.cycle.states, self.cycle.states[:1]])
        return CubicSpline(np.linspace(0.0, _TURN, len(closed)), closed, bc_type="periodic")

    @cached_property
    def _angle(self) -> tuple[PchipInterpolator, float, float]:
        """Phase over the phasor's angle from phase 0, its sense of turning, and its angle at phase 0."""
        angle = np.unwrap(np.angle(self.oscillator.phasor(self.cycle.states.T)))
        sense = 1.0 if angle[-1] > angle[0] else -1.0
        turned = np.append(sense * (angle - angle[0]), _TURN)
        if not (np.diff(turned) > 0.0).all():
            raise ConfigError(
                f"phasor of {self.oscillator.name}: its angle runs backwards somewhere on the limit cycle, "
                "expected one that turns once and in one sense; choose a point inside the cycle as its centre"
            )
        # one turn more on either side, so that the slopes at the seam are those of a periodic function
        nodes = np.concatenate([turned[:-1] - _TURN, turned, turned[1:] + _TURN])
        phase = np.linspace(-_TURN, 2.0 * _TURN, len(nodes))
        return PchipInterpolator(nodes, phase), sense, float(angle[0])

    def phase(self, x: Array) -> Array:
        """Phase (...) in [0, 2 pi) of states (dimension, ...): that of the cycle at the same phasor angle."""
        table, sense, first = self._angle
        turned = np.mod(sense * (np.angle(self.oscillator.phasor(x)) - first), _TURN)
        return np.mod(table(turned), _TURN)

    def state(self, phase: Array) -> Array:
        """State (dimension, ...) on the limit cycle at phases (...)."""
        return np.moveaxis(self._orbit(np.mod(phase, _TURN)), -1, 0)

    @property
    def reach(self) -> tuple[float, float]:
        """Tuning capacitances between which :meth:`frequency` is known; without limit for uniform tuning."""
        return (0.0, np.inf) if self.oscillator.uniform_tuning else (LOWEST, HIGHEST)

    @cached_property
    def _curve(self) -> TuningCurve:
        return tuning_curve(self.oscillator, self.cycle)

    def frequency(self, capacitance: Array) -> Array:
        """Free frequency at relative tuning capacitances within ``reach``, rad per natural unit of time.

        Raises
        ------
        LoweringError
            a capacitance beyond it.
        """
        if self.oscillator.uniform_tuning:
            return self.cycle.frequency / np.asarray(capacitance, float)
        return self._curve.frequency(capacitance)

    def tuned(self, frequency: Array) -> Array:
        """The relative tuning capacitance at which the free frequency is ``frequency``.

        Raises
        ------
        LoweringError
            a frequency beyond ``reach``.
        """
        if self.oscillator.uniform_tuning:
            return self.cycle.frequency / np.asarray(frequency, float)
        return self._curve.capacitance(frequency)


@lru_cache(maxsize=32)
def reduce(oscillator: Oscillator) -> Reduction:
    """Reduce a family (or a user's own equations) to its phase; cached, as every lowering asks again.

    Raises
    ------
    NoLimitCycle
        the equations have no stable limit cycle near their start.

    >>> from oscsim.oscillators.lc import LC
    >>> round(2 * reduce(LC(mu=0.1)).coupling.strength, 4)
    1.0002
    """
    settle = 20.0 / oscillator.relaxation_estimate()
    cycle = limit_cycle(
        oscillator.flow,
        oscillator.jacobian,
        oscillator.start(),
        oscillator.period_estimate(),
        settle,
        reference=oscillator.ports[0],
    )
    states = cycle.states.T
    response = cycle.response[:, list(oscillator.ports)]
    coupling = coupling_function(response, oscillator.signal(states).T, oscillator.load(states).T)
    return Reduction(oscillator, cycle, coupling)
