"""How the circuit target builds and simulates a layer."""

from typing import Self

from pydantic import Field, model_validator

from oscsim.circuits.design import CircuitDesign
from oscsim.circuits.timing import SAMPLES_PER_CYCLE
from oscsim.errors import ConfigError


class CircuitConfig(CircuitDesign):
    """A circuit design and what its simulation adds.

    Parameters
    ----------
    steps_per_cycle : integration steps per carrier cycle, a multiple of 8 (stuart_landau, which turns with
        the carrier: any number); None derives them from ``phase_accuracy``.
    trajectory_samples : largest number of stored phase snapshots (network, clamped); 0 stores none.

    >>> CircuitConfig(family="ring", stages=5).steps_per_cycle is None
    True
    """

    steps_per_cycle: float | None = Field(default=None, gt=0.0, le=65536.0)
    trajectory_samples: int = Field(default=64, ge=0)

    @model_validator(mode="after")
    def _check_simulation(self) -> Self:
        if self.trajectory_samples == 1:
            raise ConfigError(
                "trajectory_samples: given 1, expected 0 (store nothing) or at least 2 (start and end)"
            )
        steps = self.steps_per_cycle
        if steps is not None and self.family != "stuart_landau" and steps % SAMPLES_PER_CYCLE:
            raise ConfigError(
                f"steps_per_cycle: given {steps:g}, expected a multiple of {SAMPLES_PER_CYCLE}: that many "
                "phases are read per cycle; round it up"
            )
        return self
