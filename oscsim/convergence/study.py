"""Three comparisons: a circuit with its own phase reduction, that with the closed form, and both at once."""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from oscsim.circuits import CircuitDesign, lower_circuit
from oscsim.convergence.order import Order, fit_order
from oscsim.convergence.own_law import own_answer
from oscsim.reference import solve
from oscsim.result import SyncResult, SyncStatus
from oscsim.spec import PhaseLayerSpec

Array = NDArray[np.float64]
Simulate = Callable[[PhaseLayerSpec], SyncResult]

RATIOS = (0.3, 0.6, 0.8, 0.9, 0.95, 1.05, 1.2, 1.5)
# The order of the strict law, and how far from it a family may be.
EXPECTED_ORDER, ORDER_MARGIN = 1.0, 0.25
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
    status : how the circuit's run ended.
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


@dataclass(frozen=True)
class Law:
    """One comparison over all strengths of coupling: root mean square error, and its order if it has one."""

    kind: str
    comparison: str
    epsilon: tuple[float, ...]
    error: tuple[float, ...]
    order: Order | None


@dataclass(frozen=True)
class Study:
    """Everything that was compared."""

    design: CircuitDesign
    rows: tuple[Row, ...]

    @property
    def laws(self) -> tuple[Law, ...]:
        """Per kind: own (order about 1), floor (constant), closed (both added)."""
        kinds = dict.fromkeys(_law_name(row) for row in self.rows)
        return tuple(_law(self.rows, kind, name) for kind in kinds for name in ("own", "floor", "closed"))

    @property
    def failures(self) -> tuple[str, ...]:
        """What does not hold, in words: the order of the strict law, unsettled runs, wrong lock decisions."""
        found = [_order_failure(law, self.design) for law in self.laws if law.comparison == "own"]
        unsettled = sum(not row.settled for row in self.rows)
        wrong = sum(
            row.own_locks < 1.0 for row in self.rows if row.settled and (row.firm or row.kind == "pair")
        )
        if unsettled:
            found.append(f"{unsettled} of {len(self.rows)} rows come from runs that did not converge")
        if wrong:
            found.append(f"{wrong} rows lock otherwise than their own phase reduction")
        return tuple(sentence for sentence in found if sentence)

    def to_json(self) -> dict[str, Any]:
        """Plain JSON: design, laws, failures, rows."""
        return {
            "schema_version": 1,
            "design": self.design.model_dump(),
            "laws": [asdict(law) for law in self.laws],
            "failures": list(self.failures),
            "rows": [asdict(row) for row in self.rows],
        }


def _law_name(row: Row) -> str:
    """Layers that lock firmly obey the strict law; what rotates, or nearly does, is judged apart."""
    if row.kind == "pair":
        return "pair, locked" if row.firm else "pair, unlocked"
    return "network, locked" if row.firm else "network, near or past the edge"


def _law(rows: Sequence[Row], kind: str, name: str) -> Law:
    mine = [row for row in rows if _law_name(row) == kind and row.settled]
    epsilon = sorted({row.epsilon for row in mine}, reverse=True)
    error = [_rms([getattr(row, name) for row in mine if row.epsilon == value]) for value in epsilon]
    order = fit_order(np.array(epsilon), np.array(error)) if name == "own" and mine else None
    return Law(kind, name, tuple(epsilon), tuple(error), order)


def _order_failure(law: Law, design: CircuitDesign) -> str:
    """Why a law that ought to be of order one is not; errors below the simulation's own say nothing."""
    if law.kind not in ("pair, locked", "network, locked") or law.order is None:
        return ""
    if max(law.error) <= 10.0 * design.phase_accuracy:
        return ""
    if abs(law.order.exponent - EXPECTED_ORDER) <= ORDER_MARGIN:
        return ""
    return (
        f"{law.kind}: error against the own phase reduction is of order {law.order.exponent:.2f} in epsilon, "
        f"expected {EXPECTED_ORDER} +- {ORDER_MARGIN}"
    )


def _rms(values: Sequence[float] | Array) -> float:
    return float(np.sqrt(np.mean(np.square(values))))


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
        own=_rms((result.sync - own.sync)[others]),
        floor=_rms((own.sync - closed.sync)[others]),
        closed=_rms((result.sync - closed.sync)[others]),
        own_locks=float((result.locked == own.locked)[others].mean()),
        closed_locks=float((result.locked == closed.locked)[others].mean()),
        firm=terms.exact and float(terms.condition.max()) <= FIRM_CONDITION,
        status=str(result.status),
    )
