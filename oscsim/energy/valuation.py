"""What constants are worth in one calculation: best values, draws, or one at an end of its range.

Formulas of the energy model take a valuation and ask it for constants by name. So the same formula gives the
nominal energy, its distribution, the tornado chart, and the list of the constants that it used.
"""

import hashlib
from typing import Literal, Protocol

import numpy as np

from oscsim.energy.constants import Book, Constant
from oscsim.energy.units import Quantity, quantity

DRAWS = 4000


class Valuation(Protocol):
    """Gives a constant as a quantity; conditions are checked against what it is valid for."""

    @property
    def book(self) -> Book: ...

    def __call__(self, name: str, **conditions: float) -> Quantity: ...


class Nominal:
    """Best values; remembers which constants were asked for, in order.

    Parameters
    ----------
    changed : (name, "low" or "high"): one constant at an end of its range, for tornado charts.
    """

    def __init__(self, book: Book, changed: tuple[str, Literal["low", "high"]] | None = None) -> None:
        self.book, self.changed = book, changed
        self.used: dict[str, Constant] = {}

    def __call__(self, name: str, **conditions: float) -> Quantity:
        constant = self.used[name] = self.book.usable(name, **conditions)
        if self.changed is not None and self.changed[0] == name:
            return constant.quantity(self.changed[1])
        return constant.quantity()


class Draws:
    """DRAWS draws of every constant, log-uniform over its range: what is known is the range, over factors.

    The draws of a constant depend on its name and range alone. So two estimates share them, and the ratio of
    two estimates is narrower than their ranges suggest where they rest on the same constant.
    """

    def __init__(self, book: Book) -> None:
        self.book = book
        self._drawn: dict[str, Quantity] = {}

    def __call__(self, name: str, **conditions: float) -> Quantity:
        constant = self.book.usable(name, **conditions)
        if name not in self._drawn:
            self._drawn[name] = quantity(draws(name, *_ends(constant)), constant.unit)
        return self._drawn[name]


def _ends(constant: Constant) -> tuple[float, float]:
    if constant.low is None or constant.high is None:
        raise ValueError(f"constant '{constant.name}' has no range")
    return constant.low, constant.high


def draws(name: str, low: float, high: float) -> np.ndarray:
    """(DRAWS,) log-uniform over [low, high], one stratum each, shuffled by the name.

    >>> x = draws("vdd", 1.0, 4.0)
    >>> len(x), round(float(np.median(x)), 2), bool(x.min() >= 1.0 and x.max() <= 4.0)
    (4000, 2.0, True)
    """
    seed = int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], "big")
    generator = np.random.default_rng(seed)
    strata = (generator.permutation(DRAWS) + generator.random(DRAWS)) / DRAWS
    return low * (high / low) ** strata
