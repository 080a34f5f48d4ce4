"""The budget of a whole layer, for each dynamics."""

import numpy as np
from numpy.typing import NDArray

from hw_targets.lava.budget.driven import driven_errors, flow
from hw_targets.lava.budget.head import Head, order_errors, phase_errors, sync_errors
from hw_targets.lava.budget.locks import decisions
from hw_targets.lava.budget.moments import Moments, with_total
from hw_targets.lava.budget.network import rate_errors
from hw_targets.lava.budget.resting import resting_errors
from hw_targets.lava.budget.roundings import Roundings
from hw_targets.lava.budget.sources import Budget, sources
from hw_targets.lava.budget.turning import Beat, turning_errors
from hw_targets.lava.fixed_point import FixedPoint
from hw_targets.lava.plan import Lowered, LoweredCells, LoweredNetwork
from oscsim.errors import ConfigError
from oscsim.pair_terms import coupling, free_rate, held_phasor, unmasked

Array = NDArray[np.float64]

# A Jacobian beyond this is singular in float64: an error of a rate would move phases without a limit.
LARGEST_CONDITION = 1e12


def budget(lowered: Lowered, rest: Array | None = None, locks: bool = True) -> Budget:
    """Predicted errors of a lowered layer.

    Parameters
    ----------
    rest : (H, N, D) phases at which a network rests, rad; any one rotation per channel. Other dynamics
        need none.
    locks : whether lock decisions of pair cells are predicted too, which takes longer than all the rest.

    Raises
    ------
    ConfigError
        a network without resting phases, or one that does not rest there; sources that send spikes.
    """
    if isinstance(lowered, LoweredNetwork):
        if rest is None:
            raise ConfigError(
                "budget: given a network without resting phases, expected those at which it rests"
            )
        return _network(lowered, rest)
    if not isinstance(lowered, LoweredCells):
        raise ConfigError(
            "budget: given held_sources='synapses', expected 'folded'; the others are not predicted"
        )
    return _pair(lowered, locks) if lowered.held is None else _clamped(lowered)


def _others(lowered: Lowered) -> NDArray[np.bool_]:
    """(H, N, N) unmasked cells off the diagonal."""
    count = lowered.spec.n_oscillators
    allowed = unmasked(lowered.spec) & ~np.eye(count, dtype=bool)
    return np.broadcast_to(allowed, (lowered.spec.n_heads, count, count))


def _pair(lowered: LoweredCells, locks: bool) -> Budget:
    cells, form = lowered.cells, lowered.number_format
    r = Roundings.of(form, lowered.program.integrator)
    others = _others(lowered)[cells.where]
    strength = np.abs(coupling(lowered.spec))[cells.where]
    time: Array = cells.steps.astype(np.float64) * form.step
    kept = others & (np.abs(cells.ratio - 1.0) > lowered.accuracy.band)
    squares = _pair_squares(cells.ratio[kept], cells.start[kept], time[kept], r)
    squares = {name: strength[kept] ** 2 * square for name, square in squares.items()}
    expected, where = np.zeros(cells.where.shape), np.zeros(cells.where.shape, dtype=bool)
    flat = np.zeros(len(kept))
    flat[kept] = np.sqrt(squares.pop("all"))
    expected[cells.where], where[cells.where] = flat, kept
    wrong = None
    if locks:
        decided = decisions(cells.ratio[others], cells.start[others], time[others], form)
        wrong = int((decided != (cells.ratio[others] <= 1.0)).sum())
    return Budget(sources(squares, lowered), expected, where, wrong)


def _pair_squares(ratio: Array, start: Array, time: Array, r: Roundings) -> dict[str, Array]:
    """Mean square error of |<cos psi>| of each cell, by source and of "all"."""
    locks = ratio < 1.0
    resting = with_total(resting_errors(ratio[locks], start[locks], time[locks], r))
    beat = Beat.of(1.0 / ratio[~locks], start[~locks], time[~locks])
    turning = with_total(turning_errors(beat, r))
    squares = {}
    for name, moments in resting.items():
        squares[name] = np.zeros(len(ratio))
        squares[name][locks] = _through_root(ratio[locks], moments)
        squares[name][~locks] = turning[name].mean ** 2 + turning[name].variance
    return squares


def _through_root(ratio: Array, sine: Moments) -> Array:
    """Mean square change of ``sqrt(1 - rho^2)`` by an error of rho: mean and variance as two points."""
    exact = np.sqrt((1.0 - ratio) * (1.0 + ratio))
    spread = np.sqrt(sine.variance)
    changed = [np.minimum(np.abs(ratio + sine.mean + side * spread), 1.0) for side in (-1.0, 1.0)]
    return np.mean([(np.sqrt((1.0 - x) * (1.0 + x)) - exact) ** 2 for x in changed], axis=0)


