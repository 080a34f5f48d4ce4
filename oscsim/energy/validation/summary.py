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
    n_used_in_fit : devices the model has seen. n_independent : compared devices it has not seen.
    n_extrapolation, n_repeated : compared, no evidence. n_without : not predictable or not published.
    covered, uninformative, median_ratio : of the independent ones.
    fit_covered, fit_ratio, fit_error_mean, fit_error_max : of those the model has seen: covered, median
        ratio, sizes of the relative error of the medians (of a ring: by the fit to the others).
    """

    quantity: str
    n_used_in_fit: int
    n_independent: int
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

    @property
    def share_covered(self) -> float | None:
        """Of the independent devices; None where there is none."""
        return self.covered / self.n_independent if self.n_independent else None

    @property
    def verdict(self) -> str:
        """In words; "not validated" where there is no independent device."""
        if self.n_independent == 0:
            return f"{NOT_VALIDATED}: 0 independent devices{self._fit_error}"
        words = f"covers {self.covered} of {self.n_independent} independent devices"
        if self.uninformative:
            words += f", {self.uninformative} of them with an uninformative interval"
        return words

    @property
    def _fit_error(self) -> str:
        if self.fit_ratio is None or self.fit_error_mean is None or self.fit_error_max is None:
            return ""
        if self.n_used_in_fit == 1:
            return f"; for the one it has seen {self.fit_ratio:.2g} times what was published"
        mean, largest = f"{self.fit_error_mean:.0%}", f"{self.fit_error_max:.0%}"
        return f"; error of those it has seen {mean} (mean), {largest} (largest)"

    def to_json(self) -> dict[str, Any]:
        """Counts, share and verdict."""
        return {
            "quantity": self.quantity, "n_used_in_fit": self.n_used_in_fit,
            "n_independent": self.n_independent, "n_extrapolation": self.n_extrapolation,
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
    others = [QUANTITIES[one.quantity][1] for one in found if not one.n_independent]
    parts = [
        f"{QUANTITIES[one.quantity][1]}: covers {one.covered} of {one.n_independent}{_direction(one)}"
        for one in known
    ]
    return "; ".join([*parts, *([f"{NOT_VALIDATED}: {' / '.join(others)}"] if others else [])])


def _direction(one: Summary) -> str:
    """On which side: the median of the ratios of medians."""
    return (
        ""
        if one.median_ratio is None
        else f", predicts {one.median_ratio:.2g} of what was published (medians)"
    )


def _summary(quantity: str, rows: Sequence[Row]) -> Summary:
    role = {name: [row for row in rows if row.compared and row.role == name] for name in ROLES}
    seen, unseen = role["calibration"], role["independent"]
    ratios, seen_ratios = _ratios(unseen), _ratios(seen)
    errors = [abs(ratio - 1.0) for ratio in seen_ratios]
    return Summary(
        quantity, len(seen), len(unseen), len(role["extrapolation"]), len(role["repeated"]),
        len([row for row in rows if not row.compared]),
        _count(row.covered for row in unseen), _count(row.uninformative for row in unseen), _median(ratios),
        _count(row.covered for row in seen), _median(seen_ratios),
        sum(errors) / len(errors) if errors else None, max(errors, default=None),
    )  # fmt: skip


def _median(numbers: Sequence[float]) -> float | None:
    return statistics.median(numbers) if numbers else None


def _ratios(rows: Sequence[Row]) -> list[float]:
    return [row.ratio for row in rows if row.ratio is not None]


def _count(answers: Iterable[bool | None]) -> int:
    return sum(answer is True for answer in answers)
