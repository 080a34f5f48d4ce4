"""A row of a study: mask agreement and S error of some chips, with confidence intervals."""

import csv
import dataclasses
import io
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from oscsim.monte_carlo import intervals
from oscsim.monte_carlo.intervals import Estimate
from oscsim.monte_carlo.score import Score
from oscsim.monte_carlo.study import Point


@dataclass(frozen=True)
class Row:
    """Chips of one design against the ideal layer; intervals of 95 %.

    Parameters
    ----------
    label : what is imperfect. option, value : what is swept, None where nothing is.
    level : see :data:`oscsim.monte_carlo.LEVELS`. chips : compared; 1 where nothing is random.
    cells : of a chip that count, unmasked and off the diagonal. locked : mean share of them that lock.
    agreement, agreement_low, agreement_high : share of cells whose lock decision is that of the ideal layer.
    error, error_low, error_high : root mean square error of S, read out with the layer's own J.
    built_error, built_low, built_high : the same when the read-out multiplies with the coupling as built
        (a chip that weights with the same code it couples with); None for networks.
    unsettled : share of chips whose read-out had not converged; they count.
    """

    label: str
    option: str | None
    value: Any
    level: str
    chips: int
    cells: int
    locked: float
    agreement: float
    agreement_low: float
    agreement_high: float
    error: float
    error_low: float
    error_high: float
    built_error: float | None
    built_low: float | None
    built_high: float | None
    unsettled: float


def row_of(point: Point, level: str, scores: Sequence[Score], mutual: bool) -> Row:
    """Condense the chips of one point.

    Cells of a pair layer are circuits of their own, so cells times chips are independent trials of the lock
    decision (Wilson); errors are averaged per chip (t). In a network (``mutual``) a chip is one trial for
    both. A single chip, or one of which all are equal, leaves only its cells as trials: the interval then
    says how well they represent cells like them.
    """
    agreement = _agreement(scores, mutual)
    error = _root([s.square for s in scores], [s.fourth for s in scores], scores[0].cells)
    built = None
    if scores[0].built_square is not None:
        squares = [(s.built_square or 0.0, s.built_fourth or 0.0) for s in scores]
        built = _root([square for square, _ in squares], [fourth for _, fourth in squares], scores[0].cells)
    cells = sum(s.cells for s in scores)
    return Row(
        label=point.label, option=point.option, value=point.value, level=level, chips=len(scores),
        cells=scores[0].cells, locked=sum(s.locked for s in scores) / cells,
        agreement=agreement.value, agreement_low=agreement.low, agreement_high=agreement.high,
        error=error.value, error_low=error.low, error_high=error.high,
        built_error=built and built.value, built_low=built and built.low, built_high=built and built.high,
        unsettled=sum(not s.settled for s in scores) / len(scores),
    )  # fmt: skip


def _agreement(scores: Sequence[Score], mutual: bool) -> Estimate:
    if mutual and len(scores) > 1:
        shares = [s.agree / s.cells for s in scores]
        if set(shares) in ({0.0}, {1.0}):  # no spread to estimate from: a chip is a trial, right or wrong
            return intervals.share(sum(map(round, shares)), len(shares))
        return intervals.mean(shares, 0.0, 1.0)
    return intervals.share(sum(s.agree for s in scores), sum(s.cells for s in scores))


def _root(squares: list[float], fourths: list[float], cells: int) -> Estimate:
    if len(squares) > 1:
        return intervals.root(intervals.mean(squares, 0.0))
    return intervals.root(intervals.moments(squares[0], fourths[0], cells, 0.0))


def csv_text(rows: Iterable[Row]) -> str:
    """Rows as CSV with a header, six digits; an unknown number is an empty field."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(field.name for field in dataclasses.fields(Row))
    for row in rows:
        writer.writerow(f"{v:.6g}" if isinstance(v, float) else v for v in dataclasses.astuple(row))
    return text.getvalue()
