"""One layer at one strength of coupling: how far a circuit is from its own law and from the closed form."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from oscsim.circuits import CircuitDesign, lower_circuit
from oscsim.convergence.own_law import own_answer
from oscsim.reference import solve
from oscsim.result import SyncResult, SyncStatus
from oscsim.spec import PhaseLayerSpec

Array = NDArray[np.float64]

FIRM_CONDITION = 10.0


@dataclass(frozen=True)
class Row:
    """One cell (a pair at one ratio) or one network at one strength of coupling.

    Parameters
    ----------
    kind : "pair" or "network"; count : oscillators; ratio : d/a of the pair, spread of the network.
    seed : of the network; epsilon : locking strength relative to the carrier.
    own, floor, closed : error of S: circuit against its own reduction, that against the closed form, circuit
        against the closed form (pair: absolute value; network: root mean square over off-diagonal pairs).
    own_locks, closed_locks : share of lock decisions of the circuit that agree with its own reduction, and
        with the closed form.
    firm : whether the layer locks as a whole by its exact answer, no cell more sensitive than a condition of
        FIRM_CONDITION: here the strict law is expected.
    status : how the circuit's run ended, or "own_law_undecided" where its law did not converge.
    """

    kind: str
    count: int
    ratio: float
    seed: int
    epsilon: float
    own: float
    floor: float
    closed: float
    own_locks: float
    closed_locks: float
    firm: bool
    status: str

    @property
    def settled(self) -> bool:
        """Whether the run can be used: at rest, or its average has converged."""
        return self.status in (SyncStatus.SETTLED, SyncStatus.DRIFTING)


def compare_pairs(
    design: CircuitDesign, ratios: Sequence[float], epsilon: float, layer: PhaseLayerSpec, result: SyncResult
) -> list[Row]:
    """One row per ratio of a :func:`oscsim.convergence.layers.pair_layer`."""
    own, closed = own_answer(layer, lower_circuit(layer, design)), solve(layer)
    rows = []
    for h, ratio in enumerate(ratios):
        cell = (h, 0, 1)
        rows.append(
            Row(
                kind="pair",
                count=2,
                ratio=ratio,
                seed=0,
                epsilon=epsilon,
                own=float(abs(result.sync[cell] - own.sync[cell])),
                floor=float(abs(own.sync[cell] - closed.sync[cell])),
                closed=float(abs(result.sync[cell] - closed.sync[cell])),
                own_locks=float(result.locked[cell] == own.locked[cell]),
                closed_locks=float(result.locked[cell] == closed.locked[cell]),
                firm=ratio < 1.0,
                status=str(result.status),
            )
        )
    return rows


def compare_network(
    design: CircuitDesign, epsilon: float, spread: float, seed: int, layer: PhaseLayerSpec, result: SyncResult
) -> Row:
    """One row for a :func:`oscsim.convergence.layers.network_layer`."""
    own, closed = own_answer(layer, lower_circuit(layer, design)), solve(layer)
    terms = closed.conditioning
    assert terms is not None  # solve always sets it; narrows the type
    others = np.broadcast_to(~np.eye(layer.n_oscillators, dtype=bool), result.sync.shape)
    return Row(
        kind="network",
        count=layer.n_oscillators,
        ratio=spread,
        seed=seed,
        epsilon=epsilon,
        own=rms((result.sync - own.sync)[others]),
        floor=rms((own.sync - closed.sync)[others]),
        closed=rms((result.sync - closed.sync)[others]),
        own_locks=float((result.locked == own.locked)[others].mean()),
        closed_locks=float((result.locked == closed.locked)[others].mean()),
        firm=terms.exact and float(terms.condition.max()) <= FIRM_CONDITION,
        status=str(result.status) if own.settled else "own_law_undecided",
    )


def rms(values: Sequence[float] | Array) -> float:
    """Root of the mean square, 0 of nothing."""
    return float(np.sqrt(np.mean(np.square(values)))) if len(values) else 0.0
