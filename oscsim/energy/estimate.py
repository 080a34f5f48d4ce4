"""An energy estimate: terms, each a formula of counts and constants, summed with range and sources."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from oscsim.counts import Counts
from oscsim.energy.constants import Book, Constant, ConstantError
from oscsim.energy.interval import EnergyError, Interval
from oscsim.energy.units import Quantity, magnitude, quantity
from oscsim.energy.valuation import Draws, Nominal, Valuation

Kind = Literal["estimate", "best case", "inherited", "calibration"]
BRIEF = 96  # characters of a refusal that fit beside its name


@dataclass(frozen=True)
class Term:
    """One line of an estimate.

    Parameters
    ----------
    name : what spends the energy, as "couplers".
    formula : for people, as "coupling_cycles C_c(bits) V^2 activity".
    of : the same as code: asks a valuation for constants and returns an energy.
    events : the counts it prices.
    """

    name: str
    formula: str
    of: Callable[[Valuation], Quantity]
    events: tuple[str, ...] = ()


@dataclass(frozen=True)
class Item:
    """A term, evaluated: its interval and the constants behind it."""

    name: str
    formula: str
    interval: Interval
    constants: tuple[Constant, ...]

    def to_json(self) -> dict[str, Any]:
        """Interval, formula, and name, citation and kind of each constant."""
        rows = [{"name": c.name, "citation": c.citation, "how": c.how} for c in self.constants]
        return {"name": self.name, "formula": self.formula, **self.interval.to_json(), "constants": rows}


@dataclass(frozen=True)
class Lever:
    """How the total moves when one constant goes through its range: a bar of the tornado chart."""

    constant: str
    low_j: float
    high_j: float

    @property
    def swing(self) -> float:
        """Ratio of the larger to the smaller total."""
        return max(self.low_j, self.high_j) / max(min(self.low_j, self.high_j), 1e-300)


@dataclass(frozen=True)
class Estimate:
    """What a layer costs on one kind of hardware: calculated, never measured (see MeasuredEnergy).

    Parameters
    ----------
    name : the hardware, as "ring, 65 nm".
    kind : "estimate", "best case" (a bound from below), "inherited" (constants of another chip),
        "calibration".
    boundary : what the number includes, as "cores, dynamic" or "board": only like is comparable with like.
    accuracy : error of S that the hardware stands for at these counts, None where it is not known.
    total : sum of the items. counts : what was priced. left_out : (event, why) without a price, on purpose.
    levers : tornado, largest swing first. notes : warnings, as "prior, not measured" or "not validated".
    """

    name: str
    kind: Kind
    boundary: str
    accuracy: float | None
    items: tuple[Item, ...]
    total: Interval
    counts: Counts
    left_out: tuple[tuple[str, str], ...]
    levers: tuple[Lever, ...]
    notes: tuple[str, ...]

    @property
    def constants(self) -> dict[str, Constant]:
        """Every constant behind the total, by name."""
        return {constant.name: constant for item in self.items for constant in item.constants}

    def to_json(self) -> dict[str, Any]:
        """Everything above as plain JSON."""
        return {
            "name": self.name, "kind": self.kind, "boundary": self.boundary, "accuracy": self.accuracy,
            "total": self.total.to_json(), "items": [item.to_json() for item in self.items],
            "counts": self.counts.entry, "left_out": [list(pair) for pair in self.left_out],
            "tornado": [{"constant": x.constant, "low_j": x.low_j, "high_j": x.high_j} for x in self.levers],
            "notes": list(self.notes),
        }  # fmt: skip


@dataclass(frozen=True)
class Refusal:
    """Hardware for which no honest number exists, and why."""

    name: str
    reason: str

    @property
    def brief(self) -> str:
        """What is wrong, in the first clauses of the reason: what fits on a line beside a name.

        >>> Refusal("x", "epsilon: 10.1 of the carrier (1 GHz), expected at most 0.35; set another").brief
        'epsilon: 10.1 of the carrier, expected at most 0.35'
        """
        first = re.sub(r" \([^()]*\)", "", self.reason.partition("; ")[0])
        if len(first) <= BRIEF:
            return first
        clauses = re.match(rf"(.{{1,{BRIEF}}})(?=, |: )", first)
        return clauses[1] if clauses else first[:BRIEF].rsplit(" ", 1)[0]

    def to_json(self) -> dict[str, Any]:
        """Name and reason; no energy."""
        return {"name": self.name, "refused": self.reason}


@dataclass(frozen=True)
class Scope:
    """What an estimate says about itself, apart from its numbers; see Estimate."""

    name: str
    kind: Kind
    boundary: str
    accuracy: float | None = None
    left_out: tuple[tuple[str, str], ...] = ()
    notes: tuple[str, ...] = field(default=())


def estimate(scope: Scope, counts: Counts, terms: Sequence[Term], book: Book) -> Estimate:
    """Sum the terms: best value, 95 % interval over the ranges of all constants, and the tornado.

    Raises
    ------
    EnergyError
        an event in ``counts`` that no term prices and ``scope.left_out`` does not name: it would count 0 J.
    ConstantError
        a constant that is missing, recalled, or used outside its validity.
    UnitError
        a term that is not an energy.
    """
    _complete(scope, counts, terms)
    drawn, totals, items = Draws(book), [], []
    for term in terms:
        nominal = Nominal(book)
        best, sampled = term.of(nominal), term.of(drawn)
        items.append(Item(term.name, term.formula, Interval.of(best, sampled), tuple(nominal.used.values())))
        totals.append((best, sampled))
    zero = quantity(0.0, "J")
    total = Interval.of(sum((a for a, _ in totals), zero), sum((b for _, b in totals), zero))
    return Estimate(
        scope.name, scope.kind, scope.boundary, scope.accuracy, tuple(items), total, counts, scope.left_out,
        _levers(terms, items, book), (*scope.notes, *_provenance_notes(items)),
    )  # fmt: skip


def try_estimate(scope: Scope, counts: Counts, terms: Sequence[Term], book: Book) -> Estimate | Refusal:
    """An estimate, or the reason why there is none: a constant that is missing is never replaced by 0."""
    try:
        return estimate(scope, counts, terms, book)
    except ConstantError as error:
        return Refusal(scope.name, str(error))


def _complete(scope: Scope, counts: Counts, terms: Sequence[Term]) -> None:
    known = {event for term in terms for event in term.events} | {event for event, _ in scope.left_out}
    for name in counts:
        if name not in known and name.partition(".")[0] not in known and counts[name] > 0.0:
            raise EnergyError(
                f"{scope.name}: {counts[name]:g} of event '{name}' have no price and would cost 0 J; "
                f"add a term for it, or leave it out with a reason"
            )


def _levers(terms: Sequence[Term], items: Sequence[Item], book: Book) -> tuple[Lever, ...]:
    """Only terms that rest on a constant are evaluated again for it."""
    names = {c.name: c for item in items for c in item.constants if c.low != c.high}
    levers = []
    for name in names:
        ends = []
        for end in ("low", "high"):
            valuation, total = Nominal(book, (name, end)), 0.0
            for term, item in zip(terms, items, strict=True):
                moved = any(constant.name == name for constant in item.constants)
                total += float(magnitude(term.of(valuation), "J")) if moved else item.interval.value_j
            ends.append(total)
        levers.append(Lever(name, ends[0], ends[1]))
    return tuple(sorted(levers, key=lambda lever: -lever.swing))


def _provenance_notes(items: Sequence[Item]) -> tuple[str, ...]:
    words = {
        "prior": "design ranges, not measured",
        "recalled": "from memory, not verified",
    }
    notes = []
    for how, meaning in words.items():
        names = dict.fromkeys(c.name for item in items for c in item.constants if c.how == how)
        if names:
            notes.append(f"{meaning}: {', '.join(names)}")
    return tuple(notes)
