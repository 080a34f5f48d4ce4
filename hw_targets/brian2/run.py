"""Run a lowered layer on Brian2."""

import gc
import platform
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import metadata
from typing import Any

import numpy as np
from brian2 import prefs

from hw_targets.brian2.clamped_circuit import run_clamped
from hw_targets.brian2.config import Brian2Config
from hw_targets.brian2.network_circuit import run_network
from hw_targets.brian2.outcome import Outcome
from hw_targets.brian2.pair_circuit import run_pair
from hw_targets.brian2.plan import Lowered
from oscsim.errors import TargetRunError
from oscsim.readout import attend, row_weights
from oscsim.result import Provenance, SyncResult, SyncStatus
from oscsim.spec import PhaseLayerSpec
from oscsim.target import ConvergenceWarning, Plan

_RUN: dict[str, Callable[[PhaseLayerSpec, Any], Outcome]] = {
    "pair": run_pair,
    "clamped": run_clamped,
    "network": run_network,
}


def run_layer(spec: PhaseLayerSpec, config: Brian2Config, plan: Plan, lowered: Lowered) -> SyncResult:
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
            raise TargetRunError(f"target 'brian2': {type(error).__name__}: {error}") from error
    finite = np.isfinite(outcome.sync).all() and (outcome.phase is None or np.isfinite(outcome.phase).all())
    status = outcome.status if finite else SyncStatus.FAILED
    if status in (SyncStatus.NOT_CONVERGED, SyncStatus.FAILED):
        warnings.warn(
            f"target 'brian2': {status} ({'; '.join(outcome.notes)})", ConvergenceWarning, stacklevel=3
        )
    weights = row_weights(outcome.sync, outcome.locked, spec.dynamics)
    return SyncResult(
        sync=outcome.sync,
        locked=outcome.locked,
        weights=weights,
        order_parameter=outcome.order_parameter,
        output=attend(weights, spec.values),
        phase=outcome.phase,
        status=status,
        provenance=_provenance(spec, config, plan, outcome, time.perf_counter() - begin),
        accuracy=outcome.accuracy,
        trajectory=outcome.trajectory,
        times=outcome.times,
    )


def _provenance(
    spec: PhaseLayerSpec, config: Brian2Config, plan: Plan, outcome: Outcome, wall_s: float
) -> Provenance:
    versions = {name: metadata.version(name) for name in ("brian2", "numpy")}
    return Provenance(
        source="brian2",
        spec_digest=spec.digest,
        plan_digest=plan.digest,
        settings=config.model_dump(),
        versions=versions | {"python": platform.python_version()},
        notes=outcome.notes,
        wall_s=wall_s,
    )


@contextmanager
def numpy_codegen() -> Iterator[None]:
    """Brian2's numpy code generation for the time of a run; every global it touches is put back.

    Brian2 collects garbage at each start of a network. Freezing what exists already spares about 0.1 s
    per start; nothing is frozen if the program did so itself.
    """
    target, freeze = prefs.codegen.target, gc.get_freeze_count() == 0
    prefs.codegen.target = "numpy"
    if freeze:
        gc.freeze()
    try:
        yield
    finally:
        prefs.codegen.target = target
        if freeze:
            gc.unfreeze()
