"""Read finished runs, and write the files of a report."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from oscsim.cli.page import around_marks
from oscsim.errors import ConfigError
from oscsim.io import atomic_write

from ..data import load_data
from ..training.folder import RESULTS, read_json
from . import figure as picture
from .plan import Run
from .report import BEGIN, END, markdown
from .summary import csv_text, row


@dataclass(frozen=True)
class Finished:
    """Runs that are done, in a folder."""

    folder: Path
    runs: Sequence[Run]

    @cached_property
    def results(self) -> list[dict[str, Any]]:
        """The results of every run; ConfigError when one is missing."""
        found = []
        for run in self.runs:
            path = self.folder / run.name / RESULTS
            if not path.exists():
                raise ConfigError(
                    f"{path}: not there; expected a finished run; go on with the experiment first"
                )
            found.append({"run": run.name, "variant": run.variant, **read_json(path)})
        return found

    @property
    def rows(self) -> list[dict[str, Any]]:
        """The table of runs."""
        return [row(result) for result in self.results]

    @property
    def curves(self) -> dict[str, list[tuple[int, float]]]:
        """Validation against steps, by the runs' names."""
        return {run.name: picture.curve(self.folder / run.name) for run in self.runs}


def write_report(
    counted: Finished, tuned: Finished, data: str, page: Path, tables: Path, figure: Path
) -> None:
    """Write the tables as CSV, the figure, and the marked section of the page."""
    before, after = around_marks(page, "--page", BEGIN, END)
    rows, tried = counted.rows, tuned.rows
    validation = bytes(load_data(data).validation.tolist())
    section = markdown(rows, tried, validation, counted.results[0]["environment"])
    tables.mkdir(parents=True, exist_ok=True)
    points = [
        {"run": name, "step": step, "validation_bits_per_byte": bits}
        for name, curve in counted.curves.items()
        for step, bits in curve
    ]
    for name, lines in (("runs", rows), ("tuning", tried), ("curves", points)):
        atomic_write(tables / f"{name}.csv", csv_text(lines).encode())
    atomic_write(figure, picture.png(rows, counted.curves, "transformer"))
    atomic_write(page, f"{before}{BEGIN}\n{section}{END}{after}".encode())
