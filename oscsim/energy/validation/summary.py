"""What the comparisons say about each quantity, and the word for it when nothing independent exists."""

import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from oscsim.energy.validation.row import QUANTITIES, ROLES, Row

NOT_VALIDATED = "not validated"


@dataclass(frozen=True)
class Summary:
    """All rows of one quantity.

    Parameters
    ----------
    n_used_in_fit, n_independent : compared devices the model has seen, and has not seen; those of one
        publication or with the same numbers as one, which is covered where all its rows are.
    n_same_paper, same_paper_covered : rows with a constant from the paper that published them.
    n_bound : independent rows below a predicted upper bound, which tell nothing.
    n_extrapolation, n_repeated : compared, no evidence. n_without : not predictable or not published.
    covered, uninformative, median_ratio : of the independent ones.
    fit_bound : whether a prediction for what it has seen is an upper bound.
    fit_covered, fit_ratio, fit_error_mean, fit_error_max : of those the model has seen: covered, median
        ratio, sizes of the relative error of the medians (of a ring: by the fit to the others).
    """

    quantity: str
    n_used_in_fit: int
    n_independent: int
    n_same_paper: int
    same_paper_covered: int
    n_bound: int
    n_extrapolation: int
    n_repeated: int
    n_without: int
    covered: int
    uninformative: int
    median_ratio: float | None
    fit_covered: int
    fit_ratio: float | None
    fit_error_mean: float | None
    fit_error_max: float | None
    fit_bound: bool

    @property
    def share_covered(self) -> float | None:
        """Of the independent devices; None where there is none."""
        return self.covered / self.n_independent if self.n_independent else None

    @property
    def verdict(self) -> str:
        """In words; "not validated" where there is no independent device."""
        if self.n_independent == 0:
            return f"{NOT_VALIDATED}: 0 independent devices{self._fit_error}{self._same_paper}{self._bounds}"
        words = f"covers {self.covered} of {self.n_independent} independent devices"
        if self.uninformative:
            words += f", {self.uninformative} of them with an uninformative interval"
        return words + self._same_paper + self._bounds

    @property
    def _same_paper(self) -> str:
        if not self.n_same_paper:
            return ""
        covers = f"covers {self.same_paper_covered} of {self.n_same_paper}"
        return f"; {covers} measured in a paper whose theory gives a constant of the prediction"

    @property
    def _bounds(self) -> str:
        return f"; {self.n_bound} below a predicted upper bound, which tells nothing" if self.n_bound else ""

    @property
    def _fit_error(self) -> str:
        if self.fit_ratio is None or self.fit_error_mean is None or self.fit_error_max is None:
            return ""
        bound = "at most " if self.fit_bound else ""
        if self.n_used_in_fit == 1:
            return f"; for the one it has seen {bound}{self.fit_ratio:.2g} times what was published"
        mean, largest = f"{self.fit_error_mean:.0%}", f"{self.fit_error_max:.0%}"
        return f"; error of those it has seen {mean} (mean), {largest} (largest)"

    def to_json(self) -> dict[str, Any]:
        """Counts, share and verdict."""
        return {
            "quantity": self.quantity, "n_used_in_fit": self.n_used_in_fit,
            "n_independent": self.n_independent, "n_same_paper": self.n_same_paper,
            "same_paper_covered": self.same_paper_covered, "n_below_bound": self.n_bound,
            "n_extrapolation": self.n_extrapolation,
            "n_repeated": self.n_repeated, "n_without_comparison": self.n_without, "covered": self.covered,
            "uninformative": self.uninformative, "share_covered": self.share_covered,
            "median_ratio": self.median_ratio, "fit_covered": self.fit_covered, "fit_ratio": self.fit_ratio,
            "fit_error_mean": self.fit_error_mean, "fit_error_max": self.fit_error_max,
            "verdict": self.verdict,
        }  # fmt: skip


def summaries(rows: Sequence[Row]) -> list[Summary]:
    """One for every quantity, also for those without a row: an empty one is not validated either."""
    return [_summary(name, [row for row in rows if row.quantity == name]) for name in QUANTITIES]


def sentence(found: Sequence[Summary]) -> str:
    """All verdicts in one line, for reports."""
    return "; ".join(f"{QUANTITIES[one.quantity][1]}: {one.verdict}{_direction(one)}" for one in found)


def brief(found: Sequence[Summary]) -> str:
    """:func:`sentence` in fewer words: what was compared, and the names of what was not."""
    known = [one for one in found if one.n_independent]
    others = [f"{QUANTITIES[one.quantity][1]}{_aside(one)}" for one in found if not one.n_independent]
    parts = [
        f"{QUANTITIES[one.quantity][1]}: covers {one.covered} of {one.n_independent}{_direction(one)}"
        for one in known
    ]
    return "; ".join([*parts, *([f"{NOT_VALIDATED}: {' / '.join(others)}"] if others else [])])


def _aside(one: Summary) -> str:
    share = f"{one.same_paper_covered} of {one.n_same_paper}"
    return f" (covers {share} with a constant from the same paper)" if one.n_same_paper else ""


def _direction(one: Summary) -> str:
    """On which side: the median of the ratios of medians."""
    return (
        ""
        if one.median_ratio is None
        else f", predicts {one.median_ratio:.2g} of what was published (medians)"
    )


def _summary(quantity: str, rows: Sequence[Row]) -> Summary:
    role = {name: [row for row in rows if row.compared and row.role == name] for name in ROLES}
    seen = _by_source(role["calibration"])
    unseen = _by_source(row for row in role["independent"] if row.covered is not None)
    paper, seen_ratios = role["same paper"], [statistics.median(_ratios(one)) for one in seen]
    errors = [abs(ratio - 1.0) for ratio in seen_ratios]
    return Summary(
        quantity,
        n_used_in_fit=len(seen),
        n_independent=len(unseen),
        n_same_paper=len(paper),
        same_paper_covered=_count(row.covered for row in paper),
        n_bound=_count(row.covered is None for row in role["independent"]),
        n_extrapolation=len(role["extrapolation"]),
        n_repeated=len(role["repeated"]),
        n_without=_count(not row.compared for row in rows),
        covered=_count(all(row.covered for row in one) for one in unseen),
        uninformative=_count(any(row.uninformative for row in one) for one in unseen),
        median_ratio=_median([statistics.median(_ratios(one)) for one in unseen]),
        fit_covered=_count(all(row.covered for row in one) for one in seen),
        fit_ratio=_median(seen_ratios),
        fit_error_mean=sum(errors) / len(errors) if errors else None,
        fit_error_max=max(errors, default=None),
        fit_bound=any(row.bound for one in seen for row in one),
    )


def _by_source(rows: Iterable[Row]) -> list[list[Row]]:
    """Rows of one publication or of the same numbers together."""
    found: dict[str, list[Row]] = {}
    for row in rows:
        found.setdefault(row.source or row.device, []).append(row)
    return list(found.values())


def _median(numbers: Sequence[float]) -> float | None:
    return statistics.median(numbers) if numbers else None


def _ratios(rows: Sequence[Row]) -> list[float]:
    return [row.ratio for row in rows if row.ratio is not None]


def _count(answers: Iterable[bool | None]) -> int:
    return sum(answer is True for answer in answers)
