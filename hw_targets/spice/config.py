"""How the spice target writes and runs a netlist."""

from typing import Literal, Self

from pydantic import Field, model_validator

from hw_targets.spice.mos import mos_oscillator
from oscsim.circuits import CircuitDesign
from oscsim.errors import ConfigError
from oscsim.oscillators.oscillator import Oscillator

# Measured on LC pairs with ngspice 39: at 1e-6 a phase difference is right to 1e-4 rad; at 1e-5 and above
# single runs are off by up to 7e-2 rad and nothing in their output says which.
LARGEST_RELTOL = 1e-5


class SpiceConfig(CircuitDesign):
    """Options of the spice target, beside those of the circuit itself.

    Parameters
    ----------
    model : "behavioural" (the family's equations as ideal elements) or "mos" (level-1 transistors; lc, ring).
    reltol : relative tolerance of ngspice. method : its integration method, trapezoidal or Gear's second.
    steps_per_cycle : at least this many steps per carrier cycle; None is 200, and 800 for relaxation
        oscillators: at 200 the steps of their comparator cost 2e-3 in cos psi, at 800 1e-4.
    timeout_s : seconds after which a netlist is stopped.
    largest : number of oscillators (all batches together) above which a layer is refused.

    >>> SpiceConfig(family="ring", stages=5).oscillator().dimension
    5
    """

    model: Literal["behavioural", "mos"] = "behavioural"
    reltol: float = Field(default=1e-6, gt=0.0)
    method: Literal["trap", "gear"] = "trap"
    steps_per_cycle: int | None = Field(default=None, ge=20, le=4000)
    timeout_s: float = Field(default=600.0, gt=0.0)
    largest: int = Field(default=512, ge=2)

    @property
    def steps(self) -> int:
        """Steps per carrier cycle."""
        return self.steps_per_cycle or (800 if self.family == "relaxation" else 200)

    @model_validator(mode="after")
    def _check_reltol(self) -> Self:
        if not 1e-10 <= self.reltol <= LARGEST_RELTOL:
            raise ConfigError(
                f"reltol: given {self.reltol:g}, expected 1e-10 to {LARGEST_RELTOL:g}: above, single runs "
                "are off by up to 7e-2 rad and nothing says which; leave it at 1e-6"
            )
        return self

    def oscillator(self) -> Oscillator:
        """The oscillator this design is made of: the family's own, or one of transistors.

        Raises
        ------
        ConfigError
            an option that belongs to another family or model, or an impossible one.
        """
        behavioural = super().oscillator()
        if self.model == "behavioural":
            return behavioural
        if self.family not in ("lc", "ring"):
            raise ConfigError(
                f"model: given 'mos' for family {self.family}, which has no transistor circuit here; "
                "choose family=lc or family=ring, or model=behavioural"
            )
        if self.stage_gain is not None:
            raise ConfigError(
                f"stage_gain: given {self.stage_gain:g} with model=mos, where transistors decide it; "
                "leave it out"
            )
        if self.coupler not in (None, "resistor"):
            raise ConfigError(
                f"coupler: given {self.coupler!r} with model=mos, expected resistor: the current of a "
                "transistor depends on the voltage it drives, which no coupling of a layer does; "
                "or choose model=behavioural"
            )
        return mos_oscillator(behavioural)
