"""Command line of training: ``python -m models.training --output FILE``, or ``--report``.

Exit codes as of ``oscsim``: 2 bad input, 3 torch or the C++ compiler of ``--impl native`` is missing.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, cast

import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from oscsim.cli.guard import ExitCode, guarded, lacks
from oscsim.errors import SpecError

if lacks("torch", command="pip install -e '.[models]'"):
    raise SystemExit(int(ExitCode.BACKEND_MISSING))

import torch
from torch import Tensor

from hw_targets.triton.ops import Implementation
from hw_targets.triton.ops.implementations import choose

from .checkpoint import load_checkpoint, save_checkpoint
from .fit import TrainingConfig, train
from .osn import OSNConfig, OSNLanguageModel
from .report import record_table
from .text import load_text


def train_with_progress(config: TrainingConfig, console: Console) -> OSNLanguageModel:
    """Train on the shipped text with a progress bar: loss, and range of the locked fractions."""
    columns = (
        TextColumn("training"),
        BarColumn(),
        TextColumn("{task.completed}/{task.total} steps, {task.fields[status]}"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console) as progress:
        task = progress.add_task("training", total=config.steps, status="initialising")

        def report(step: int, bits: float, fractions: Tensor) -> None:
            locked = f"{fractions.min().item():.2f} to {fractions.max().item():.2f}"
            progress.update(task, completed=step, status=f"{bits:.2f} bits/char, locked {locked}")

        return train(load_text(), OSNConfig(), config, report)


def command(
    output: Annotated[Path | None, typer.Option(help="Train, and write this checkpoint.")] = None,
    report: Annotated[bool, typer.Option("--report", help="Print the shipped record.")] = False,
    steps: Annotated[int, typer.Option(min=1, help="Optimiser steps.")] = TrainingConfig.steps,
    seed: Annotated[int, typer.Option(help="Seed of everything random.")] = TrainingConfig.seed,
    impl: Annotated[str, typer.Option(help="Who computes attention: eager, native, triton.")] = "eager",
) -> None:
    """Train the character model on the shipped text, or print the record of the shipped one."""
    console = Console()
    if report == (output is not None):
        raise typer.BadParameter("give either --output FILE, to train, or --report")
    with guarded():
        choose(impl, torch.device("cpu"))
        if output is None:
            model = load_checkpoint()
        else:
            _refuse_missing_folder(output)
            model = train_with_progress(
                TrainingConfig(steps=steps, seed=seed, implementation=cast(Implementation, impl)), console
            )
            save_checkpoint(model, output)
            console.print(f"wrote {output} ({output.stat().st_size:,} bytes)")
        console.print(record_table(model.record))


def _refuse_missing_folder(output: Path) -> None:
    """Minutes of training should not end in a folder that is not there."""
    if not output.resolve().parent.is_dir():
        raise SpecError(
            f"given the output {output}; expected a file in an existing folder; "
            f"create {output.resolve().parent} first"
        )


if __name__ == "__main__":
    typer.run(command)
