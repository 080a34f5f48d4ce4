"""The layers the demo derives from the one it was given."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from oscsim.closed_form import lock_ratio
from oscsim.coupling import ExplicitCoupling, FixedOrder, FrequencyCoupling
from oscsim.pair_terms import coupling, held_phasor, locking_strength, mismatch, unmasked
from oscsim.reference import solve
from oscsim.spec import PhaseLayerSpec

Array = NDArray[np.float64]

# Half of the oscillators have come 1 - exp(-1.5) = 78 % of their way when a clamped run of this many
# relaxation times ends: long enough to move, short enough that a wrong duration shows.
RELAXATION_TIMES = 1.5
# Tokens of the network section, and how sensitive its locked state may be: near the edge of locking a
# network relaxes as slowly as its condition number says.
LONGEST_NETWORK, LARGEST_CONDITION = 32, 20.0
# d/|a| of the cells whose settling is shown: well locked, near the edge, beyond it.
WANTED_RATIOS = (0.2, 0.5, 0.8, 0.95, 1.1, 1.6)


def clamped_layer(pair: PhaseLayerSpec) -> PhaseLayerSpec:
    """The same oscillators, each driven by all the others held still, for a finite time.

    ``T = 1.5 / median R_i``, R_i = |sum_j C_ij exp(i theta_j)| (docs/spec.md section 5), to three digits.
    """
    strength = np.abs(held_phasor(pair, coupling(pair)))[:, pair.valid]
    typical = float(np.median(strength))
    duration = RELAXATION_TIMES / typical if typical > 0 else 1.0
    return pair.replace(dynamics="clamped", duration=float(f"{duration:.3g}"))


def network_layer(pair: PhaseLayerSpec) -> tuple[PhaseLayerSpec, int]:
    """The longest beginning of the passage that one head, as a network, locks firmly; and that head.

    Such a network has an exact answer and comes to rest soon. Under a causal mask the rest of the passage
    could not change these rows.
    """
    for count in range(min(LONGEST_NETWORK, pair.n_oscillators), 2, -1):
        for head in range(pair.n_heads):
            layer = beginning(pair, head, count)
            terms = solve(layer).conditioning
            if terms is not None and terms.exact and terms.condition.max() <= LARGEST_CONDITION:
                return layer, head
    return beginning(pair, 0, min(2, pair.n_oscillators)), 0  # two oscillators always have an exact answer


def beginning(pair: PhaseLayerSpec, head: int, count: int, dynamics: str = "network") -> PhaseLayerSpec:
    """One head of a pair layer on its first ``count`` tokens; a causal mask makes their answers the same."""
    one, first = slice(head, head + 1), slice(0, count)
    coupling_, order = pair.coupling, pair.order_parameter
    return PhaseLayerSpec(
        omega=pair.omega[one, first],
        theta=pair.theta[one, first],
        values=None if pair.values is None else pair.values[one, first],
        coupling=FrequencyCoupling(alpha=coupling_.alpha[one])
        if isinstance(coupling_, FrequencyCoupling)
        else ExplicitCoupling(matrix=coupling_.matrix[one, first, first]),
        gain=pair.gain[one],
        order_parameter=FixedOrder(r=order.r[one] if order.r.ndim == 1 else order.r[one, first])
        if isinstance(order, FixedOrder)
        else order,
        mask=pair.mask,
        padding=None if pair.padding is None else pair.padding[first],
        dynamics=dynamics,
        time_unit_s=pair.time_unit_s,
        carrier_hz=pair.carrier_hz,
    )


def most_selective_head(sync: Array) -> int:
    """The head whose S (H, N, N) depends most on what the tokens are, not only on how far apart they are.

    Largest variance of S along its diagonals: a pure window of positions has none.

    >>> window = np.eye(4) + 0.5 * np.eye(4, k=-1)
    >>> most_selective_head(np.stack([window, window * [[1.0], [0.5], [1.0], [0.5]]]))
    1
    """
    offsets = range(1, sync.shape[1])
    spread = [sum(float(np.diagonal(one, -offset).var()) for offset in offsets) for one in sync]
    return int(np.argmax(spread))


@dataclass(frozen=True, eq=False)
class Cells:
    """A few pair cells of a layer: their indices (C, 3) = (head, target, source) and d, a (C,)."""

    index: NDArray[np.int_]
    mismatch: Array
    strength: Array

    @property
    def ratio(self) -> Array:
        """(C,) d/|a|."""
        return lock_ratio(self.mismatch, self.strength)

    @property
    def clock(self) -> Array:
        """(C,) max(|a|, d), the own clock of each cell, rad / time unit."""
        return np.maximum(np.abs(self.strength), self.mismatch)


def pick_cells(pair: PhaseLayerSpec, wanted: tuple[float, ...] = WANTED_RATIOS) -> Cells:
    """The coupled cells of a pair layer whose d/|a| is nearest to each wanted value, no cell twice."""
    d = mismatch(pair)
    a = locking_strength(pair, coupling(pair, d))
    allowed = unmasked(pair) & ~np.eye(pair.n_oscillators, dtype=bool)
    ratio = np.where(allowed & (a != 0), lock_ratio(d, a), np.inf)
    chosen: list[int] = []
    for value in wanted:
        nearest = np.argsort(np.abs(ratio.ravel() - value), kind="stable")
        chosen += [int(cell) for cell in nearest[: len(wanted)] if cell not in chosen][:1]
    flat = np.array(chosen)
    index = np.stack(np.unravel_index(flat, ratio.shape), axis=1)
    return Cells(index, d.ravel()[flat], a.ravel()[flat])


def settling_layer(cells: Cells) -> PhaseLayerSpec:
    """The cells as a layer of their own that any target can run: one head each, on its own clock.

    Two mutually coupled oscillators obey the pair law exactly (docs/spec.md section 4): with
    psi = theta_0 - theta_1 and coupling K/2 either way, ``psi' = d - a sin psi``.
    """
    d, a = cells.mismatch / cells.clock, cells.strength / cells.clock
    heads = len(d)
    return PhaseLayerSpec(
        omega=np.stack([d, np.zeros(heads)], axis=1)[:, :, None],
        theta=np.zeros((heads, 2, 1)),
        coupling=FrequencyCoupling(alpha=np.zeros(heads)),
        gain=np.abs(a),
        dynamics="network",
    )