def _clamped(lowered: LoweredCells) -> Budget:
    """``S_ij = (J_ij/D) sum_l cos(phi_i - theta_j)`` changes by ``-(J_ij/D) sum_l sin(phi_i - theta_j)
    e_i``.
    """
    spec, cells, form = lowered.spec, lowered.cells, lowered.number_format
    r = Roundings.of(form, lowered.program.integrator)
    j = coupling(spec)
    pull = np.abs(free_rate(spec) * np.abs(held_phasor(spec, j)))[cells.where]
    with np.errstate(invalid="ignore"):
        whole = np.where(pull > 0, pull * spec.duration, 0.0)
    errors = driven_errors(cells.start, cells.coupling, cells.steps.astype(np.float64) * form.step, whole, r)
    phase = spec.theta.copy()
    back = np.where(cells.turned, np.pi, 0.0)
    phase[cells.where] = lowered.held[cells.where] + flow(cells.start, whole) - back
    slope = j[..., None] * np.sin(phase[:, :, None] - spec.theta[:, None]) / spec.n_channels
    where, squares = _others(lowered), {}
    for name, moments in with_total(errors).items():
        mean, variance = np.zeros(spec.theta.shape), np.zeros(spec.theta.shape)
        mean[cells.where], variance[cells.where] = moments.mean, moments.variance
        square = (slope * mean[:, :, None]).sum(axis=3) ** 2 + (slope**2 * variance[:, :, None]).sum(axis=3)
        squares[name] = np.where(where, square, 0.0)
    expected = np.sqrt(squares.pop("all"))
    return Budget(
        sources({name: square[where] for name, square in squares.items()}, lowered), expected, where
    )


def _network(lowered: LoweredNetwork, rest: Array) -> Budget:
    spec, valid = lowered.spec, lowered.network.valid
    r = Roundings.of(lowered.number_format, lowered.program.integrator)
    where, strength = _others(lowered), np.abs(coupling(spec))
    expected, order = np.zeros(where.shape), np.zeros(where.shape[:2])
    squares: dict[str, Array] = {}
    place = np.ix_(valid, valid)
    allowed = unmasked(spec)[place]
    for h, head in _heads(lowered, rest):
        moved = {}
        for name, errors in rate_errors(head, r, lowered.program.delay_steps > 0).items():
            phases = phase_errors(head, errors)
            moved[name] = sync_errors(head, phases), order_errors(head, phases, allowed)
        for name, moments in with_total({name: pair[0] for name, pair in moved.items()}).items():
            square = squares.setdefault(name, np.zeros(where.shape))
            square[h][place] = moments.mean**2 + moments.variance
        total = with_total({name: pair[1] for name, pair in moved.items()})["all"]
        order[h, valid] = np.sqrt(total.mean**2 + total.variance)
    squares = {name: np.where(where, strength**2 * square, 0.0) for name, square in squares.items()}
    if squares:
        expected = np.sqrt(squares.pop("all"))
    return Budget(
        sources({name: square[where] for name, square in squares.items()}, lowered),
        expected,
        where,
        None,
        order,
    )


def _heads(lowered: LoweredNetwork, rest: Array) -> list[tuple[int, Head]]:
    """The heads in which something moves, at rest.

    Raises
    ------
    ConfigError
        a head that would leave these phases.
    """
    spec, net, program = lowered.spec, lowered.network, lowered.program
    shape = (spec.n_heads, spec.n_channels, len(net.valid))
    matrix = net.matrix.reshape(*shape, *shape)
    drift, gain = net.drift.reshape(shape), program.gain.reshape(shape)
    heads = []
    for h in np.flatnonzero(net.clock > 0):
        rows = matrix[h, 0, :, h, 0]
        weights = np.abs(program.weights)
        step = np.zeros(shape[2])
        if isinstance(lowered.number_format.arithmetic, FixedPoint):
            largest = int(weights.max(initial=0))
            # a row is scaled to the largest weight of 2^bits minus one step
            unit = (1 << program.weight_bits) - largest if largest else 1
            step = np.abs(rows).max(axis=1) * unit / max(largest, 1)
        head = Head(rest[h, net.valid].T, drift[h], rows, gain[h, 0].astype(float), step)
        speed = head.drift + head.pull
        if np.ptp(speed, axis=1).max() > 1e-3 or (len(net.valid) > 1 and head.relaxation.min() <= 0):
            raise ConfigError(
                "budget: given phases at which the network does not rest, so nothing is predicted"
            )
        if np.linalg.cond(head.bordered).max() > LARGEST_CONDITION:
            raise ConfigError(
                "budget: given a network with parts that do not hold each other (nothing couples them, or at "
                "a right angle), so nothing says how far errors move them; expected one connected network"
            )
        heads.append((int(h), head))
    return heads
