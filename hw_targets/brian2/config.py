"""How the brian2 target integrates a layer."""

from typing import Self

from pydantic import Field, model_validator

from hw_targets.brian2.timing import LARGEST_STEP, SHORTEST_RUN
from oscsim.target import TargetConfig
from oscsim.tolerance import AVERAGING_CAP, AVERAGING_RESIDUAL


class Brian2Config(TargetConfig):
    """Options of the brian2 target; all durations are in own-clock units (radians at full speed).

    Parameters
    ----------
    step : integration step, own clock; the fourth-order error follows it and so does the declared epsilon.
    max_duration : where a run that has not converged is stopped, own clock; the declared band follows it.
    drift_tolerance : agreement of two time averages that ends a drifting network before max_duration.
    trajectory_samples : largest number of stored phase snapshots (network, clamped); 0 stores none.

    >>> Brian2Config(step=0.25).step
    0.25
    """

    step: float = Field(default=0.1, gt=0.0, le=LARGEST_STEP)
    max_duration: float = Field(default=4000.0, ge=SHORTEST_RUN)
    drift_tolerance: float = Field(default=AVERAGING_RESIDUAL, gt=0.0, le=AVERAGING_CAP)
    trajectory_samples: int = Field(default=64, ge=0)

    @model_validator(mode="after")
    def _check_samples(self) -> Self:
        if self.trajectory_samples == 1:
            raise ValueError(
                "trajectory_samples: given 1, expected 0 (store nothing) or at least 2 (start and end)"
            )
        return self
