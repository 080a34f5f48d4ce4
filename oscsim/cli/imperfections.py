"""``oscsim imperfections``: what imperfect chips do to a layer, by Monte Carlo over their seeds."""

import dataclasses
import json as json_module
from typing import Annotated, Any

import typer
from rich.text import Text

from oscsim.circuits.design import CircuitDesign
from oscsim.circuits.imperfections import checked
from oscsim.cli import arguments as arg
from oscsim.cli.files import check_distinct, check_suffix, checked_folder, checked_path
from oscsim.cli.options import read_option, split_settings
from oscsim.cli.output import Output
from oscsim.cli.sweep_progress import SweepProgress
from oscsim.errors import ConfigError
from oscsim.io import atomic_write
from oscsim.monte_carlo import LEVELS, Row, Study, contributions, csv_text, sweep, swept
from oscsim.monte_carlo.sweep import chip_count
from oscsim.spec import PhaseLayerSpec


def imperfections(
    layer_file: arg.LayerFile,
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set", metavar="OPTION=VALUE", help="Of the chip, as for --target circuit; repeatable."
        ),
    ] = None,
    swept_option: Annotated[
        str | None,
        typer.Option("--sweep", metavar="OPTION=V1,V2,...", help="One imperfection at several values."),
    ] = None,
    chips: Annotated[
        int, typer.Option(help="Chips of each design; one is run where nothing is random.")
    ] = 32,
    level: Annotated[str, typer.Option(help=f"One of {', '.join(LEVELS)}.")] = "phase",
    output: Annotated[
        str, typer.Option("--output", "-o", help="Folder that keeps finished points.")
    ] = "runs/imperfections",
    json: arg.Json = None,
    csv: Annotated[str | None, typer.Option("--csv", metavar="FILE", help="Every row as CSV.")] = None,
    plot: Annotated[
        str | None, typer.Option("--plot", metavar="FILE.png", help="Agreement and error with intervals.")
    ] = None,
) -> None:
    """Compare chips with the ideal layer: mask agreement and error of S, with 95 % confidence intervals.

    Without --sweep: a perfect chip, each imperfection of --set alone, and all of them together. Stopped at
    any moment and started again with the same --output, it goes on where it was.
    """
    out = Output(json)
    written = {"--json": json, "--csv": csv, "--plot": plot}
    for option in ("--csv", "--plot"):
        checked_path(written[option], option)
    checked_folder(output, "--output")
    check_distinct({"FILE.phase": layer_file}, {"--output": output, **written})
    check_suffix(plot, "--plot", ".png")
    spec, simulate = PhaseLayerSpec.load(layer_file), None
    options = {name: read_option(value) for name, value in split_settings(settings or ()).items()}
    if level == "circuit":
        design, simulate = _circuit(options)
    else:
        design = checked(CircuitDesign, options)
    points = contributions(design) if swept_option is None else swept(design, *_values(swept_option))
    study = Study(spec, level, points, chips)
    progress = SweepProgress(chip_count(study))
    with progress.shown(), out.quiet_stdout():
        rows = sweep(study, output, progress, simulate)
    if csv is not None:
        atomic_write(csv, csv_text(rows).encode())
    if plot is not None:
        from oscsim.monte_carlo.figure import png  # matplotlib takes a second to import

        atomic_write(plot, png(study, rows))
    out.write_json(_content(study, design, rows, output))
    _show(out, study, rows, output)


def _values(given: str) -> tuple[str, list[Any]]:
    option, equals, values = given.partition("=")
    if not (option and equals and values):
        raise ConfigError(f"--sweep: given {given!r}, expected OPTION=VALUE,VALUE,...")
    return option, [read_option(value) for value in values.split(",")]


def _circuit(options: dict[str, Any]) -> tuple[CircuitDesign, Any]:
    """A design with the simulator's own options, and what runs it."""
    from hw_targets import get_target

    target = get_target("circuit")
    target.require()

    def simulate(spec: PhaseLayerSpec, design: CircuitDesign):
        return target.lower(spec, design).run()

    return checked(target.config_class, options), simulate


def _content(study: Study, design: CircuitDesign, rows: list[Row], folder: str) -> dict[str, Any]:
    return {
        "folder": folder,
        "layer": study.spec.digest,
        "level": study.level,
        "confidence": 0.95,
        "design": json_module.loads(design.model_dump_json()),
        "rows": [dataclasses.asdict(row) for row in rows],
    }


def _show(out: Output, study: Study, rows: list[Row], folder: str) -> None:
    def shown(value: float | None, low: float | None, high: float | None) -> str:
        return "–" if value is None else f"{value:.4f} ({low:.4f}–{high:.4f})"

    weighs = rows[0].built_error is not None  # a network has no cells with couplers of their own
    out.table(
        [
            "imperfect", "chips", "locked", "mask agreement (95 %)", "rms S error (95 %)",
            "J as built (95 %)" if weighs else "unsettled",
        ],
        [
            [
                row.label, row.chips, row.locked,
                shown(row.agreement, row.agreement_low, row.agreement_high),
                shown(row.error, row.error_low, row.error_high),
                shown(row.built_error, row.built_low, row.built_high) if weighs else row.unsettled,
            ]
            for row in rows
        ],
    )  # fmt: skip
    out.print(Text(f"level {study.level}: {LEVELS[study.level]}"))
    out.print(Text(f"{rows[0].cells} cells a chip: unmasked, without the diagonal"))
    alone = [row for row in rows if row.option is None and row.label not in ("none", "all")]
    if len(alone) > 1:
        parts = sum(row.error**2 for row in alone) ** 0.5
        out.print(
            Text(f"root of the summed squares of the parts: {parts:.4f}; all together: {rows[-1].error:.4f}")
        )
    if any(row.unsettled for row in rows):
        share = max(row.unsettled for row in rows)
        out.print(Text(f"up to {share:.0%} of the chips had not settled; they count"))
    out.print(Text(folder))
