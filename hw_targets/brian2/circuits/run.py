"""Run a lowered circuit layer on Brian2."""

import platform
import time
import warnings
from importlib import metadata

import numpy as np

from hw_targets.brian2.circuits.clamped import run_clamped
from hw_targets.brian2.circuits.config import CircuitConfig
from hw_targets.brian2.circuits.lowering import CircuitLowering
from hw_targets.brian2.circuits.network import run_network
from hw_targets.brian2.circuits.outcome import Outcome
from hw_targets.brian2.circuits.pairs import run_pairs
from hw_targets.brian2.run import numpy_codegen
from oscsim.errors import TargetRunError
from oscsim.readout import attend, row_weights
from oscsim.result import Provenance, SyncResult, SyncStatus
from oscsim.spec import PhaseLayerSpec
from oscsim.target import ConvergenceWarning, Plan

_RUN = {"pair": run_pairs, "clamped": run_clamped, "network": run_network}


def run_layer(
    spec: PhaseLayerSpec, config: CircuitConfig, plan: Plan, lowered: CircuitLowering
) -> SyncResult:
    """Simulate, read out, and say how it ended.

    Raises
    ------
    TargetRunError
        Brian2 failed; the message holds the original exception text.
    """
    begin = time.perf_counter()
    with numpy_codegen():
        try:
            outcome = _RUN[spec.dynamics](spec, lowered)
        except Exception as error:  # whatever Brian2 raises
            raise TargetRunError(f"target 'circuit': {type(error).__name__}: {error}") from error
    reading = outcome.reading
    finite = np.isfinite(reading.sync).all() and (reading.phase is None or np.isfinite(reading.phase).all())
    status = reading.status if finite else SyncStatus.FAILED
    if status in (SyncStatus.NOT_CONVERGED, SyncStatus.FAILED):
        text = f"target 'circuit': {status} ({'; '.join(outcome.notes)})"
        warnings.warn(text, ConvergenceWarning, stacklevel=3)
    weights = row_weights(reading.sync, reading.locked, spec.dynamics)
    return SyncResult(
        sync=reading.sync,
        locked=reading.locked,
        weights=weights,
        order_parameter=reading.order_parameter,
        output=attend(weights, spec.values),
        phase=reading.phase,
        status=status,
        provenance=_provenance(spec, config, plan, outcome, time.perf_counter() - begin),
        accuracy=outcome.accuracy,
        trajectory=outcome.trajectory,
        times=outcome.times,
    )


def _provenance(
    spec: PhaseLayerSpec, config: CircuitConfig, plan: Plan, outcome: Outcome, wall_s: float
) -> Provenance:
    versions = {name: metadata.version(name) for name in ("brian2", "numpy")}
    return Provenance(
        source="circuit",
        spec_digest=spec.digest,
        plan_digest=plan.digest,
        settings=config.model_dump(),
        versions=versions | {"python": platform.python_version()},
        seeds=config.seeds,
        notes=outcome.notes,
        wall_s=wall_s,
    )
