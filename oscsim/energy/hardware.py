"""Which oscillator hardware is estimated, how it is clocked, and how accurate it has to be."""

from typing import Any, Literal, Self

from pydantic import Field, ValidationError, model_validator

from oscsim.errors import ConfigError
from oscsim.target import TargetConfig, first_problem

# Options that only one family has; given for another one they would be ignored, so they are refused.
_OF_FAMILY = {"stages": "ring", "width_um": "ring", "quality_factor": "lc", "impedance_ohm": "lc"}


class OscillatorHardware(TargetConfig):
    """Options of an oscillator array; one that is None has a default with a range in the table of constants.

    Parameters
    ----------
    family : "ring", "lc" or "relaxation".
    node_nm : CMOS technology. vdd_v : supply, V; None: that of the node.
    stages, width_um : ring: number of stages; transistor width of one stage (both devices), um.
    quality_factor, impedance_ohm : lc: Q of the tank, sqrt(L/C).
    cell : "injection" (a pair is one oscillator locked to a clean reference) or "mutual" (two oscillators).
    coupling_bits, readout_bits : resolution of couplers and of the phase read-out; None: from ``accuracy``.
    activity : share of its period during which a coupler switches.
    accuracy : wanted error of S, which sets how long everything settles, and bits that are not given.
    edge_band : cells with ``|d/|a| - 1|`` up to this have no time limit and are left out, and counted.
    carrier_hz, time_unit_s : clock, instead of that of the layer; epsilon : time unit chosen such that the
        strongest coupling has this ``a/(2 pi carrier_hz time_unit_s)``.
    cell_clock : "layer" (one time unit), or "own" (every pair cell as fast as the strongest: S depends on d/a
        alone).
    read_out : of a turning cell, "window" (average over as long as needed) or "beats" (over whole beats).
    stop : "together" (all oscillators run until the slowest is done) or "each" (gated one by one).
    temperature_k : of the noise floor.

    Ranges are wider than anything built: what lies outside is a slip or of another unit. A supply of 0.1 V
    (a transistor has no gain far below) to 10 V; 3 stages (fewer do not oscillate) to 51; widths of 10 nm to
    1 cm; Q from 1 (below, nothing rings) to 1e6 (quartz); impedances of 10 mohm to 10 Mohm; carriers of 1 Hz
    to 1 THz (no transistor is faster); 1 K to 1000 K; accuracies down to 1e-12 (double precision).

    >>> OscillatorHardware(family="ring", node_nm=65).family
    'ring'
    """

    family: Literal["ring", "lc", "relaxation"] = "ring"
    node_nm: float = Field(default=65.0, ge=1.0, le=1e5)
    vdd_v: float | None = Field(default=None, ge=0.1, le=10.0)
    stages: int | None = Field(default=None, ge=3, le=51)
    width_um: float | None = Field(default=None, ge=0.01, le=1e4)
    quality_factor: float | None = Field(default=None, ge=1.0, le=1e6)
    impedance_ohm: float | None = Field(default=None, ge=1e-2, le=1e7)
    cell: Literal["injection", "mutual"] = "injection"
    coupling_bits: int | None = Field(default=None, ge=1, le=16)
    readout_bits: int | None = Field(default=None, ge=1, le=16)
    activity: float = Field(default=1.0, ge=1e-6, le=1.0)
    accuracy: float = Field(default=0.01, ge=1e-12, lt=1.0)
    edge_band: float = Field(default=0.01, ge=1e-12, lt=0.5)
    carrier_hz: float | None = Field(default=None, ge=1.0, le=1e12)
    time_unit_s: float | None = Field(default=None, ge=1e-15, le=1e6)
    epsilon: float | None = Field(default=None, ge=1e-12, le=0.35)
    cell_clock: Literal["layer", "own"] = "layer"
    read_out: Literal["window", "beats"] = "window"
    stop: Literal["together", "each"] = "together"
    temperature_k: float = Field(default=300.0, ge=1.0, le=1000.0)

    @model_validator(mode="after")
    def _check(self) -> Self:
        for option, family in _OF_FAMILY.items():
            if getattr(self, option) is not None and self.family != family:
                raise ConfigError(
                    f"option '{option}': given for family {self.family}, only {family} has it; leave it out"
                )
        if self.stages is not None and self.stages % 2 == 0:
            raise ConfigError(f"option 'stages': given {self.stages}, expected an odd number")
        if self.epsilon is not None and self.time_unit_s is not None:
            raise ConfigError("options 'epsilon' and 'time_unit_s' both fix the time unit; give one")
        return self

    @classmethod
    def of(cls, **options: Any) -> "OscillatorHardware":
        """Hardware from options; ConfigError in words of the options where one is unknown or impossible.

        >>> OscillatorHardware.of(family="lc", stages=5)
        Traceback (most recent call last):
            ...
        oscsim.errors.ConfigError: hardware: option 'stages': given for family lc, only ring has it; \
leave it out
        """
        try:
            return cls(**options)
        except ValidationError as error:
            raise ConfigError(f"hardware: {first_problem(cls, error)}") from None
