"""Read finished runs, and write the files of a report."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from oscsim.cli.page import around_marks
from oscsim.errors import ConfigError
from oscsim.io import atomic_write, canonical_json

from .. import diagnostics_plot as depth_picture
from ..data import load_data
from ..training.folder import RESULTS, read_json
from . import depth
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
            result = read_json(path)
            _require_planned(path, run, result)
            found.append({"run": run.name, "variant": run.variant, **result})
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
    counted: Finished, tuned: Finished, data: str, page: Path, tables: Path, figures: Path
) -> None:
    """Write the tables as CSV, results.png and depth.png, and the marked sections of the page."""
    around_marks(page, "--page", depth.BEGIN, depth.END)  # refused before anything is written
    rows, tried = counted.rows, tuned.rows
    source = load_data(data)
    for result in (*counted.results, *tuned.results):
        if result["data"]["sha256"] != source.digest:
            raise ConfigError(
                f"--data: given {data}; expected the data that {result['run']} was trained on, SHA-256 "
                f"{result['data']['sha256']}; name that"
            )
    validation = source.validation
    environment = counted.results[0]["environment"]
    models = [run for run in counted.runs if "," not in run.variant]
    found = depth.diagnosed([counted.folder / run.name for run in models], validation)
    means = {
        variant: depth.mean([d for run, d in zip(models, found, strict=True) if run.variant == variant])
        for variant in dict.fromkeys(run.variant for run in models)
    }
    _fill(page, BEGIN, END, markdown(rows, tried, bytes(validation.tolist()), environment))
    _fill(page, depth.BEGIN, depth.END, depth.markdown(means))
    tables.mkdir(parents=True, exist_ok=True)
    points = [
        {"run": name, "step": step, "validation_bits_per_byte": bits}
        for name, curve in counted.curves.items()
        for step, bits in curve
    ]
    by_depth = depth.lines([run.name for run in models], found)
    for name, lines in (("runs", rows), ("tuning", tried), ("curves", points), ("depth", by_depth)):
        atomic_write(tables / f"{name}.csv", csv_text(lines).encode())
    atomic_write(figures / "results.png", picture.png(rows, counted.curves, "transformer"))
    atomic_write(figures / "depth.png", depth_picture.png(means))


def _require_planned(path: Path, run: Run, result: dict[str, Any]) -> None:
    planned = {"model": run.model, "config": asdict(run.config), "training": asdict(run.training)}
    for part, wanted in planned.items():
        if canonical_json(result[part]) != canonical_json(wanted):
            raise ConfigError(
                f"{path}: given a run with {part} {result[part]}; expected {wanted}; "
                "it was trained with another plan: do it again in another folder"
            )


def _fill(page: Path, begin: str, end: str, section: str) -> None:
    before, after = around_marks(page, "--page", begin, end)
    atomic_write(page, f"{before}{begin}\n{section}{end}{after}".encode())
