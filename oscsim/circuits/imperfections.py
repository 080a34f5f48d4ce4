"""What a real chip does to a design: each imperfection a config value, with its own seed where it is random."""

from typing import Literal

from pydantic import Field

from oscsim.target import TargetConfig

Seed = Field(default=0, ge=0, le=2**32 - 1)


class Imperfections(TargetConfig):
    """Deviations of a chip from its design; the defaults are a perfect chip.

    Parameters
    ----------
    coupling_bits : bits of a signed coupling code (full scale = the largest coupling of the chip, or of a
        crossbar tile); None for continuous couplers.
    coupling_range : full scale of the codes relative to the largest wanted coupling.
    frequency_bits : bits of the frequency code over +-tuning_range; None for continuous tuning.
    frequency_mismatch, coupling_mismatch, device_mismatch : standard deviations, relative, of free frequency,
        of each coupler and of each active device; with ``mismatch_seed``.
    noise_a_per_sqrt_hz : one-sided density of a white current into each coupling node; with ``noise_seed``.
    readout_bits : resolution of a phase read-out, levels per turn 2^bits; None for exact.
    coupling_delay_s : delay of every coupler.
    parasitic_ratio : capacitance each connected coupler adds to its node, relative to the tuning capacitor.
    missing_couplers : share of couplers stuck off; with ``missing_seed``.
    topology : "all" couplers exist, "kings_graph" (the eight neighbours on a grid) or "degree" (only the
        ``degree`` strongest of each oscillator).
    crossbar_size : rows of one crossbar tile; every tile has its own code range. None for one array.
    """

    coupling_bits: int | None = Field(default=None, ge=2, le=16)
    coupling_range: float = Field(default=1.0, gt=0.0)
    frequency_bits: int | None = Field(default=None, ge=2, le=24)
    frequency_mismatch: float = Field(default=0.0, ge=0.0, le=0.2)
    coupling_mismatch: float = Field(default=0.0, ge=0.0, le=0.5)
    device_mismatch: float = Field(default=0.0, ge=0.0, le=0.5)
    mismatch_seed: int = Seed
    noise_a_per_sqrt_hz: float = Field(default=0.0, ge=0.0)
    noise_seed: int = Seed
    readout_bits: int | None = Field(default=None, ge=1, le=24)
    coupling_delay_s: float = Field(default=0.0, ge=0.0)
    parasitic_ratio: float = Field(default=0.0, ge=0.0, le=0.1)
    missing_couplers: float = Field(default=0.0, ge=0.0, le=1.0)
    missing_seed: int = Seed
    topology: Literal["all", "kings_graph", "degree"] = "all"
    degree: int | None = Field(default=None, ge=1)
    crossbar_size: int | None = Field(default=None, ge=2)
