"""What a real chip does to a design: each imperfection a config value, with its own seed where random."""

from typing import Any, Literal, Self, TypeVar

import numpy as np
from pydantic import Field, ValidationError, model_validator

from oscsim.errors import ConfigError
from oscsim.target import TargetConfig, first_problem

Design = TypeVar("Design", bound="Imperfections")
_LARGEST_SEED = 2**32 - 1
Seed = Field(default=0, ge=0, le=_LARGEST_SEED)
# What is drawn with which seed; the position in the tuple is the number of its stream of random numbers.
SEEDED: dict[str, tuple[str, ...]] = {
    "mismatch_seed": ("frequency_mismatch", "coupling_mismatch", "device_mismatch"),
    "missing_seed": ("missing_couplers",),
    "noise_seed": ("noise_a_per_sqrt_hz",),
}
# Options that do nothing without another one.
_NEEDS = {"coupling_range": "coupling_bits", "crossbar_size": "coupling_bits"}


def checked(design: type[Design], options: dict[str, Any]) -> Design:
    """A design with these options.

    Raises
    ------
    ConfigError
        unknown option, impossible value, or one that would do nothing: what the design itself said.
    """
    try:
        return design(**options)
    except ValidationError as error:
        raise ConfigError(first_problem(design, error)) from None


class Imperfections(TargetConfig):
    """Deviations of a chip from its design; the defaults are a perfect chip (docs/imperfections.md).

    Every random imperfection draws from a stream of its own, so that turning one on changes no number of
    another; the same seeds are the same chip.

    Parameters
    ----------
    coupling_bits : bits b of a signed coupling code, ``-(2^(b-1) - 1) ... 2^(b-1) - 1``; None for continuous
        couplers.
    coupling_range : full scale of the code relative to the largest wanted coupling of the chip, or of the
        crossbar tile; below 1 the largest couplers saturate.
    frequency_bits : bits of a signed frequency code over +-tuning_range; None for continuous tuning.
    frequency_mismatch, coupling_mismatch, device_mismatch : standard deviations, relative, of the free
        frequency of each oscillator (what trimming leaves), of each coupler and of each active device; drawn
        with ``mismatch_seed``. A resistor is one coupler for both directions.
    noise_a_per_sqrt_hz : one-sided density of a white current into each coupling node; with ``noise_seed``.
    readout_bits : resolution of a phase read-out, levels per turn 2^bits; None for exact.
    coupling_delay_s : delay of every coupler.
    parasitic_ratio : capacitance that each connected coupler (its code not zero, not stuck) adds to the node
        it drives, relative to the nominal tuning capacitor; a resistor drives both ends.
    missing_couplers : probability of a coupler to be stuck off; drawn with ``missing_seed``.
    topology : "all" couplers exist, "kings_graph" (the eight neighbours on a near-square grid) or "degree"
        (only the ``degree`` strongest couplers of each oscillator). For a pair layer these are cells (i, j):
        where there is none, S_ij = 0 and nothing locks.
    crossbar_size : rows and columns of one crossbar tile, each with its own code range; None for one array.

    Raises
    ------
    ConfigError
        an option that would do nothing, because what it belongs to is off.
    """

    coupling_bits: int | None = Field(default=None, ge=2, le=16)
    coupling_range: float = Field(default=1.0, gt=0.0)
    frequency_bits: int | None = Field(default=None, ge=2, le=24)
    frequency_mismatch: float = Field(default=0.0, ge=0.0, le=0.1)
    coupling_mismatch: float = Field(default=0.0, ge=0.0, le=0.2)
    device_mismatch: float = Field(default=0.0, ge=0.0, le=0.2)
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

    @model_validator(mode="after")
    def _check_ignored(self) -> Self:
        for name, other in _NEEDS.items():
            if self._given(name) and not self._given(other):
                raise ConfigError(
                    f"option '{name}': given {getattr(self, name)!r} without {other}, so that it would do "
                    f"nothing; give {other} as well, or leave it out"
                )
        if (self.degree is not None) != (self.topology == "degree"):
            raise ConfigError(
                f"options 'degree' and 'topology': given degree={self.degree} with topology={self.topology}; "
                "expected topology=degree together with a degree, or neither"
            )
        for seed, names in SEEDED.items():
            if getattr(self, seed) and not any(map(self._given, names)):
                raise ConfigError(
                    f"option '{seed}': given {getattr(self, seed)}, but nothing is drawn with it; "
                    f"expected one of {', '.join(names)} as well, or no seed"
                )
        return self

    def _given(self, name: str) -> bool:
        return getattr(self, name) != Imperfections.model_fields[name].default

    @property
    def imperfect(self) -> tuple[str, ...]:
        """Names of the imperfections that are on, in the order of the options."""
        beside = {*SEEDED, *_NEEDS, "degree"}
        return tuple(name for name in Imperfections.model_fields if name not in beside and self._given(name))

    @property
    def seeds(self) -> dict[str, int]:
        """Seeds something is drawn with."""
        return {seed: getattr(self, seed) for seed, names in SEEDED.items() if any(map(self._given, names))}

    @property
    def random(self) -> bool:
        """Whether two chips of this design differ."""
        return bool(self.seeds)

    @property
    def distinct(self) -> bool:
        """Whether equal cells of a pair layer are different circuits (random, or in tiles of their own)."""
        return self.random or self.crossbar_size is not None

    def chip(self, number: int) -> Self:
        """The design of another chip of the same kind: every seed in use is raised by ``number``."""
        seeds = {name: (seed + number) % (_LARGEST_SEED + 1) for name, seed in self.seeds.items()}
        return self.model_copy(update=seeds)

    def only(self, names: tuple[str, ...]) -> Self:
        """The same design with only some of its imperfections, each with what belongs to it.

        >>> chip = Imperfections(coupling_bits=4, frequency_mismatch=0.01, mismatch_seed=3)
        >>> chip.only(("coupling_bits",)).seeds
        {}
        """
        kept = set(names)
        kept |= {name for name, other in _NEEDS.items() if other in kept}
        kept |= {seed for seed, drawn in SEEDED.items() if kept & set(drawn)}
        kept |= {"degree"} if "topology" in kept else set()
        perfect = {
            name: field.default for name, field in Imperfections.model_fields.items() if name not in kept
        }
        return self.changed(**perfect)

    def changed(self, **options: Any) -> Self:
        """The same design with some options changed, checked like a new one.

        Raises
        ------
        ConfigError
            unknown option, impossible value, or one that would do nothing.
        """
        return checked(type(self), {**self.model_dump(), **options})

    def drawn(self, name: str) -> np.random.Generator:
        """The stream of random numbers of one imperfection: always the same for one seed, no one else's."""
        seed = next(seed for seed, names in SEEDED.items() if name in names)
        return np.random.default_rng(
            [getattr(self, seed), list(SEEDED).index(seed), SEEDED[seed].index(name)]
        )
