"""How the lava target runs a layer: number formats, integration, synapses, chip limits, patience."""

from typing import Literal

from pydantic import Field, field_validator, model_validator

from oscsim.target import TargetConfig

FIXED_POINT_OPTIONS = (
    "phase_bits",
    "sine_bits",
    "interpolation",
    "rounding",
    "payload_bits",
    "parameter_bits",
    "weight_bits",
    "gain_shift",
    "chip",
)


class LavaConfig(TargetConfig):
    """Options of the lava target; ``None`` means that lowering picks a value, which the plan shows.

    Parameters
    ----------
    number_format : "fixed_point" (integers, the arithmetic of a neuromorphic core) or "floating_point"
        (float64, the same processes and the same steps).
    integrator : "runge_kutta" (four sines per step) or "euler" (one; the unlocked mean is biased).
    delay_steps : integration steps by which a spike between oscillators arrives late, 0 or 1 (euler only).
    steps_per_turn : own-clock steps per 2 pi, a power of two; a cell moves at most twice that per step.
    phase_bits : a full turn is 2^phase_bits; the phase accumulator wraps.
    sine_bits : entries of the sine table, 2^sine_bits per turn; below phase_bits.
    interpolation : "linear" between two entries, or the "nearest" entry.
    rounding : of every shifted product: "nearest" (halves up), "floor" or "toward_zero".
    payload_bits : a sine value or graded spike is signed, this wide.
    parameter_bits : mantissa of a cell's own parameters (coupling, mismatch) and of an oscillator's gain.
    weight_bits : mantissa of the synapses.
    gain_shift : exponent of the gains: right shift after mantissa times synaptic sum
        (negative: left).
    synapses : "dense" or "sparse", the Lava process that holds the weights.
    held_sources : clamped only: "folded" (their sum is one parameter per free oscillator, computed at
        lowering) or "synapses" (they send spikes through weights).
    chip : "loihi2" refuses what exceeds its published limits, "none" refuses only what Lava cannot hold.
    max_steps : most own-clock steps of one run; what they cannot settle widens the band.
    timeout_s : seconds of wall time after which a run is ended with an error.
    stall_s : seconds without a finished time step after which a run is ended with an error.
    trajectory_samples : phases kept over time in a network's result; 0 keeps none.

    >>> LavaConfig().number_format, LavaConfig(phase_bits=20).phase_bits
    ('fixed_point', 20)
    """

    number_format: Literal["fixed_point", "floating_point"] = "fixed_point"
    integrator: Literal["runge_kutta", "euler"] = "runge_kutta"
    delay_steps: int = Field(0, ge=0, le=1)
    steps_per_turn: int | None = Field(None, ge=16, le=1024)
    phase_bits: int = Field(24, ge=12, le=31)
    sine_bits: int = Field(10, ge=3, le=16)
    interpolation: Literal["linear", "nearest"] = "linear"
    rounding: Literal["nearest", "floor", "toward_zero"] = "nearest"
    payload_bits: int | None = Field(None, ge=4, le=24)
    parameter_bits: int = Field(16, ge=4, le=20)
    weight_bits: int = Field(8, ge=3, le=8)
    gain_shift: int | None = Field(None, ge=-31, le=48)
    synapses: Literal["dense", "sparse"] = "dense"
    held_sources: Literal["folded", "synapses"] = "folded"
    chip: Literal["loihi2", "none"] = "loihi2"
    max_steps: int = Field(16384, ge=16, le=2**20)
    timeout_s: float = Field(300.0, gt=0)
    stall_s: float = Field(8.0, gt=0)
    trajectory_samples: int = Field(64, ge=0, le=4096)

    @field_validator("steps_per_turn")
    @classmethod
    def _power_of_two(cls, value: int | None) -> int | None:
        if value is not None and value & (value - 1):
            lower = 1 << (value.bit_length() - 1)
            raise ValueError(f"expected a power of two, the nearest are {lower} and {2 * lower}")
        return value

    @model_validator(mode="after")
    def _check(self) -> "LavaConfig":
        if self.sine_bits >= self.phase_bits:
            raise ValueError(
                f"sine_bits: given {self.sine_bits} with phase_bits={self.phase_bits}; expected fewer than "
                "phase_bits"
            )
        if self.number_format == "floating_point":
            given = [name for name in FIXED_POINT_OPTIONS if name in self.model_fields_set]
            if given:
                raise ValueError(
                    f"{', '.join(given)}: given with number_format='floating_point', which has no use for "
                    "it; expected number_format='fixed_point', or leave it out"
                )
        if self.delay_steps and self.integrator != "euler":
            raise ValueError(
                f"delay_steps: given {self.delay_steps} with integrator='{self.integrator}', whose stages "
                "exchange spikes within one step; set integrator='euler'"
            )
        return self
