"""Rows of the regime map, one per cell and convention, and their CSV."""

import csv
import dataclasses
import io
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

import numpy as np

from oscsim.errors import SchemaError
from oscsim.io import read_regular
from oscsim.regime.cell import Cell
from oscsim.regime.conventions import CONVENTIONS
from oscsim.regime.run import Run

_PACKAGED = "map.csv"


@dataclass(frozen=True)
class Row:
    """One cell under one convention of r, over its seeds; unsettled runs count in every mean.

    Parameters
    ----------
    n, spread, gain, alpha : the cell, see :class:`oscsim.regime.Cell`; convention : see CONVENTIONS.
    seeds : how many; order : mean r.
    mean_error, low_error, high_error : mean, lowest and highest over seeds of a run's mean |S error|.
    max_error : largest |S error| of any pair; lock_agreement : mean share of pairs.
    mean_sync : mean of |S_network|, the error of an answer that is zero everywhere.
    closed_locked, network_locked : mean share of pairs locked, by the closed form and in the network.
    lockable, at_rest : share of seeds for which a fully locked state exists; whose run ended in one.
    unsettled : share of seeds whose average has not converged (``change`` above REGIME_CAP).
    change, max_change : mean over seeds of the mean change of S; largest change of any pair.
    oracle : share of seeds with an exact answer; oracle_error : largest error of the integration against
        it, None where there is none.
    """

    n: int
    spread: float
    gain: float
    alpha: float
    convention: str
    seeds: int
    order: float
    mean_error: float
    low_error: float
    high_error: float
    max_error: float
    mean_sync: float
    lock_agreement: float
    closed_locked: float
    network_locked: float
    lockable: float
    at_rest: float
    unsettled: float
    change: float
    max_change: float
    oracle: float
    oracle_error: float | None

    @property
    def cell(self) -> Cell:
        """The settings this row belongs to."""
        return Cell(self.n, self.spread, self.gain, self.alpha)


def rows_of(cell: Cell, runs: Sequence[Run]) -> list[Row]:
    """Condense the runs of one cell: a row per convention."""
    exact = [run.oracle_error for run in runs if run.oracle_error is not None]
    rows = []
    for name in CONVENTIONS:
        parts = [run.agreement[name] for run in runs]
        errors = [part.mean_error for part in parts]
        rows.append(Row(
            **dataclasses.asdict(cell), convention=name, seeds=len(runs),
            order=_mean(part.order for part in parts),
            mean_error=_mean(errors), low_error=min(errors), high_error=max(errors),
            max_error=max(part.max_error for part in parts),
            mean_sync=_mean(run.mean_sync for run in runs),
            lock_agreement=_mean(part.lock_agreement for part in parts),
            closed_locked=_mean(part.locked_share for part in parts),
            network_locked=_mean(run.locked_share for run in runs),
            lockable=_mean(run.lockable for run in runs),
            at_rest=_mean(run.at_rest for run in runs),
            unsettled=_mean(not run.settled for run in runs),
            change=_mean(run.change for run in runs), max_change=max(run.max_change for run in runs),
            oracle=len(exact) / len(runs), oracle_error=max(exact, default=None),
        ))  # fmt: skip
    return rows


def _mean(values: Iterable[float]) -> float:
    return float(np.mean(list(values)))


def csv_text(rows: Iterable[Row]) -> str:
    """Rows as CSV with a header, six digits; an unknown number is an empty field."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(field.name for field in dataclasses.fields(Row))
    for row in rows:
        writer.writerow(f"{v:.6g}" if isinstance(v, float) else v for v in dataclasses.astuple(row))
    return text.getvalue()


def read_csv(path: str | os.PathLike[str]) -> list[Row]:
    """Rows of a file written by ``oscsim regime --csv``.

    Raises
    ------
    SchemaError
        another header, or a field that is not of its column's type; names the line.
    """
    return _parse(read_regular(path).decode("utf-8", "replace"), str(path))


def packaged_map() -> list[Row]:
    """The map that comes with this package: all defaults of ``oscsim regime``.

    >>> row = next(row for row in packaged_map() if row.convention == "one" and row.n == 2)
    >>> row.oracle, row.mean_error < 1e-3  # two oscillators obey the pair law
    (1.0, True)
    """
    return _parse(files("oscsim.regime").joinpath(_PACKAGED).read_text("utf-8"), _PACKAGED)


def _parse(text: str, name: str) -> list[Row]:
    fields = {field.name: field.type for field in dataclasses.fields(Row)}
    lines = csv.reader(io.StringIO(text))
    if (header := next(lines, [])) != list(fields):
        raise SchemaError(f"{name}: line 1: given {','.join(header)[:60]}, expected {','.join(fields)}")
    rows = []
    for line in lines:
        where = f"{name}: line {lines.line_num}"
        if len(line) != len(fields):
            raise SchemaError(f"{where}: given {len(line)} fields, expected {len(fields)}")
        try:
            values = {key: _field(word, fields[key]) for key, word in zip(fields, line, strict=True)}
        except ValueError as error:
            raise SchemaError(f"{where}: {error}") from None
        rows.append(Row(**values))
    return rows


def _field(word: str, kind: Any) -> Any:
    if kind in (str, int):
        return kind(word)
    return None if word == "" and kind is not float else float(word)
