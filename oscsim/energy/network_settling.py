"""How long a phase network runs until S is read: from its Jacobian where it locks, else from its ODE."""

import logging
import time

import numpy as np
from numpy.typing import NDArray
from scipy.integrate import solve_ivp

from oscsim import pair_terms
from oscsim.beat_average import pair_averages
from oscsim.coupling import EmpiricalOrder, ExplicitCoupling
from oscsim.energy.hardware import OscillatorHardware
from oscsim.energy.network_response import largest_shift, largest_variance
from oscsim.energy.settling import Settling, Tuning
from oscsim.locked_state import LockedState, jacobian_at, locked_state
from oscsim.ode import right_hand_side
from oscsim.spec import PhaseLayerSpec

Array = NDArray[np.float64]
_PROGRESS = logging.getLogger("oscsim.progress")

# Relative tolerance of the ODE: its error in a mean is far below the accuracies that read-outs have.
_SOLVER_TOLERANCE = 1e-7
# On the clock of a head no phase moves by more than a radian per unit: this is 12 samples per turn at least.
_SPACING = 0.5
# Clock units of the first look, how much later the next one is, and of the longest run.
_FIRST, _GROWTH, _LONGEST = 32.0, 1.5, 4000.0
# Share of a run that is not averaged over, and numbers (8 bytes each) of which no more are kept.
_START_UP, _MOST_NUMBERS = 0.25, 2**25
# Closer to its locked state than this (rad) a channel cannot leave it; below this error of a cosine, which is
# far above that of the solver, the slowest eigenvalue takes over.
_LINEAR, _TRUSTED = 1e-4, 3e-4
_QUIET_S = 10.0


def network_settling(spec: PhaseLayerSpec, hardware: OscillatorHardware) -> Settling:
    """Times (H, D) of all channels; each is a network of its own, with the coupling of its head.

    A channel that locks as a whole runs until its read-out stays within the accuracy of its locked state: by
    its ODE from the layer's own start, and ``ln(error/accuracy)/lambda`` once the motion is linear, lambda
    the slowest eigenvalue. Another one runs until the time average of its ODE has converged to the accuracy.
    What has done neither after 4000 radians of the fastest rate has a lower bound, and ``notes`` say so.
    """
    j, index = pair_terms.coupling(spec), np.flatnonzero(spec.valid)
    matrix, shape = pair_terms.network_matrix(spec, j), (spec.n_heads, spec.n_channels)
    off = _relative_accuracy(spec, j, hardware.accuracy)
    needed, rate, bound = np.zeros(shape), np.full(shape, np.nan), np.zeros(shape, bool)
    variance, step, started = np.full(shape, np.nan), np.full(shape, np.inf), _Clock()
    sine = 0.0
    for h in range(spec.n_heads):
        sub, states = matrix[h][np.ix_(index, index)], []
        for c in range(spec.n_channels):
            states.append(locked_state(sub, spec.omega[h, index, c], spec.mask == "causal"))
            started.tell(f"locked states: head {h + 1} of {spec.n_heads}, channel {c + 1}")
        rate[h] = [np.nan if state is None else state.slowest_rate for state in states]
        if off[h] < 1.0:
            read = _read(spec, j[h], hardware.accuracy)[np.ix_(index, index)]
            for c, state in enumerate(states):
                variance[h, c], step[h, c] = _response(sub, state, read, off[h] / hardware.accuracy)
                sine = max(sine, _largest_sine(state, read))
            needed[h], bound[h] = _HeadRun(_one_head(spec, j, h), states, float(off[h]), started).times()
    locked, every = ~np.isnan(rate), np.ones(shape, bool)
    notes = _notes(int((~locked).sum()), int(bound.sum()), locked.size)
    tuning = Tuning(float(np.ptp(spec.omega[:, spec.valid])), float(step.min()))
    return Settling(
        needed, every, ~every, locked, rate, every, notes, bool(bound.any()), tuning, variance, sine=sine
    )


