"""What a network settles to: at rest or, drifting, averaged until the average stands still."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from oscsim.beat_average import FEWEST_TURNS, WOBBLE_TURNS, pair_mean, slowest_beat, window
from oscsim.regime.network import SAMPLE_EVERY, advance, networks, velocity
from oscsim.tolerance import REGIME_RESIDUAL, REGIME_STEP, SETTLE_RESIDUAL

Array = NDArray[np.float64]
_AT_REST = 0.01 * SETTLE_RESIDUAL  # of the largest rate, as in oscsim.integrate
_TURN = 2.0 * np.pi
FIRST_SPAN = 64.0  # own clock
SHORTEST_DRIFT = 512.0  # a pair just beyond its edge lingers there before it slips for the first time
LONGEST_SPAN = 8192.0


@dataclass(frozen=True, eq=False)
class Steady:
    """The steady state of one network.

    Parameters
    ----------
    mean : (N, N) complex ``<exp(i(theta_i - theta_j))>`` over the last span, or at rest.
    change : (N, N) how much the cosine, ``Re mean``, changes when only the later half of the span is used;
        1 for a pair that drifts, but not by enough turns for an average; 0 at rest.
    order : time average of ``r(t) = |(1/N) sum_j exp(i theta_j(t))|`` over the same span.
    at_rest : whether all oscillators rotate at one frequency to 1e-10 of the largest rate.
    phase : (N,) final phases, rad; span : length of the last span on the network's own clock.
    """

    mean: NDArray[np.complex128]
    change: Array
    order: float
    at_rest: bool
    phase: Array
    span: float


def steady_states(
    omega: Array, theta: Array, coupling: Array, gain: float, longest_span: float = LONGEST_SPAN
) -> list[Steady]:
    """Run networks in ever longer spans, each until it is at rest or its average has converged.

    Every span but the last is a transient and thrown away. On its own clock (time times the largest rate)
    the spans last 64, 128, ... up to ``longest_span``.

    Parameters
    ----------
    omega, theta : (S, N) frequencies, rad / time unit, and initial phases, rad.
    coupling : (S, N, N) J, symmetric, positive semidefinite; gain : K, rad / time unit.

    >>> state, = steady_states(np.array([[0.3, -0.3]]), np.zeros((1, 2)), np.ones((1, 2, 2)), 1.0)
    >>> state.at_rest, float(state.mean[0, 1].real.round(9)), round(state.order, 9)
    (True, 0.8, 0.948683298)
    """
    setup, active, span = networks(omega, coupling, gain), np.arange(len(omega)), FIRST_SPAN
    found: list[Steady | None] = [None] * len(omega)
    while len(active):
        steps = SAMPLE_EVERY * round(span / REGIME_STEP / SAMPLE_EVERY)
        part = setup[active]
        samples = advance(part, theta, steps)
        theta = samples[-1]
        moving = np.ptp(velocity(part, theta), axis=1) * part.step[:, 0] / REGIME_STEP
        going = np.zeros(len(active), bool)
        for place, network in enumerate(active):
            state = _steady(samples[:, place], bool(moving[place] <= _AT_REST), span)
            moved = (coupling[network] * state.change).sum() / (omega.shape[1] * (omega.shape[1] - 1))
            early = not state.at_rest and span < SHORTEST_DRIFT
            going[place] = (moved > REGIME_RESIDUAL or early) and span < longest_span
            found[network] = state
        active, theta, span = active[going], theta[going], min(2.0 * span, longest_span)
    return [state for state in found if state is not None]


def _steady(theta: Array, at_rest: bool, span: float) -> Steady:
    """The steady state seen in samples (T, N) of one network."""
    if at_rest:
        z = np.exp(1j * theta[-1])
        mean = z[:, None] * z.conj()
        return Steady(mean, np.zeros(mean.shape), float(abs(z.mean())), True, theta[-1], span)
    beat = slowest_beat(theta) or 0.0  # unclear beats are marked below
    weights, later = window(len(theta), beat), theta[len(theta) // 2 :]
    mean = pair_mean(theta, weights)
    change = np.abs((mean - pair_mean(later, window(len(later), beat))).real)
    moved = theta[-1] - theta[0]
    turns = np.abs(moved[:, None] - moved[None, :]) / _TURN
    change[(turns > WOBBLE_TURNS) & (turns < FEWEST_TURNS)] = 1.0
    order = float(weights @ np.abs(np.exp(1j * theta).mean(axis=1)))
    return Steady(mean, change, order, False, theta[-1], span)
