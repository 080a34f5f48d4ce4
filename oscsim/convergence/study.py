"""Three comparisons: a circuit with its own phase reduction, that with the closed form, and both at once."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from oscsim.circuits import CircuitDesign
from oscsim.convergence.order import Order, fit_order
from oscsim.convergence.row import Row, rms

RATIOS = (0.3, 0.6, 0.8, 0.9, 0.95, 1.05, 1.2, 1.5)
# The order of the strict law, and how far from it a family may be.
EXPECTED_ORDER, ORDER_MARGIN = 1.0, 0.25


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
    error = [rms([getattr(row, name) for row in mine if row.epsilon == value]) for value in epsilon]
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
