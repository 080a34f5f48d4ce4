"""A baseline is refused with everything that it lacks, not with the first thing only."""

from collections.abc import Iterable, Sequence

from oscsim.counts import Counts
from oscsim.energy.constants import Book, ConstantError
from oscsim.energy.estimate import Estimate, Refusal, Scope, Term, estimate


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
