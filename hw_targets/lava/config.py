"""How the lava target runs a layer: number format, own-clock step, limits."""

from typing import Literal

from pydantic import Field, field_validator, model_validator

from oscsim.target import TargetConfig

BIT_OPTIONS = ("phase_bits", "sine_bits", "payload_bits", "parameter_bits", "weight_bits")


class LavaConfig(TargetConfig):
    """Options of the lava target.

    Parameters
    ----------
    number_format : "fixed_point" (integers, the arithmetic of a neuromorphic core) or "floating_point"
        (float64, the same processes and the same steps).
    phase_bits : a full turn is 2^phase_bits; the phase accumulator wraps.
    sine_bits : entries of the sine table, 2^sine_bits per turn, linearly interpolated; below phase_bits.
    payload_bits : a sine value or graded spike is signed, this wide.
    parameter_bits : mantissa of a cell's own parameters (coupling, mismatch, gain).
    weight_bits : mantissa of the synapses between the oscillators of a network.
    steps_per_turn : own-clock steps per 2 pi, a power of two; a cell moves at most twice that per step.
    max_steps : most own-clock steps of one run; what they cannot settle widens the band.
    timeout_s : seconds of wall time after which a run is ended with an error.
    trajectory_samples : phases kept over time in a network's result; 0 keeps none.

    >>> LavaConfig().number_format, LavaConfig(phase_bits=20).phase_bits
    ('fixed_point', 20)
    """

    number_format: Literal["fixed_point", "floating_point"] = "fixed_point"
    phase_bits: int = Field(24, ge=12, le=31)
    sine_bits: int = Field(10, ge=3, le=16)
    payload_bits: int = Field(16, ge=4, le=24)
    parameter_bits: int = Field(16, ge=4, le=20)
    weight_bits: int = Field(8, ge=3, le=8)
    steps_per_turn: int = Field(64, ge=16, le=1024)
    max_steps: int = Field(16384, ge=16, le=2**20)
    timeout_s: float = Field(300.0, gt=0)
    trajectory_samples: int = Field(64, ge=0, le=4096)

    @field_validator("steps_per_turn")
    @classmethod
    def _power_of_two(cls, value: int) -> int:
        if value & (value - 1):
            lower = 1 << (value.bit_length() - 1)
            raise ValueError(f"expected a power of two, the nearest are {lower} and {2 * lower}")
        return value

    @model_validator(mode="after")
    def _check_bits(self) -> "LavaConfig":
        if self.sine_bits >= self.phase_bits:
            raise ValueError(f"sine_bits {self.sine_bits}: expected fewer than phase_bits {self.phase_bits}")
        if self.number_format == "floating_point":
            given = [name for name in BIT_OPTIONS if name in self.model_fields_set]
            if given:
                raise ValueError(f"{', '.join(given)}: bits belong to number_format='fixed_point'")
        return self
