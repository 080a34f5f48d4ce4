"""What the plans of targets count for a layer: pure lowering, no backend."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from oscsim.counts import Counts
from oscsim.energy.estimate import Refusal
from oscsim.energy.hardware import OscillatorHardware
from oscsim.errors import ConfigError, LoweringError
from oscsim.spec import PhaseLayerSpec
from oscsim.target import AbstractTarget
from oscsim.tolerance import LARGEST_EPSILON


@dataclass(frozen=True)
class PlanCounts:
    """What one plan counts.

    Parameters
    ----------
    accuracy : error of S that the plan promises; None where it promises nothing.
    """

    counts: Counts
    accuracy: float | None


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
    epsilon = float(plan["accuracy"]["epsilon"])
    return PlanCounts(plan.counts(), epsilon if epsilon <= LARGEST_EPSILON else None)
