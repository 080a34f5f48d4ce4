"""An energy as an interval: best value, median and 95 % of the draws."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from oscsim.energy.units import Quantity, magnitude
from oscsim.errors import OscsimError

# An interval this wide says less than an order of magnitude and a half: it is labelled, not hidden.
UNINFORMATIVE = 30.0
_TAIL = 2.5  # per cent left out at each end


class EnergyError(OscsimError, ValueError):
    """An estimate that cannot be made: an event without a price, an impossible option, a missing constant."""


@dataclass(frozen=True)
class Interval:
    """What is known of an energy.

    Parameters
    ----------
    value_j : from the best value of every constant; median_j, low_j, high_j : of the draws, J; low and high
        leave 2.5 % out at either end, but never the best value, which may be the end of a range.
    """

    value_j: float
    median_j: float
    low_j: float
    high_j: float

    @classmethod
    def of(cls, nominal: Quantity, drawn: Quantity) -> "Interval":
        """The interval of some draws.

        Raises
        ------
        UnitError
            not an energy: a term was forgotten or is of another kind.
        EnergyError
            not a finite number: an option or a constant is too large or too small to calculate with.

        >>> from oscsim.energy.units import quantity
        >>> print(Interval.of(quantity(2.0, "pJ"), quantity([1.0, 2.0, 4.0], "pJ")))
        2 pJ (1.05 to 3.9 pJ)
        """
        numbers = np.atleast_1d(magnitude(drawn, "J"))
        value = float(magnitude(nominal, "J"))
        if not (math.isfinite(value) and np.all(np.isfinite(numbers))):
            raise EnergyError(
                f"energy: given {value:g} J, {np.isfinite(numbers).mean():.0%} of the draws finite, expected "
                "finite numbers; an option, a constant or a count is too large or too small"
            )
        low, middle, high = (float(n) for n in np.percentile(numbers, (_TAIL, 50.0, 100.0 - _TAIL)))
        return cls(value, middle, min(low, value), max(high, value))

    @property
    def width(self) -> float:
        """High over low; 1 for a number without a range (also for 0 J)."""
        return self.high_j / self.low_j if self.low_j > 0.0 else 1.0 if self.high_j == 0.0 else float("inf")

    @property
    def uninformative(self) -> bool:
        """Whether the interval spans more than a factor of 30."""
        return self.width > UNINFORMATIVE

    def scaled(self, factor: float) -> "Interval":
        """The energy of a share, as of one token.

        >>> print(Interval(4.0, 5.0, 2.0, 8.0).scaled(0.5))
        2 J (1 to 4 J)
        """
        return Interval(*(factor * end for end in (self.value_j, self.median_j, self.low_j, self.high_j)))

    def raised(self, part: "Interval", least: "Interval") -> "Interval":
        """This total with one part of it raised to at least another energy, end by end.

        The other parts keep what they have at that end of the total: no draws are left to combine.

        >>> total, part, least = Interval(4, 4, 2, 8), Interval(1, 1, 0.5, 2), Interval(3, 3, 2, 9)
        >>> print(total.raised(part, least))
        6 J (3.5 to 15 J)
        """
        names = ("value_j", "median_j", "low_j", "high_j")
        ends = [(getattr(self, name), getattr(part, name), getattr(least, name)) for name in names]
        return Interval(*(total - old + max(old, new) for total, old, new in ends))

    def covers(self, energy_j: float) -> bool:
        """Whether an energy lies inside, ends included (rounding of the last digit apart)."""
        return self.low_j * (1.0 - 1e-12) <= energy_j <= self.high_j * (1.0 + 1e-12)

    def to_json(self) -> dict[str, Any]:
        """Plain numbers in joules, and whether they say anything."""
        return {
            "value_j": self.value_j, "median_j": self.median_j, "low_j": self.low_j, "high_j": self.high_j,
            "uninformative": self.uninformative,
        }  # fmt: skip

    def __str__(self) -> str:
        value, low, high = (_words(energy) for energy in (self.value_j, self.low_j, self.high_j))
        if low == high == value:
            return value
        shared = low.split()[1] == high.split()[1]
        text = f"{value} ({low.split()[0] if shared else low} to {high})"
        return text + (", uninformative" if self.uninformative else "")


def _words(energy_j: float) -> str:
    """``9.26e-9`` as "9.26 nJ"."""
    scale, prefix = _prefix(energy_j)
    return f"{energy_j / scale:.3g} {prefix}J"


def _prefix(size: float) -> tuple[float, str]:
    """(1e-12, "p") for what is best written in pJ."""
    prefixes = ((1e-18, "a"), (1e-15, "f"), (1e-12, "p"), (1e-9, "n"), (1e-6, "u"), (1e-3, "m"), (1.0, ""))
    fitting = [entry for entry in prefixes if size >= 0.9995 * entry[0]]
    return fitting[-1] if fitting else (1.0, "") if size == 0.0 else prefixes[0]
