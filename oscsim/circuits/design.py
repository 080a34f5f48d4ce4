"""How a layer becomes a circuit: family, its parameters, physical scale, trimming, wanted accuracy."""

import dataclasses
from typing import Any, Literal, Self

from pydantic import Field, model_validator

from oscsim.circuits.imperfections import Imperfections
from oscsim.errors import ConfigError
from oscsim.oscillators.lc import LC
from oscsim.oscillators.oscillator import Oscillator
from oscsim.oscillators.relaxation import Relaxation
from oscsim.oscillators.ring import Ring
from oscsim.oscillators.stuart_landau import StuartLandau

FAMILIES: dict[str, type[Any]] = {family.name: family for family in (LC, Ring, Relaxation, StuartLandau)}

# Relative distance from the carrier that tuning reaches at most, also in estimates of energy.
TUNING_RANGE = 0.2


class CircuitDesign(Imperfections):
    """Options every circuit simulator shares; one of a family is None where the family has its own default.

    Parameters
    ----------
    family : "lc", "ring", "relaxation" or "stuart_landau".
    coupler : "resistor", or the family's one-way element ("transconductance"; ring: "inverter"). Default:
        ring "inverter", otherwise "resistor"; "transconductance" where the layer's coupling is not reciprocal
        has to be asked for.
    mu : lc, stuart_landau. shear : stuart_landau. stages, stage_gain : ring. threshold, discharge,
        comparator_gain, comparator_time : relaxation. See :mod:`oscsim.oscillators`.
    impedance_ohm : sqrt(L/C) of an LC tank, or the resistor of an RC stage.
    voltage_v : unit of voltage: half the amplitude of an LC tank, the swing of a ring stage, the supply of a
        relaxation oscillator, the amplitude of a Stuart-Landau oscillator.
    trim : "none" (components by the textbook formula), "free" (every uncoupled oscillator has its wanted
        frequency) or "loaded" (the frequency shift by the couplers is removed as well: its average over all
        phases, in networks that of couplers at rest).
    cell_clock : "layer" (all cells of a pair layer in the layer's time unit) or "own" (every cell as fast as
        its strongest coupling allows: S depends on d/a alone, and weak cells settle as soon as strong ones).
    tuning_range : largest relative distance from the carrier that tuning reaches.
    phase_accuracy : rad, from which steps per cycle and duration are derived.
    max_cycles : carrier cycles after which a run that has not settled stops.
    """

    family: Literal["lc", "ring", "relaxation", "stuart_landau"] = "lc"
    coupler: Literal["resistor", "transconductance", "inverter"] | None = None
    mu: float | None = Field(default=None, gt=0.0, le=3.0)
    shear: float | None = None
    stages: int | None = None
    stage_gain: float | None = None
    threshold: float | None = None
    discharge: float | None = None
    comparator_gain: float | None = None
    comparator_time: float | None = None
    impedance_ohm: float = Field(default=100.0, gt=0.0)
    voltage_v: float = Field(default=0.5, gt=0.0)
    trim: Literal["none", "free", "loaded"] = "loaded"
    cell_clock: Literal["layer", "own"] = "layer"
    tuning_range: float = Field(default=TUNING_RANGE, gt=0.0, le=TUNING_RANGE)
    phase_accuracy: float = Field(default=1e-4, ge=1e-8, le=0.1)
    max_cycles: float = Field(default=4000.0, ge=10.0)

    @model_validator(mode="after")
    def _check_family(self) -> Self:
        self.oscillator()
        return self

    def oscillator(self) -> Oscillator:
        """The oscillator this design is made of.

        Raises
        ------
        ConfigError
            an option that belongs to another family (it would be ignored), or an impossible one.
        """
        family = FAMILIES[self.family]
        fields = [field.name for field in dataclasses.fields(family)]
        known = {"stage_gain" if name == "gain" else name: name for name in fields}
        given = {name: getattr(self, name) for name in _FAMILY_OPTIONS if getattr(self, name) is not None}
        for name, value in given.items():
            if name not in known:
                raise ConfigError(
                    f"option '{name}': given {value!r} for family {self.family}, which has none; "
                    f"its options: {', '.join(known)}; leave it out"
                )
        return family(**{known[name]: value for name, value in given.items()})


_FAMILY_OPTIONS = (
    "coupler", "mu", "shear", "stages", "stage_gain", "threshold", "discharge", "comparator_gain",
    "comparator_time",
)  # fmt: skip
