"""Prices of counted events, and a refusal that names everything a baseline lacks, not only the first."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from oscsim.counts import Counts
from oscsim.counts import unit as unit_of
from oscsim.energy.constants import Book, ConstantError
from oscsim.energy.estimate import Estimate, Refusal, Scope, Term, estimate
from oscsim.energy.units import Quantity, quantity
from oscsim.energy.valuation import Valuation


@dataclass(frozen=True)
class Price:
    """What one event costs.

    Parameters
    ----------
    event : key of ``Counts``. formula : of the term, for people. constants : all that ``of_one`` asks for.
    of_one : energy per unit of the event.
    """

    event: str
    formula: str
    constants: tuple[str, ...]
    of_one: Callable[[Valuation], Quantity]

    def term(self, count: float) -> Term:
        """The price times a number of events."""
        number = quantity(count, unit_of(self.event))
        return Term(self.event, self.formula, lambda v: number * self.of_one(v), (self.event,))


def constant_price(event: str, formula: str, *constants: str) -> Price:
    """An event that costs the sum of some constants."""
    return Price(
        event, formula, constants, lambda v: sum(v(name) for name in constants[1:]) + v(constants[0])
    )


def happening(prices: Iterable[Price], counts: Counts) -> list[Price]:
    """The prices of events that occur at all."""
    return [price for price in prices if counts.get(price.event, 0.0) > 0.0]


def terms_of(prices: Iterable[Price], counts: Counts) -> list[Term]:
    """One term per event that occurs."""
    return [price.term(counts[price.event]) for price in happening(prices, counts)]


def unusable(names: Iterable[str], book: Book) -> tuple[str, ...]:
    """Why each of these constants cannot be used, one sentence each; empty where all of them can.

    >>> from oscsim.energy import load_constants
    >>> [reason[:28] for reason in unusable(["landauer_300K", "loihi2_event_energy"], load_constants())]
    ["constant 'loihi2_event_energ"]
    """
    reasons = []
    for name in dict.fromkeys(names):
        try:
            book.usable(name)
        except ConstantError as error:
            reasons.append(str(error))
    return tuple(reasons)


def estimate_or_list(
    scope: Scope, counts: Counts, terms: Sequence[Term], names: Iterable[str], book: Book
) -> Estimate | Refusal:
    """An estimate, or a refusal that lists every one of the constants ``names`` that cannot be used."""
    reasons = unusable(names, book)
    if reasons:
        return Refusal(scope.name, "; ".join(reasons))
    return estimate(scope, counts, terms, book)


def priced(scope: Scope, counts: Counts, prices: Iterable[Price], book: Book) -> Estimate | Refusal:
    """:func:`estimate_or_list` of the events that occur."""
    used = happening(prices, counts)
    names = [name for price in used for name in price.constants]
    return estimate_or_list(scope, counts, terms_of(used, counts), names, book)


def accuracy_note(accuracy: float | None, asked: float | None) -> tuple[str, ...]:
    """Says that a plan is coarser than what every row of the comparison should be; else nothing.

    >>> accuracy_note(0.016, 0.01)
    ('less accurate than asked: this plan promises 0.016, asked 0.01',)
    """
    if accuracy is None or asked is None or accuracy <= asked:
        return ()
    return (f"less accurate than asked: this plan promises {accuracy:.2g}, asked {asked:.2g}",)
