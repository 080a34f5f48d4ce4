"""Run a lowered circuit layer on Brian2."""

import platform
import time
from importlib import metadata

from hw_targets.brian2.circuits.clamped import run_clamped
from hw_targets.brian2.circuits.config import CircuitConfig
from hw_targets.brian2.circuits.lowering import CircuitLowering
from hw_targets.brian2.circuits.network import run_network
from hw_targets.brian2.circuits.outcome import Outcome
from hw_targets.brian2.circuits.pairs import run_pairs
from hw_targets.brian2.run import numpy_codegen
from oscsim.conclusion import concluded
from oscsim.errors import TargetRunError
from oscsim.result import Provenance, SyncResult
from oscsim.spec import PhaseLayerSpec
from oscsim.target import Plan

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
    provenance = _provenance(spec, config, plan, outcome, time.perf_counter() - begin)
    return concluded(spec, outcome.reading, provenance, outcome.accuracy, outcome.trajectory, outcome.times)


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
