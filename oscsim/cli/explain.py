"""``oscsim run --explain``: where the error of a circuit comes from, or that of a number format of lava."""

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from hw_targets.lava.budget.improvement import Improvement, improvement
from hw_targets.lava.budget.layers import budget
from hw_targets.lava.budget.sources import Budget, root_mean_square
from hw_targets.lava.config import LavaConfig
from hw_targets.lava.plan import LoweredHeld
from hw_targets.lava.target import LavaExecutable
from oscsim.circuits import CircuitDesign
from oscsim.convergence.chain import Chain, error_chain
from oscsim.errors import ConfigError, OscsimError
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
    improvement : a change with which the error is predicted to be smaller; None where no change is.
    """

    budget: Budget
    improvement: Improvement | None
    measured: float
    wrong_locks: int
    order_measured: float | None

    def to_json(self) -> dict[str, Any]:
        """Plain JSON."""
        budget, bottleneck = self.budget, self.budget.bottleneck
        return {
            "sources": [asdict(source) for source in budget.sources],
            "bottleneck": None if bottleneck is None else bottleneck.name,
            "improvement": None if self.improvement is None else self.improvement.to_json(),
            "cells": int(budget.where.sum()),
            "rms": {"predicted": budget.rms, "measured": self.measured},
            "wrong_locks": {"predicted": budget.wrong_locks, "measured": self.wrong_locks},
            "order_parameter_rms": {"predicted": budget.order_rms, "measured": self.order_measured},
        }


@dataclass(frozen=True)
class Unexplained:
    """A result whose error nothing explains, and why."""

    reason: str


Explained = Chain | BudgetCheck | Unexplained


def check_explained(executable: Executable) -> None:
    """Refuse before the run what cannot be explained after it.

    Raises
    ------
    ConfigError
        held sources that send spikes.
    """
    if isinstance(executable, LavaExecutable) and isinstance(executable.lowered, LoweredHeld):
        raise ConfigError(
            "--explain: given held_sources='synapses', expected 'folded'; errors of the others are not "
            "predicted. Set held_sources=folded, or leave --explain out"
        )


def explain(
    layer: PhaseLayerSpec, config: TargetConfig, executable: Executable, result: SyncResult
) -> Explained:
    """Explain the result of a run; a finished run is never lost to an explanation that fails."""
    try:
        if isinstance(config, CircuitDesign):
            return error_chain(layer, config, result)
        return _checked_budget(layer, config, executable, result)
    except OscsimError as error:
        return Unexplained(str(error))


def _checked_budget(
    layer: PhaseLayerSpec, config: TargetConfig, executable: Executable, result: SyncResult
) -> BudgetCheck:
    if not (isinstance(executable, LavaExecutable) and isinstance(config, LavaConfig)):
        raise ConfigError(f"--explain: given {type(executable).__name__}, expected a circuit or target lava")
    exact = solve(layer)
    if layer.dynamics == "network" and exact.phase is None:
        raise ConfigError(
            f"the network has no known resting state ({exact.status}); expected one that locks, since the "
            "budget of a network is that of its resting phases"
        )
    rest = exact.phase if layer.dynamics == "network" else None
    predicted = budget(executable.lowered, rest)
    error = result.sync - exact.sync
    pairs = np.broadcast_to(~np.eye(layer.n_oscillators, dtype=bool), error.shape)
    order = None
    if predicted.order_parameter is not None:
        order = root_mean_square(result.order_parameter - exact.order_parameter)
    wrong = int((result.locked != exact.locked)[pairs].sum())
    better = improvement(executable.lowered, config, predicted, rest)
    return BudgetCheck(predicted, better, root_mean_square(error[predicted.where]), wrong, order)


def explained_json(explained: Explained, config: TargetConfig) -> dict[str, Any]:
    """What --json says: the chain of a circuit or the budget of lava, or null and the reason."""
    name = "chain" if isinstance(config, CircuitDesign) else "budget"
    if isinstance(explained, Unexplained):
        return {name: None, f"{name}_reason": explained.reason}
    return {name: explained.to_json()}
