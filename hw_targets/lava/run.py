"""Run a lowered layer on Lava and put its result together."""

import time
import warnings
from importlib import metadata

from hw_targets.lava.outcome import Outcome
from hw_targets.lava.plan import Lowered, LoweredCells, LoweredNetwork
from hw_targets.lava.run_cells import run_clamped, run_pair
from hw_targets.lava.run_network import run_network
from oscsim.readout import attend, row_weights
from oscsim.result import Provenance, SyncResult, SyncStatus
from oscsim.target import ConvergenceWarning
from oscsim.tolerance import with_average

BACKENDS = ("lava-nc", "numpy")


def run(lowered: Lowered) -> SyncResult:
    """Run on Lava's processes.

    Raises
    ------
    TargetRunError
        a process model raised (with its text), died, or ran longer than ``timeout_s``.
    """
    started = time.perf_counter()
    outcome = _outcome(lowered)
    provenance = Provenance(
        "lava",
        lowered.spec.digest,
        lowered.plan.digest,
        settings=lowered.config.model_dump(),
        versions={name: metadata.version(name) for name in BACKENDS},
        notes=outcome.notes,
        wall_s=time.perf_counter() - started,
    )
    if outcome.status is SyncStatus.NOT_CONVERGED:
        warnings.warn(f"lava: {'; '.join(outcome.notes)}", ConvergenceWarning, stacklevel=3)
    weights = row_weights(outcome.sync, outcome.locked, lowered.spec.dynamics)
    return SyncResult(
        sync=outcome.sync,
        locked=outcome.locked,
        weights=weights,
        order_parameter=outcome.order_parameter,
        output=attend(weights, lowered.spec.values),
        phase=outcome.phase,
        status=outcome.status,
        provenance=provenance,
        accuracy=with_average(lowered.accuracy, outcome.average_error),
        trajectory=outcome.trajectory,
        times=outcome.times,
    )


def _outcome(lowered: Lowered) -> Outcome:
    if isinstance(lowered, LoweredNetwork):
        return run_network(lowered)
    if isinstance(lowered, LoweredCells) and lowered.held is None:
        return run_pair(lowered)
    if isinstance(lowered, LoweredCells):
        return run_clamped(lowered)
    raise TypeError(f"given {type(lowered).__name__}, expected the result of lowering a layer")