def _read(spec: PhaseLayerSpec, j: Array, accuracy: float) -> NDArray[np.bool_]:
    """(N, N) differences that S has to be known of."""
    others = ~np.eye(spec.n_oscillators, dtype=bool)
    return pair_terms.unmasked(spec) & others & (np.abs(j) > accuracy)


def _response(
    matrix: Array, state: LockedState | None, read: NDArray[np.bool_], off: float
) -> tuple[float, float]:
    """Variance per kappa^2, and step of frequencies per unit of accuracy, of one channel.

    Frequencies are half a step off at most, which moves a phase by half of ``largest_shift``. Of a channel
    that does not lock there is no variance, and, as K r of a pair cell, the step is its strongest pull per
    |J|: an average of something that turns does not tell frequencies apart more finely (``notes`` say so).
    """
    if state is None:
        pull = (np.abs(matrix) * ~np.eye(len(matrix), dtype=bool)).sum(axis=1)
        return float("nan"), off * float(pull[pull > 0.0].max(initial=0.0) or np.inf)
    jacobian = jacobian_at(matrix, state.theta)
    shift = largest_shift(jacobian, read)
    return largest_variance(jacobian, read), 2.0 * off / shift if shift > 0.0 else float("inf")


def _largest_sine(state: LockedState | None, read: NDArray[np.bool_]) -> float:
    """Largest ``|sin|`` of a locked difference that is read: d/a of a pair cell that rests there."""
    if state is None:
        return 0.0
    sines = np.sin(state.theta[:, None] - state.theta[None, :])
    return float(np.abs(sines)[read].max(initial=0.0))


def _relative_accuracy(spec: PhaseLayerSpec, j: Array, accuracy: float) -> Array:
    """(H,) accuracy of a mean cosine; infinite where nothing is coupled to anything else."""
    others = pair_terms.unmasked(spec) & ~np.eye(spec.n_oscillators, dtype=bool)
    largest = np.where(others, np.abs(j), 0.0).max(axis=(1, 2))
    return np.divide(accuracy, largest, out=np.full(len(j), np.inf), where=largest > 0.0)


def _one_head(spec: PhaseLayerSpec, j: Array, head: int) -> PhaseLayerSpec:
    valid = spec.valid
    return PhaseLayerSpec(
        omega=spec.omega[head : head + 1, valid],
        theta=spec.theta[head : head + 1, valid],
        coupling=ExplicitCoupling(matrix=j[head : head + 1][:, valid][:, :, valid]),
        gain=spec.gain[head : head + 1],
        order_parameter=EmpiricalOrder(),
        mask=spec.mask,
        dynamics="network",
    )


