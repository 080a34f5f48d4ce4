"""What is compared: designs that differ in one imperfection, or in its value."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from oscsim.circuits.design import CircuitDesign
from oscsim.circuits.imperfections import SEEDED, Imperfections
from oscsim.errors import ConfigError
from oscsim.monte_carlo.levels import check_level
from oscsim.spec import PhaseLayerSpec

LARGEST_CHIPS = 100_000
PERFECT, ALL = "none", "all"


@dataclass(frozen=True)
class Point:
    """One design: ``label`` says what is imperfect, ``option`` and ``value`` what is swept (or None)."""

    label: str
    design: CircuitDesign
    option: str | None = None
    value: Any = None


@dataclass(frozen=True)
class Study:
    """Some designs of one layer, each built as several chips.

    Parameters
    ----------
    spec : the layer. level : see :data:`oscsim.monte_carlo.LEVELS`.
    points : designs. chips : instances of each, with seeds raised by 0, 1, ...; where nothing is random one
        is enough, and one is run.

    Raises
    ------
    ConfigError
        impossible number of chips, or a level that cannot tell anything about layer or design.
    """

    spec: PhaseLayerSpec
    level: str
    points: Sequence[Point]
    chips: int = 32

    def __post_init__(self) -> None:
        if not 1 <= self.chips <= LARGEST_CHIPS:
            raise ConfigError(f"chips: given {self.chips}, expected 1 to {LARGEST_CHIPS}")
        if not self.points:
            raise ConfigError("points: given none, expected at least one design")
        for point in self.points:
            check_level(self.level, self.spec, point.design)

    def designs(self, point: Point) -> list[CircuitDesign]:
        """The chips of one point."""
        return [point.design.chip(number) for number in range(self.chips if point.design.random else 1)]


def contributions(design: CircuitDesign) -> list[Point]:
    """A perfect chip (what the level itself costs), each imperfection alone, and all of them.

    >>> design = CircuitDesign(coupling_bits=4, frequency_mismatch=1e-3)
    >>> ", ".join(point.label for point in contributions(design))
    'none, coupling_bits, frequency_mismatch, all'
    """
    names = design.imperfect
    points = [Point(PERFECT, design.only(()))]
    points += [Point(name, design.only((name,))) for name in names]
    return [*points, Point(ALL, design)] if len(names) > 1 else points


def swept(design: CircuitDesign, option: str, values: Sequence[Any]) -> list[Point]:
    """One imperfection at several values, everything else as in the design.

    Raises
    ------
    ConfigError
        an option that is no imperfection (or a seed), no values or one twice, or an impossible value.

    >>> [point.value for point in swept(CircuitDesign(), "coupling_bits", [3, 4])]
    [3, 4]
    """
    known = [name for name in Imperfections.model_fields if name not in SEEDED]
    if option not in known:
        raise ConfigError(f"sweep: given option '{option}', expected one of {', '.join(known)}")
    if not values or len({repr(value) for value in values}) < len(values):
        raise ConfigError(
            f"sweep: given values {list(values)} of {option}, expected some, none of them twice"
        )
    return [Point(f"{option}={value}", design.changed(**{option: value}), option, value) for value in values]
