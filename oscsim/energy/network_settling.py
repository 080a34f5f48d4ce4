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
from oscsim.energy.settling import Settling
from oscsim.locked_state import locked_state
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
# cos goes from -1 to 1 at most: the largest distance of a read-out from where it comes to rest.
_FARTHEST = 2.0
_QUIET_S = 10.0


def network_settling(spec: PhaseLayerSpec, hardware: OscillatorHardware) -> Settling:
    """Times (H, D) of all channels; each is a network of its own, with the coupling of its head.

    A channel that locks as a whole takes ``T = ln(2 max|J|/accuracy)/lambda``, lambda the slowest eigenvalue
    of its locked state. Another one runs until the time average of its ODE has converged to the accuracy;
    where it has not after 4000 radians of its fastest rate, that is a lower bound, and ``notes`` say so.
    """
    j, index = pair_terms.coupling(spec), np.flatnonzero(spec.valid)
    matrix, shape = pair_terms.network_matrix(spec, j), (spec.n_heads, spec.n_channels)
    off = _relative_accuracy(spec, j, hardware.accuracy)
    needed, rate, bound = np.zeros(shape), np.full(shape, np.nan), np.zeros(shape, bool)
    started = _Clock()
    for h in range(spec.n_heads):
        sub = matrix[h][np.ix_(index, index)]
        for c in range(spec.n_channels):
            state = locked_state(sub, spec.omega[h, index, c], spec.mask == "causal")
            rate[h, c] = np.nan if state is None else state.slowest_rate
            started.tell(f"locked states: head {h + 1} of {spec.n_heads}, channel {c + 1}")
        open_ones = np.isnan(rate[h])
        with np.errstate(divide="ignore"):
            needed[h] = np.maximum(np.log(_FARTHEST / off[h]), 0.0) / np.where(open_ones, np.inf, rate[h])
        if open_ones.any() and off[h] < 1.0:
            channels = np.flatnonzero(open_ones)
            needed[h, channels], bound[h, channels] = _average_times(
                _one_head(spec, j, h, channels), float(off[h]), started
            )
    locked = np.isfinite(rate)
    every = np.ones(shape, bool)
    notes = _notes(int((~locked).sum()), int(bound.sum()), locked.size)
    return Settling(needed, every, ~every, locked, rate, every, notes, bool(bound.any()))


def _relative_accuracy(spec: PhaseLayerSpec, j: Array, accuracy: float) -> Array:
    """(H,) accuracy of a mean cosine; infinite where nothing is coupled to anything else."""
    others = pair_terms.unmasked(spec) & ~np.eye(spec.n_oscillators, dtype=bool)
    largest = np.where(others, np.abs(j), 0.0).max(axis=(1, 2))
    return np.divide(accuracy, largest, out=np.full(len(j), np.inf), where=largest > 0.0)


def _one_head(spec: PhaseLayerSpec, j: Array, head: int, channels: NDArray[np.int64]) -> PhaseLayerSpec:
    valid = spec.valid
    return PhaseLayerSpec(
        omega=spec.omega[head : head + 1, valid][:, :, channels],
        theta=spec.theta[head : head + 1, valid][:, :, channels],
        coupling=ExplicitCoupling(matrix=j[head : head + 1][:, valid][:, :, valid]),
        gain=spec.gain[head : head + 1],
        order_parameter=EmpiricalOrder(),
        mask=spec.mask,
        dynamics="network",
    )


def _average_times(spec: PhaseLayerSpec, off: float, started: "_Clock") -> tuple[Array, NDArray[np.bool_]]:
    """(D,) times after which each channel's average stays within ``off``, and whether they are lower bounds.

    The average is that of :func:`oscsim.beat_average.pair_averages` over all but the first quarter of the
    run; its error is the change when only the later half is used.
    """
    f, state = right_hand_side(spec)
    matrix = pair_terms.network_matrix(spec, pair_terms.coupling(spec))
    clock = float(np.abs(matrix).sum(axis=2).max() + np.ptp(spec.omega, axis=1).max())
    if clock == 0.0:  # nothing moves
        return np.zeros(spec.n_channels), np.zeros(spec.n_channels, bool)
    longest = max(_FIRST, min(_LONGEST, _SPACING * _MOST_NUMBERS / spec.theta.size))
    times, bound = np.full(spec.n_channels, longest), np.ones(spec.n_channels, bool)
    samples, now, look = state[None], 0.0, _FIRST
    while bound.any() and now < longest:
        steps = int(np.ceil((min(look, longest) - now) / _SPACING))
        grid = _SPACING * np.arange(steps + 1)
        run = solve_ivp(
            lambda t, y: f(t, y) / clock, (0.0, grid[-1]), samples[-1], "DOP853",
            t_eval=grid[1:], rtol=_SOLVER_TOLERANCE, atol=_SOLVER_TOLERANCE,
        )  # fmt: skip
        samples, now, look = np.concatenate([samples, run.y.T]), now + grid[-1], look * _GROWTH
        later = samples[int(_START_UP * len(samples)) :].reshape(-1, *spec.theta.shape)[:, 0]
        for c in np.flatnonzero(bound):
            if pair_averages(later[:, :, c])[1] <= off:
                times[c], bound[c] = now, False
        started.tell(f"network average: {now:.0f} of at most {longest:.0f} radians of the fastest rate")
    return times / clock, bound


def _notes(unlocked: int, bounded: int, count: int) -> tuple[str, ...]:
    notes = []
    if count > unlocked:
        notes.append(
            "a channel that locks takes ln(2 max|J|/accuracy) over the slowest eigenvalue of its locked state"
        )
    if unlocked:
        notes.append(
            f"{unlocked} of {count} channels do not lock as a whole; they run until the time average of "
            "their ODE has converged"
        )
    if bounded:
        notes.append(f"{bounded} of {count} averages had not converged: their time is a lower bound")
    return tuple(notes)


class _Clock:
    """Says how far a long calculation is, once it has taken a while."""

    def __init__(self) -> None:
        self._last = time.monotonic()

    def tell(self, text: str) -> None:
        if time.monotonic() - self._last > _QUIET_S:
            _PROGRESS.info("energy schedule: %s", text)
            self._last = time.monotonic()