class _HeadRun:
    """The ODE of one head, looked at now and then until every channel is known.

    Parameters
    ----------
    spec : of one head, without padding. states : locked state of each channel, or None.
    off : accuracy of a cosine.
    """

    def __init__(
        self, spec: PhaseLayerSpec, states: list[LockedState | None], off: float, started: "_Clock"
    ) -> None:
        self._states, self._off, self._started, self._shape = states, off, started, spec.theta.shape[1:]
        self._f, start = right_hand_side(spec)
        j = np.where(pair_terms.unmasked(spec), np.abs(pair_terms.coupling(spec)[0]), 0.0)
        self._weight = j / max(float((j * ~np.eye(len(j), dtype=bool)).max()), 1e-300)
        matrix = pair_terms.network_matrix(spec, pair_terms.coupling(spec))
        self._clock = float(np.abs(matrix).sum(axis=2).max() + np.ptp(spec.omega, axis=1).max())
        self._samples = start[None]
        self._longest = max(_FIRST, min(_LONGEST, _SPACING * _MOST_NUMBERS / start.size))

    def times(self) -> tuple[Array, NDArray[np.bool_]]:
        """(D,) time units each channel needs, and whether they are lower bounds."""
        count = self._shape[1]
        times, bound = np.full(count, self._longest), np.ones(count, bool)
        if self._clock == 0.0:  # nothing moves
            return np.zeros(count), ~bound
        look = _FIRST
        while bound.any() and self._now < self._longest:
            self._run_to(min(look, self._longest))
            for c in np.flatnonzero(bound):
                found = self._found(int(c))
                if found is not None:
                    times[c], bound[c] = found, False
            look *= _GROWTH
            self._started.tell(f"network: {self._now:.0f} of at most {self._longest:.0f} radians")
        return times / self._clock, bound

    @property
    def _now(self) -> float:
        return _SPACING * (len(self._samples) - 1)

    def _run_to(self, end: float) -> None:
        grid = _SPACING * np.arange(int(np.ceil((end - self._now) / _SPACING)) + 1)
        run = solve_ivp(
            lambda t, y: self._f(t, y) / self._clock, (0.0, grid[-1]), self._samples[-1], "DOP853",
            t_eval=grid[1:], rtol=_SOLVER_TOLERANCE, atol=_SOLVER_TOLERANCE,
        )  # fmt: skip
        self._samples = np.concatenate([self._samples, run.y.T])

    def _found(self, channel: int) -> float | None:
        """Radians of the fastest rate that a channel needs, or None while that is not known."""
        path = self._samples.reshape(-1, *self._shape)[:, :, channel]
        state = self._states[channel]
        if state is not None and _away(path[-1], state.theta) < _LINEAR:
            return self._settled(path, state)
        # what has a locked state may have come to rest in another one: it gets half of the time for its own
        if state is None or self._now >= 0.5 * self._longest:
            return self._now if pair_averages(path[int(_START_UP * len(path)) :])[1] <= self._off else None
        return None

    def _settled(self, path: Array, state: LockedState) -> float:
        """Where the error of cos last exceeds what is allowed: between samples, or by its slowest decay."""
        rest = np.cos(state.theta[:, None] - state.theta[None, :])
        error = np.array([np.abs(self._weight * (np.cos(x[:, None] - x) - rest)).max() for x in path])
        above = np.flatnonzero(error > max(self._off, _TRUSTED))
        last = int(above[-1]) if len(above) else 0
        if self._off < _TRUSTED:
            grown = float(np.log(max(error[last] / self._off, 1.0)))
            return _SPACING * last + grown * self._clock / state.slowest_rate
        if not len(above):
            return 0.0
        before, after = np.log(error[last]), np.log(max(error[last + 1], 1e-300))
        return _SPACING * (last + float((before - np.log(self._off)) / (before - after)))


def _away(theta: Array, rest: Array) -> float:
    """Largest distance of phases (n,) from others, one common rotation removed, rad."""
    z = np.exp(1j * (theta - rest))
    return float(np.abs(np.angle(z * np.conj(z.mean()))).max())


def _notes(unlocked: int, bounded: int, count: int) -> tuple[str, ...]:
    notes = []
    if count > unlocked:
        notes.append("a channel that locks runs until its ODE stays within the accuracy of its locked state")
    if unlocked:
        notes.append(
            f"{unlocked} of {count} channels do not lock as a whole; they run until the time average of "
            "their ODE has converged (what drifts by less than half a turn meanwhile counts as locked); "
            "their tuning codes resolve the accuracy of their strongest pull, and promise no more"
        )
    if bounded:
        notes.append(f"{bounded} of {count} channels had not converged: their time is a lower bound")
    return tuple(notes)


class _Clock:
    """Says how far a long calculation is, once it has taken a while."""

    def __init__(self) -> None:
        self._last = time.monotonic()

    def tell(self, text: str) -> None:
        """Log it, unless something was logged a moment ago."""
        if time.monotonic() - self._last > _QUIET_S:
            _PROGRESS.info("energy schedule: %s", text)
            self._last = time.monotonic()
