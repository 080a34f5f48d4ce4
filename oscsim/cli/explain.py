"""``oscsim run --explain``: where the error of a circuit comes from, or that of a number format of lava."""

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from rich.text import Text

from hw_targets.lava.budget.layers import budget
from hw_targets.lava.budget.sources import Budget, root_mean_square
from hw_targets.lava.config import LavaConfig
from hw_targets.lava.target import LavaExecutable
from oscsim.circuits import CircuitDesign
from oscsim.cli.output import Output
from oscsim.cli.progress import say
from oscsim.convergence.chain import Chain, error_chain
from oscsim.errors import ConfigError
from oscsim.reference import solve
from oscsim.result import SyncResult
from oscsim.spec import PhaseLayerSpec
from oscsim.target import Executable, TargetConfig

EXPLAINED = (CircuitDesign, LavaConfig)


@dataclass(frozen=True, eq=False)
class BudgetCheck:
    """A predicted budget, and what was measured against the exact answer.

    Parameters
    ----------
    measured, order_measured : root mean square errors of S and of the order parameter; wrong_locks : cells.
    """

    budget: Budget
    measured: float
    wrong_locks: int
    order_measured: float | None

    def to_json(self) -> dict[str, Any]:
        """Plain JSON."""
        budget, bottleneck = self.budget, self.budget.bottleneck
        return {
            "sources": [asdict(source) for source in budget.sources],
            "bottleneck": None if bottleneck is None else bottleneck.name,
            "cells": int(budget.where.sum()),
            "rms": {"predicted": budget.rms, "measured": self.measured},
            "wrong_locks": {"predicted": budget.wrong_locks, "measured": self.wrong_locks},
            "order_parameter_rms": {"predicted": budget.order_rms, "measured": self.order_measured},
        }


def explain(
    layer: PhaseLayerSpec, config: TargetConfig, executable: Executable, result: SyncResult
) -> Chain | BudgetCheck:
    """Explain the result of a run.

    Raises
    ------
    ConfigError
        a network without a known resting state, or sources that send spikes: nothing is predicted.
    """
    if isinstance(config, CircuitDesign):
        return error_chain(layer, config, result)
    if not isinstance(executable, LavaExecutable):
        raise ConfigError(f"--explain: given {type(executable).__name__}, expected a circuit or target lava")
    exact = solve(layer)
    if layer.dynamics == "network" and exact.phase is None:
        raise ConfigError(
            f"--explain: the network has no known resting state ({exact.status}); expected one that locks, "
            "since the budget of a network is that of its resting phases"
        )
    predicted = budget(executable.lowered, exact.phase)
    error = result.sync - exact.sync
    pairs = np.broadcast_to(~np.eye(layer.n_oscillators, dtype=bool), error.shape)
    order = None
    if predicted.order_parameter is not None:
        order = root_mean_square(result.order_parameter - exact.order_parameter)
    wrong = int((result.locked != exact.locked)[pairs].sum())
    return BudgetCheck(predicted, root_mean_square(error[predicted.where]), wrong, order)


def show_explanation(out: Output, explained: Chain | BudgetCheck, imperfect: bool) -> None:
    """As tables for people."""
    if isinstance(explained, Chain):
        _show_chain(out, explained, imperfect)
    else:
        _show_budget(out, explained)


def _show_budget(out: Output, check: BudgetCheck) -> None:
    budget = check.budget
    out.print(Text("where the error of S comes from, predicted (docs/targets/lava_budget.md):"))
    rows = [[source.name, source.rms, source.option] for source in budget.sources]
    rows += [["together", budget.rms, None], ["measured", check.measured, "against the exact answer"]]
    out.table(("source", "rms", "smaller with"), rows)
    out.print(Text(f"{int(budget.where.sum())} pairs: self-pairs and those inside the band are left out"))
    if budget.wrong_locks is not None:
        out.print(Text(f"wrong lock decisions: {budget.wrong_locks} predicted, {check.wrong_locks} measured"))
    if budget.order_rms is not None:
        out.print(Text(
            f"order parameter, rms: {budget.order_rms:.2g} predicted, {check.order_measured:.2g} measured"
        ))  # fmt: skip
    bottleneck = budget.bottleneck
    if bottleneck is not None:
        out.print(Text(f"bottleneck: {bottleneck.name}; smaller with {bottleneck.option}"))


_STEPS = {
    "own law": "the phase reduction of the perfect circuit, not a sine",
    "quantised": "with the codes and connections that the chip has",
    "mismatched": "with mismatch, parasitics, delay and stuck couplers",
    "circuit": "the waveforms themselves, not their phase reduction",
}


def _show_chain(out: Output, chain: Chain, imperfect: bool) -> None:
    """A perfect chip has two steps: the others change nothing."""
    out.print(Text("where the error of S comes from, step by step from the closed form:"))
    links = [link for link in chain.links if imperfect or link.name in ("own law", "circuit")]
    rows = [[link.name, _STEPS[link.name], link.rms, link.largest, link.lock_changes] for link in links]
    total = ["all together", "from the closed form to the waveforms", chain.total_rms, None, None]
    out.table(("step to", "what it is", "rms", "largest", "locks changed"), [*rows, total])
    out.print(
        Text(
            f"{chain.compared} pairs compared (self-pairs i = j are left out), {chain.in_band} more too "
            f"close to the edge for this chip; the squares of the steps are {chain.explained:.0%} of the "
            "square of the total"
        )
    )
    if chain.undecided:
        say(
            f"the law of {', '.join(chain.undecided)} did not converge (a network that hardly moves, or "
            "sources that drift apart): these steps and their neighbours are not known"
        )
