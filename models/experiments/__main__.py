"""Command line of the experiments: ``python -m models.experiments tune|run|report``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from oscsim.cli.guard import GuardedGroup

from .plan import DATA, Run, planned, tuning
from .report_files import Finished, write_report
from .work import work

app = typer.Typer(cls=GuardedGroup, no_args_is_help=True, add_completion=False, help=__doc__)
Size = Annotated[str, typer.Option("--preset", help="tiny, 1m or 5m.")]
Folder = Annotated[Path, typer.Option(help="Holds a folder per run; go on with the same one.")]
Jobs = Annotated[int, typer.Option(min=1, help="Runs at a time, of one thread each.")]
Source = Annotated[str, typer.Option("--data", help="As of oscsim train.")]


def _work(runs: list[Run], data: str, folder: Path, jobs: int) -> None:
    columns = (
        TextColumn("{task.description:36}"),
        BarColumn(),
        TextColumn("{task.completed}/{task.total} {task.fields[bits]}"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True)) as display:
        bars = {run.name: display.add_task(run.name, total=run.training.steps, bits="") for run in runs}
        work(
            runs, data, folder, jobs,
            lambda name, step, bits: display.update(bars[name], completed=step, bits=f"{bits:.3f} bits/byte"),
        )  # fmt: skip


@app.command()
def tune(folder: Folder, size: Size = "tiny", data: Source = DATA, jobs: Jobs = 2) -> None:
    """Try four learning rates per model, with a seed that no result uses."""
    _work(tuning(size), data, folder, jobs)


@app.command()
def run(folder: Folder, size: Size = "tiny", data: Source = DATA, jobs: Jobs = 2) -> None:
    """Train every model with every seed, and the ablations; finished runs are kept."""
    _work(planned(size), data, folder, jobs)


@app.command()
def report(
    folder: Folder,
    tuned: Annotated[Path, typer.Option(help="The folder of `tune`.")],
    page: Annotated[Path, typer.Option(help="Markdown page whose marked section is filled.")],
    tables: Annotated[Path, typer.Option(help="Folder for runs.csv, tuning.csv and curves.csv.")],
    figure: Annotated[Path, typer.Option(help="PNG.")],
    size: Size = "tiny",
    data: Source = DATA,
) -> None:
    """Write what finished runs say: tables, a figure, and the marked section of a page."""
    write_report(Finished(folder, planned(size)), Finished(tuned, tuning(size)), data, page, tables, figure)


if __name__ == "__main__":
    app()
