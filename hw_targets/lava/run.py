"""Run a lowered layer on Lava and put its result together."""

import time
from importlib import metadata
from typing import Any

from hw_targets.lava.outcome import Outcome
from hw_targets.lava.plan import Lowered, LoweredCells, LoweredHeld, LoweredNetwork
from hw_targets.lava.run_cells import run_clamped, run_pair
from hw_targets.lava.run_held import run_held
from hw_targets.lava.run_network import run_network
from oscsim.conclusion import concluded
from oscsim.result import Provenance, SyncResult
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
        settings=settings(lowered),
        versions={name: metadata.version(name) for name in BACKENDS},
        notes=outcome.notes,
        wall_s=time.perf_counter() - started,
        counters=outcome.counters,
    )
    accuracy = with_average(lowered.accuracy, outcome.average_error)
    return concluded(lowered.spec, outcome, provenance, accuracy, outcome.trajectory, outcome.times)


def settings(lowered: Lowered) -> dict[str, Any]:
    """The configuration with every pick filled in: ``target.config(**settings)`` makes the same run again."""
    gained = isinstance(lowered, LoweredNetwork | LoweredHeld)
    return lowered.config.settings(lowered.program.gain_shift if gained else None)


def _outcome(lowered: Lowered) -> Outcome:
    if isinstance(lowered, LoweredNetwork):
        return run_network(lowered)
    if isinstance(lowered, LoweredHeld):
        return run_held(lowered)
    if isinstance(lowered, LoweredCells) and lowered.held is None:
        return run_pair(lowered)
    if isinstance(lowered, LoweredCells):
        return run_clamped(lowered)
    raise TypeError(f"given {type(lowered).__name__}, expected the result of lowering a layer")
