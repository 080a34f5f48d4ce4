"""Run a lowered layer on Brian2."""

import gc
import platform
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import metadata
from typing import Any

from brian2 import prefs

from hw_targets.brian2.clamped_circuit import run_clamped
from hw_targets.brian2.config import Brian2Config
from hw_targets.brian2.network_circuit import run_network
from hw_targets.brian2.outcome import Outcome
from hw_targets.brian2.pair_circuit import run_pair
from hw_targets.brian2.plan import Lowered
from oscsim.conclusion import concluded
from oscsim.errors import TargetRunError
from oscsim.result import Provenance, SyncResult
from oscsim.spec import PhaseLayerSpec
from oscsim.target import Plan

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
    provenance = _provenance(spec, config, plan, outcome, time.perf_counter() - begin)
    return concluded(spec, outcome, provenance, outcome.accuracy, outcome.trajectory, outcome.times)


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
