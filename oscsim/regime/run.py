"""One seed of one cell: the network's steady state held against the closed form."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from oscsim.closed_form import synchronization
from oscsim.locked_state import LockedState, locked_state
from oscsim.regime.cell import Cell
from oscsim.regime.conventions import CONVENTIONS, self_consistent_order
from oscsim.regime.steady import LONGEST_SPAN, Steady, steady_states
from oscsim.tolerance import LOCK_THRESHOLD, REGIME_CAP

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Agreement:
    """The closed form with one order parameter r against one network; means over the pairs i < j.

    Parameters
    ----------
    order : r; mean_error, max_error : of ``|S_network - S_closed_form|``, S in units of J <= 1.
    lock_agreement : share of pairs on which both say locked, or both say not.
    locked_share : share of pairs that the closed form locks.
    """

    order: float
    mean_error: float
    max_error: float
    lock_agreement: float
    locked_share: float


@dataclass(frozen=True)
class Run:
    """What one seed of a cell gave.

    Parameters
    ----------
    seed : of frequencies and initial phases.
    settled : whether ``change`` is at most REGIME_CAP; the run counts in every mean either way.
    change, max_change : mean and largest change of S over pairs when only the later half of the averaging
        span is used: an estimate of how uncertain a mean error, the error of a pair is.
    mean_sync : mean |S_network| over pairs: what the error would be of an answer that is zero everywhere.
    locked_share : of pairs, in the network.
    lockable : whether a stable state exists in which the whole network rotates at one frequency (Newton);
        at_rest : whether the run ended in such a state.
    oracle_error : largest |S - S_exact| over pairs, S_exact the Newton state of a network at rest or the
        exact pair law of two oscillators; None where no exact answer is known.
    agreement : convention -> :class:`Agreement`, in the order of CONVENTIONS.
    """

    seed: int
    settled: bool
    change: float
    max_change: float
    mean_sync: float
    locked_share: float
    lockable: bool
    at_rest: bool
    oracle_error: float | None
    agreement: dict[str, Agreement]


def simulate(cell: Cell, seeds: Sequence[int], longest_span: float = LONGEST_SPAN) -> list[Run]:
    """Integrate the networks of some seeds side by side and compare each with the closed form.

    ``S_network_ij = J_ij Re <exp(i(theta_i - theta_j))>``, locked where ``|<.>| >= 0.99``; the closed form
    is ``S_ij = J_ij sqrt(1 - (d_ij/(K r J_ij))^2)`` where ``d_ij <= K r J_ij``, else 0 (docs/spec.md
    sections 2 and 4), with r of every convention. The diagonal counts nowhere.

    >>> run, = simulate(Cell(2, 0.1, 1.313, 1.313), [0])
    >>> run.at_rest, run.agreement["one"].max_error < 1e-9  # two oscillators obey the pair law, r = 1
    (True, True)
    """
    draws = [cell.draw(seed) for seed in seeds]
    omega, theta = (np.stack([draw[part] for draw in draws]) for part in (0, 1))
    coupling = np.exp(-cell.alpha * np.square(omega[:, :, None] - omega[:, None, :]))
    states = steady_states(omega, theta, coupling, cell.gain, longest_span)
    return [
        _run(cell, *parts) for parts in zip(seeds, omega, theta, coupling, states, strict=True)
    ]  # fmt: skip


def _run(cell: Cell, seed: int, omega: Array, theta: Array, coupling: Array, state: Steady) -> Run:
    pairs = np.triu_indices(cell.n, 1)
    j, mean, change = coupling[pairs], state.mean[pairs], coupling[pairs] * state.change[pairs]
    sync, locked = j * mean.real, np.abs(mean) >= LOCK_THRESHOLD
    d = np.abs(omega[:, None] - omega[None, :])[pairs]
    orders = {
        "given": float(np.abs(np.exp(1j * theta).mean())),
        "steady": state.order,
        "one": 1.0,
        "self-consistent": self_consistent_order(omega, coupling, cell.gain),
    }
    exact = locked_state(coupling * (cell.gain / cell.n), omega, causal=False)
    known = _exact_sync(cell, omega, coupling, exact) if state.at_rest or cell.n == 2 else None
    return Run(
        seed=int(seed),
        settled=bool(change.mean() <= REGIME_CAP),
        change=float(change.mean()),
        max_change=float(change.max()),
        mean_sync=float(np.abs(sync).mean()),
        locked_share=float(locked.mean()),
        lockable=exact is not None,
        at_rest=state.at_rest,
        oracle_error=None if known is None else float(np.abs(sync - known).max()),
        agreement={name: _agreement(j, d, cell.gain, orders[name], sync, locked) for name in CONVENTIONS},
    )


def _agreement(
    j: Array, d: Array, gain: float, r: float, sync: Array, locked: NDArray[np.bool_]
) -> Agreement:
    a = gain * r * j
    error, predicted = np.abs(sync - synchronization(j, d, a)), d <= a
    return Agreement(
        order=r,
        mean_error=float(error.mean()),
        max_error=float(error.max()),
        lock_agreement=float((predicted == locked).mean()),
        locked_share=float(predicted.mean()),
    )


def _exact_sync(cell: Cell, omega: Array, coupling: Array, exact: LockedState | None) -> Array | None:
    """S of the pairs i < j where it is known: the pair law of two oscillators, or a locked state."""
    pairs = np.triu_indices(cell.n, 1)
    if cell.n == 2:
        return synchronization(coupling[pairs], np.abs(np.diff(omega)), cell.gain * coupling[pairs])
    if exact is None:
        return None
    return coupling[pairs] * np.cos(exact.theta[:, None] - exact.theta[None, :])[pairs]
