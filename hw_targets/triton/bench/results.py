"""What a run of the benchmark found, as data."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

from hw_targets.triton.bench.clock import Spread, exponent
from hw_targets.triton.bench.gate import Check
from hw_targets.triton.bench.options import BenchOptions

SCHEMA = "oscsim-bench-1"
FEWEST_SIZES = 3
"""A slope through two points would be noise."""


@dataclass(frozen=True)
class Row:
    """One contender at one size in one pass.

    Parameters
    ----------
    seconds : of one call.
    to_sdpa : its time over that of float32 SDPA in the same rounds; None where SDPA was not measured.
    to_ours : its time over that of the op under test.
    peak_bytes : on top of the inputs; None where not measured.
    tflops, gbytes_per_s : two products per score (five backwards) and inputs plus outputs, over the time.
    """

    case: str
    n: int
    contender: str
    what: str
    seconds: Spread
    to_sdpa: Spread | None
    to_ours: Spread
    tokens_per_s: float
    rounds: int
    peak_bytes: int | None = None
    tflops: float = 0.0
    gbytes_per_s: float = 0.0
    note: str = ""


@dataclass
class Report:
    """A whole run; rows stay empty when the gate fails."""

    options: BenchOptions
    machine: dict[str, Any]
    inputs: list[dict[str, Any]] = field(default_factory=list)
    checks: list[Check] = field(default_factory=list)
    rows: list[Row] = field(default_factory=list)
    blocks: list[dict[str, Any]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @property
    def failed(self) -> list[Check]:
        """Checks that do not hold."""
        return [check for check in self.checks if not check.ok]

    def exponents(self) -> list[dict[str, Any]]:
        """Scaling exponent of every contender that was measured at three sizes or more."""
        found = []
        for case, who, what in dict.fromkeys((r.case, r.contender, r.what) for r in self.rows):
            rows = [r for r in self.rows if (r.case, r.contender, r.what) == (case, who, what)]
            sizes = [r.n for r in rows]
            slope = exponent(sizes, [r.seconds.median for r in rows])
            if slope is not None and len(sizes) >= FEWEST_SIZES:
                found.append({
                    "case": case, "contender": who, "what": what,
                    "from": min(sizes), "to": max(sizes), "exponent": slope,
                })  # fmt: skip
        return found

    def to_json(self) -> dict[str, Any]:
        """Plain JSON; without any speed when a check failed."""
        good = not self.failed
        return {
            "schema": SCHEMA,
            "passed": good,
            "machine": self.machine,
            "options": asdict(self.options),
            "inputs": self.inputs,
            "checks": [check.to_json() for check in self.checks],
            "rows": [asdict(row) for row in self.rows] if good else [],
            "exponents": self.exponents() if good else [],
            "blocks": self.blocks if good else [],
            "notes": self.notes,
        }
