"""Constants with a source: value, range, unit, conditions, citation, and how each was obtained."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from oscsim.energy.units import Quantity, quantity
from oscsim.errors import OscsimError

How = Literal["exact", "read", "transcribed", "derived", "prior", "recalled", "absent", "chosen"]
RangeFrom = Literal["exact", "published", "spread", "assumed", "none"]


class ConstantError(OscsimError, ValueError):
    """A constant that does not exist, must not be used, or is used outside the range it holds for."""


@dataclass(frozen=True)
class Constant:
    """One published number.

    Parameters
    ----------
    value, low, high : best value and range, in ``unit``; None for a number that nobody published.
    node_nm, vdd_v : technology it belongs to, None where it has none.
    valid : ranges of use, as ``{"bits": (7, 9)}``; asking outside is refused.
    citation : key in docs/references.md.
    how : read (seen in the source itself), transcribed (from a copy of its table), derived (computed from
        published numbers), prior (a design range, not measured), recalled (from memory: refused unless asked
        for), exact (physics), absent (known not to exist in public), chosen (an option of the user).
    range_from : where low and high come from: published with the value, spread of several sources, assumed.
    """

    name: str
    value: float | None
    low: float | None
    high: float | None
    unit: str
    node_nm: float | None
    vdd_v: float | None
    conditions: str
    valid: tuple[tuple[str, float, float], ...]
    citation: str
    how: How
    range_from: RangeFrom
    note: str

    def quantity(self, end: Literal["value", "low", "high"] = "value") -> Quantity:
        """Its value, or an end of its range, with the unit."""
        number = getattr(self, end)
        if number is None:
            raise ConstantError(f"constant '{self.name}': no public number exists ({self.note})")
        return quantity(number, self.unit)

    def check(self, **conditions: float) -> None:
        """Raise ConstantError when it is used outside what it is valid for, as ``check(bits=12)``."""
        for key, low, high in self.valid:
            given = conditions.get(key)
            if given is None:
                raise ConstantError(
                    f"constant '{self.name}': holds for {key} {low:g} to {high:g}; say which it is"
                )
            if not low <= given <= high:
                raise ConstantError(
                    f"constant '{self.name}': given {key} = {given:g}, it holds for {low:g} to {high:g} only"
                )


class Book(Mapping[str, Constant]):
    """All constants by name; a recalled or absent one is refused, with the reason.

    Parameters
    ----------
    allow_recalled : whether numbers marked recalled may be used; results then say so.

    >>> from oscsim.energy import load_constants
    >>> book = load_constants()
    >>> book.usable("landauer_300K").how
    'exact'
    """

    def __init__(self, constants: Iterable[Constant], allow_recalled: bool = False) -> None:
        self._constants: dict[str, Constant] = {}
        for constant in constants:
            if constant.name in self._constants:
                raise ConstantError(f"constant '{constant.name}': given twice; keep one row")
            self._constants[constant.name] = constant
        self.allow_recalled = allow_recalled

    def __getitem__(self, name: str) -> Constant:
        if name not in self._constants:
            raise ConstantError(f"constant '{name}': not in the table (docs/energy_constants.md lists it)")
        return self._constants[name]

    def __contains__(self, name: object) -> bool:
        return name in self._constants

    def __iter__(self) -> Iterator[str]:
        return iter(self._constants)

    def __len__(self) -> int:
        return len(self._constants)

    def usable(self, name: str, **conditions: float) -> Constant:
        """A constant that may be used under these conditions.

        Raises
        ------
        ConstantError
            unknown, absent in public, recalled while that is not allowed, or outside its validity.
        """
        constant = self[name]
        if constant.how == "absent":
            raise ConstantError(f"constant '{name}': no public number exists ({constant.note})")
        if constant.how == "recalled" and not self.allow_recalled:
            raise ConstantError(
                f"constant '{name}' ({constant.citation}) is from memory and not verified; "
                f"allow it with --allow-recalled"
            )
        constant.check(**conditions)
        return constant

    def replaced(self, constants: Iterable[Constant]) -> "Book":
        """This book with some constants replaced or added, as from a user's own file."""
        merged = {**self._constants, **{constant.name: constant for constant in constants}}
        return Book(merged.values(), self.allow_recalled)

    def chosen(self, name: str, value: float, unit: str, option: str) -> "Book":
        """This book with one constant set by an option, without a range.

        >>> from oscsim.energy import load_constants
        >>> load_constants().chosen("supply", 1.1, "V", "--vdd").usable("supply").citation
        'option --vdd'
        """
        row = Constant(
            name, value, value, value, unit, None, None, "", (), f"option {option}", "chosen", "exact", ""
        )
        return self.replaced([row])
