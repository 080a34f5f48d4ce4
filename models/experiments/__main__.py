"""Command line of the experiments: ``python -m models.experiments tune|run|report|throughput``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from oscsim.cli.guard import GuardedGroup
from oscsim.cli.model_file import chosen_device

from .plan import DATA, LAST_SEED, Run, planned, tuning
from .report_files import Finished, write_report
from .work import work

app = typer.Typer(cls=GuardedGroup, no_args_is_help=True, add_completion=False, help=__doc__)
Size = Annotated[str, typer.Option("--preset", help="tiny, 1m or 5m.")]
Folder = Annotated[Path, typer.Option(help="Holds a folder per run; go on with the same one.")]
Jobs = Annotated[int, typer.Option(min=1, help="Runs at a time, of one thread each.")]
Device = Annotated[str, typer.Option(help="cpu or cuda.")]
Seeds = Annotated[int, typer.Option(min=1, help="Seeds 1 to this one.")]
Source = Annotated[str, typer.Option("--data", help="As of oscsim train.")]


def _work(runs: list[Run], data: str, folder: Path, jobs: int, device: str) -> None:
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
            chosen_device(device),
        )  # fmt: skip


@app.command()
def tune(
    folder: Folder, size: Size = "tiny", data: Source = DATA, jobs: Jobs = 2, device: Device = "cpu"
) -> None:
    """Try four learning rates per model, with a seed that no result uses."""
    _work(tuning(size), data, folder, jobs, device)


@app.command()
def run(
    folder: Folder,
    size: Size = "tiny",
    data: Source = DATA,
    jobs: Jobs = 2,
    device: Device = "cpu",
    seeds: Seeds = LAST_SEED,
) -> None:
    """Train every model with every seed, and the ablations; finished runs are kept."""
    _work(planned(size, range(1, seeds + 1)), data, folder, jobs, device)


@app.command()
def report(
    folder: Folder,
    tuned: Annotated[Path, typer.Option(help="The folder of `tune`.")],
    page: Annotated[Path, typer.Option(help="Markdown page whose marked section is filled.")],
    tables: Annotated[Path, typer.Option(help="Folder for runs, tuning, curves and depth .csv.")],
    figures: Annotated[Path, typer.Option(help="Folder for results.png and depth.png.")],
    size: Size = "tiny",
    data: Source = DATA,
    seeds: Seeds = LAST_SEED,
) -> None:
    """Write what finished runs say: tables, figures, and the marked sections of a page."""
    write_report(
        Finished(folder, planned(size, range(1, seeds + 1))),
        Finished(tuned, tuning(size)),
        data,
        page,
        tables,
        figures,
    )


@app.command()
def throughput(
    device: Device = "cpu", rounds: Annotated[int, typer.Option(min=1, help="Rounds that count.")] = 15
) -> None:
    """Measure an OSN block beside the matched transformer block, at the sizes of the published table."""
    from .throughput import SIZES
    from .throughput import throughput as measure

    with Progress(console=Console(stderr=True)) as display:
        bar = display.add_task("throughput", total=len(SIZES))
        lines = measure(chosen_device(device), rounds, lambda _: display.advance(bar))
    table = Table(
        "tokens", "batch", "transformer, k tokens/s", "OSN", "OSN / transformer, time", "MB of either"
    )
    for line in lines:
        memory = "–"
        if line.transformer_bytes is not None and line.osn_bytes is not None:
            memory = f"{line.transformer_bytes / 1e6:,.0f} / {line.osn_bytes / 1e6:,.0f}"
        ratio = f"{line.time_ratio.median:.2f} ({line.time_ratio.low:.2f}–{line.time_ratio.high:.2f})"
        speeds = (f"{speed.median:,.1f}" for speed in (line.transformer, line.osn))
        table.add_row(f"{line.tokens:,}", str(line.batch), *speeds, ratio, memory)
    Console().print(table)


if __name__ == "__main__":
    app()
