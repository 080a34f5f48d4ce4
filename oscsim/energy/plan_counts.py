"""What the plans of targets count for a layer: pure lowering, no backend."""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from oscsim.counts import Counts
from oscsim.energy.estimate import Refusal
from oscsim.energy.hardware import OscillatorHardware
from oscsim.energy.resolution import built_couplings
from oscsim.errors import ConfigError, LoweringError
from oscsim.spec import PhaseLayerSpec
from oscsim.target import AbstractTarget
from oscsim.tolerance import LARGEST_EPSILON


@dataclass(frozen=True)
class PlanCounts:
    """What one plan counts.

    Parameters
    ----------
    accuracy : error of S that it stands for: what the plan promises, or what its read-outs and couplers
        resolve where that is coarser; None where it promises nothing.
    upper_bound : whether a run may stop earlier than the plan counts.
    """

    counts: Counts
    accuracy: float | None
    upper_bound: bool = False


def counts_by_target(
    targets: Iterable[AbstractTarget[Any]], layer: PhaseLayerSpec, hardware: OscillatorHardware
) -> dict[str, PlanCounts | Refusal]:
    """Counts of every target's plan, or why it has none.

    Parameters
    ----------
    layer : on the clock it is estimated with (:func:`oscsim.energy.report.clocked_layer`).
    hardware : targets that simulate circuits are lowered with its family and stages.
    """
    return {target.name: _counts(target, layer, hardware) for target in targets}


def _counts(
    target: AbstractTarget[Any], layer: PhaseLayerSpec, hardware: OscillatorHardware
) -> PlanCounts | Refusal:
    wanted = {"family": hardware.family, "stages": hardware.stages}
    options = {
        name: value
        for name, value in wanted.items()
        if name in target.config_class.model_fields and value is not None
    }
    try:
        plan = target.lower(layer, target.config(**options)).plan
    except (LoweringError, ConfigError) as error:
        return Refusal(target.name, str(error))
    epsilon, counts = float(plan["accuracy"]["epsilon"]), plan.counts()
    resolved = float(np.abs(built_couplings(layer)).max()) * code_step(counts)
    accuracy = max(epsilon, resolved) if epsilon <= LARGEST_EPSILON else None
    return PlanCounts(counts, accuracy, layer.dynamics == "network" and counts.total("time_steps") > 0.0)


def code_step(counts: Counts) -> float:
    """Error of S over max |J| by the coarsest phase read-out and coupler: ``max(pi/2^b, 1/2^b)``; 0 without.

    >>> code_step(Counts({"phase_conversions.9": 4, "coupling_cycles.7": 4})) == 2**-7
    True
    """
    phases = [math.pi / 2.0 ** int(bits) for bits in counts.details("phase_conversions")]
    couplers = [2.0 ** -int(bits) for bits in counts.details("coupling_cycles")]
    return max((*phases, *couplers), default=0.0)
