"""``oscsim regime``: where the closed form of a pair may be trusted for a whole network."""

import dataclasses
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.text import Text

from oscsim.cli import arguments as arg
from oscsim.cli.files import check_distinct, check_suffix, checked_folder, checked_path
from oscsim.cli.output import Output
from oscsim.cli.sweep_progress import SweepProgress
from oscsim.io import atomic_write
from oscsim.regime.blocks import MANIFEST
from oscsim.regime.conventions import CONVENTIONS
from oscsim.regime.grid import Grid, sweep
from oscsim.regime.row import Row, csv_text
from oscsim.regime.steady import LONGEST_SPAN
from oscsim.tolerance import REGIME_CAP

QUICK: dict[str, Any] = {"n": (2, 8, 32), "spread": (0.1, 0.3, 0.5, 1.0), "gain": (1.313,), "seeds": 4}
_WORDS = " ".join(
    [f"--{name} {value:g}" for name in ("n", "spread", "gain") for value in QUICK[name]]
    + [f"--seeds {QUICK['seeds']}"]
)


def _default(name: str) -> str:
    values = getattr(Grid(), name)
    return ", ".join(f"{value:g}" for value in (values if isinstance(values, tuple) else (values,)))


def regime(
    n: Annotated[
        list[int] | None, typer.Option("--n", help=f"Oscillators; repeat. Default: {_default('n')}.")
    ] = None,
    spread: Annotated[
        list[float] | None,
        typer.Option(
            help="Standard deviation of the natural frequencies, rad per time unit; repeat. "
            f"Default: {_default('spread')}."
        ),
    ] = None,
    gain: Annotated[
        list[float] | None,
        typer.Option(help=f"Coupling gain K, rad per time unit; repeat. Default: {_default('gain')}."),
    ] = None,
    alpha: Annotated[
        list[float] | None, typer.Option(help=f"Bandwidth of J; repeat. Default: {_default('alpha')}.")
    ] = None,
    seeds: Annotated[
        int | None, typer.Option(help=f"Networks per cell. Default: {_default('seeds')}.")
    ] = None,
    short: Annotated[
        bool, typer.Option("--quick", help=f"Half a minute: {_WORDS}, except for what is given beside it.")
    ] = False,
    output: Annotated[
        str, typer.Option("--output", "-o", help="Folder that keeps finished blocks of seeds.")
    ] = "runs/regime",
    json: arg.Json = None,
    csv: Annotated[
        str | None, typer.Option("--csv", metavar="FILE", help="A row per cell and convention.")
    ] = None,
    plot: Annotated[str | None, typer.Option("--plot", metavar="FILE.png", help="Heat maps.")] = None,
) -> None:
    """Map how far the closed form of a pair is from a whole network: |S error|, locking, by convention of r.

    Every network is integrated; two oscillators and networks at rest are also checked against their exact
    answers. Stopped at any moment and started again with the same --output, it goes on where it was. The
    default map takes about 25 minutes of one core.
    """
    out = Output(json)
    written = {"--json": json, "--csv": csv, "--plot": plot}
    for option in ("--csv", "--plot"):
        checked_path(written[option], option)
    checked_folder(output, "--output")
    check_distinct({}, {f"--output {MANIFEST}": str(Path(output) / MANIFEST), **written})
    check_suffix(plot, "--plot", ".png")
    asked = {"n": n, "spread": spread, "gain": gain, "alpha": alpha, "seeds": seeds}
    grid = Grid(
        **(QUICK if short else {}) | {name: value for name, value in asked.items() if value not in (None, [])}
    )
    progress = SweepProgress(len(grid.cells) * len(grid.blocks))
    with progress.shown():
        rows = sweep(grid, output, progress)
    if csv is not None:
        atomic_write(csv, csv_text(rows).encode())
    if plot is not None:
        from oscsim.regime.figure import png  # matplotlib takes a second to import

        atomic_write(plot, png(rows))
    out.write_json(_content(grid, rows, output))
    _show(out, rows, output)


def _content(grid: Grid, rows: list[Row], folder: str) -> dict[str, Any]:
    return {
        "folder": folder,
        "settings": {**dataclasses.asdict(grid), "longest_span": LONGEST_SPAN},
        "conventions": dict(CONVENTIONS),
        "unsettled_above": REGIME_CAP,
        "rows": [dataclasses.asdict(row) for row in rows],
    }


def _show(out: Output, rows: list[Row], folder: str) -> None:
    by_cell: dict[Any, dict[str, Row]] = {}
    for row in rows:
        by_cell.setdefault(row.cell, {})[row.convention] = row
    lines = []
    for cell, found in by_cell.items():
        steady = found["steady"]
        errors = [f"{found[name].mean_error:.3f}" for name in CONVENTIONS] + [f"{steady.max_error:.3f}"]
        shares = (steady.lock_agreement, steady.at_rest, steady.unsettled)
        exact = steady.oracle_error
        lines.append([
            cell.n, cell.spread, cell.gain, cell.alpha, *errors, *(f"{share:.2f}" for share in shares), exact
        ])  # fmt: skip
    out.print(Text("mean |S error| of the closed form, by the order parameter r it is given:"))
    out.table(
        ["N", "spread", "K", "alpha", *CONVENTIONS, "max", "locks agree", "at rest", "unsettled", "exact"],
        lines,
    )
    for name, text in CONVENTIONS.items():
        out.print(Text(f"{name}: {text}"))
    out.print(
        Text("max, locks agree: of the steady convention; exact: largest error of the integration itself")
    )
    out.print(Text(str(Path(folder))))
