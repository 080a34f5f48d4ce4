"""From a spec to arrays of coupled oscillators: the same form for all three dynamics, still dimensionless."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from oscsim import pair_terms
from oscsim.spec import PhaseLayerSpec

Array = NDArray[np.float64]
Indices = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class OscillatorArray:
    """Batches of n oscillators, ``theta_i' = detuning_i + sum_j pull_ij sin(theta_j - theta_i)``.

    pair: one batch per distinct cell (or per cell), two oscillators pulling each other with a/2 each, so that
    psi = theta_0 - theta_1 obeys ``psi' = d - a sin psi``. network: one batch per head and channel.
    clamped: one batch per head and channel, first the N driven oscillators (detuning 0), then the N held
    ones, which nothing pulls and which run at the carrier.

    Parameters
    ----------
    dynamics : of the layer.
    detuning : (B, n) rad / time unit, relative to the carrier.
    pull : (M, n, n) rad / time unit, row = driven; signed.
    matrix : (B,) which of the M matrices a batch uses.
    start : (B, n) phases, rad.
    duration : time units after which the phases are read; infinity means when they have settled.
    cell : pair: (H, N, N) batch of every cell, -1 where there is none; otherwise (H, D) batches.
    """

    dynamics: str
    detuning: Array
    pull: Array
    matrix: Indices
    start: Array
    duration: float
    cell: Indices

    @property
    def batches(self) -> int:
        """B."""
        return len(self.detuning)

    @property
    def size(self) -> int:
        """n, oscillators per batch."""
        return self.detuning.shape[1]


def oscillator_array(
    spec: PhaseLayerSpec, distinct: bool = False, own_clock: bool = False
) -> OscillatorArray:
    """The oscillators a layer asks for, with ideal frequencies and couplings.

    Parameters
    ----------
    distinct : whether every cell of a pair layer is a batch of its own, even where cells are equal: on a chip
        with random deviations they are not.
    own_clock : pair only; whether every cell is sped up until its larger rate, ``max(|a|, d)``, is the
        largest ``|a|`` of the layer. S depends on d/a alone: nothing changes but the time it takes.

    >>> from oscsim import FixedOrder, FrequencyCoupling
    >>> spec = PhaseLayerSpec(omega=[[[0.0], [0.5]]], theta=[[[0.0], [0.0]]], gain=[1.0],
    ...     coupling=FrequencyCoupling(alpha=[0.0]), order_parameter=FixedOrder(r=[1.0]))
    >>> oscillator_array(spec).detuning.tolist()
    [[0.0, -0.0], [0.25, -0.25]]
    """
    if spec.dynamics == "pair":
        return _pair(spec, distinct, own_clock)
    return {"network": _network, "clamped": _clamped}[spec.dynamics](spec)


def _pair(spec: PhaseLayerSpec, distinct: bool, own_clock: bool) -> OscillatorArray:
    d = pair_terms.mismatch(spec)
    j = pair_terms.coupling(spec, d)
    a, psi = pair_terms.locking_strength(spec, j), pair_terms.initial_difference(spec, d, j)
    allowed = np.broadcast_to(pair_terms.unmasked(spec), d.shape)
    rows = np.stack([d[allowed], a[allowed], psi[allowed]], axis=1) + 0.0
    back = np.arange(len(rows))
    if not distinct:  # cells that are equal in every number are equal circuits: one of each is enough
        rows, back = np.unique(rows, axis=0, return_inverse=True)
    cell = np.full(d.shape, -1)
    cell[allowed] = back.ravel()
    d, a, psi = rows.T
    if own_clock:
        d, a = _on_own_clock(d, a)
    pull = np.zeros((len(a), 2, 2))
    pull[:, 0, 1] = pull[:, 1, 0] = 0.5 * a
    start = np.stack([psi, np.zeros_like(psi)], axis=1)
    return OscillatorArray(
        "pair",
        d[:, None] * np.array([0.5, -0.5]),
        pull,
        np.arange(len(a)),
        start,
        np.inf,
        cell.astype(np.int64),
    )


def _on_own_clock(d: Array, a: Array) -> tuple[Array, Array]:
    """Rates (B,) of cells whose larger rate is the largest ``|a|`` of all; cells without a rate stay."""
    rate, fastest = np.maximum(d, np.abs(a)), float(np.abs(a).max(initial=0.0))
    if fastest == 0.0:
        return d, a
    # the quotients first: they are at most 1, whatever the size of the rates
    safe = np.where(rate > 0.0, rate, 1.0).astype(np.float64)
    return d / safe * fastest, a / safe * fastest


def _channels(spec: PhaseLayerSpec, values: Array) -> Array:
    """(H, N, D) -> (H D, valid N): one row per head and channel, padding removed."""
    return values[:, spec.valid].transpose(0, 2, 1).reshape(-1, int(spec.valid.sum()))


def _by_channel(spec: PhaseLayerSpec) -> tuple[Indices, Indices]:
    cell = np.arange(spec.n_heads * spec.n_channels).reshape(spec.n_heads, spec.n_channels)
    return cell, cell // spec.n_channels


def _network(spec: PhaseLayerSpec) -> OscillatorArray:
    cell, head = _by_channel(spec)
    pull = pair_terms.network_matrix(spec, pair_terms.coupling(spec))[:, spec.valid][:, :, spec.valid]
    pull = pull * ~np.eye(pull.shape[1], dtype=bool)  # an oscillator does not pull itself: sin(0) = 0
    omega = _channels(spec, spec.omega)
    return OscillatorArray(
        "network", omega - omega.mean(axis=1, keepdims=True), pull, head.ravel(),
        _channels(spec, spec.theta), np.inf, cell,
    )  # fmt: skip


def _clamped(spec: PhaseLayerSpec) -> OscillatorArray:
    cell, _ = _by_channel(spec)
    allowed, rate = pair_terms.unmasked(spec), _channels(spec, pair_terms.free_rate(spec))
    weights = np.where(allowed, spec.gain[:, None, None] * pair_terms.coupling(spec), 0.0)
    weights = np.repeat(weights[:, spec.valid][:, :, spec.valid], spec.n_channels, axis=0)
    count = rate.shape[1]
    pull = np.zeros((len(rate), 2 * count, 2 * count))
    pull[:, :count, count:] = rate[:, :, None] * weights
    free, held = _channels(spec, pair_terms.initial_phase(spec)), _channels(spec, spec.theta)
    start = np.concatenate([free, held], axis=1)
    return OscillatorArray(
        "clamped", np.zeros_like(start), pull, np.arange(len(rate)), start, spec.duration, cell
    )
