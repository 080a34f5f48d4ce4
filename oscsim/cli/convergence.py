"""``oscsim convergence``: a circuit family against its own phase reduction and against the closed form."""

import csv as csv_module
import dataclasses
import io
from dataclasses import asdict, fields
from typing import Annotated, Any

import typer
from rich.text import Text

from hw_targets import get_target
from oscsim.circuits.design import FAMILIES
from oscsim.cli import arguments as arg
from oscsim.cli.files import check_distinct, check_suffix, checked_path
from oscsim.cli.guard import ExitCode
from oscsim.cli.options import split_settings, target_config
from oscsim.cli.output import Output
from oscsim.cli.progress import say
from oscsim.cli.sweep_progress import SweepProgress
from oscsim.convergence.plan import Plan, studied
from oscsim.convergence.row import Row
from oscsim.convergence.study import RATIOS, Study
from oscsim.errors import ConfigError
from oscsim.io import atomic_write

_FAMILIES = ", ".join(FAMILIES)
# Errors of the order law are themselves small: the simulation has to be better than they are.
_ACCURACY = "1e-6"
# Runs go on for this many times as long as they are expected to need, and none is longer than an hour's.
_PATIENCE, _MOST_CYCLES = 4.0, 60_000.0


def convergence(
    family: Annotated[str, typer.Option(help=f"One of {_FAMILIES}.")] = "lc",
    epsilon: Annotated[
        list[float] | None,
        typer.Option(help="Locking strength relative to the carrier; repeat. Default: from the family."),
    ] = None,
    ratio: Annotated[
        list[float] | None,
        typer.Option(help=f"d/a of the pairs; repeat. Default: {', '.join(map(str, RATIOS))}."),
    ] = None,
    network: Annotated[
        list[int] | None, typer.Option(help="Also networks of so many oscillators; repeat.")
    ] = None,
    seeds: Annotated[int, typer.Option(help="Networks per size and spread.")] = 2,
    settings: arg.Settings = None,
    json: arg.Json = None,
    csv: Annotated[str | None, typer.Option("--csv", metavar="FILE", help="Every row as CSV.")] = None,
    plot: Annotated[str | None, typer.Option("--plot", metavar="FILE.png", help="The laws.")] = None,
) -> None:
    """Compare circuits with theory: three comparisons, each with its own law.

    The circuit against its own phase reduction (error proportional to epsilon: the strict test), that
    reduction against the closed form (a constant of the family), and the circuit against the closed form
    (what a user gets). Exit 1 when the first is not of order 1 +- 0.25, a run has not converged, or a lock
    decision differs from the circuit's own law.
    """
    out = Output(json)
    written = {"--json": json, "--csv": csv, "--plot": plot}
    for option in ("--csv", "--plot"):
        checked_path(written[option], option)
    check_distinct({}, written)
    check_suffix(plot, "--plot", ".png")
    if family not in FAMILIES:
        raise ConfigError(f"--family: given {family!r}, expected one of {_FAMILIES}")
    options = split_settings(settings or ())
    if "family" in options:
        raise ConfigError("--set: family is given by --family; leave it out of --set")
    target = get_target("circuit")
    given = {"phase_accuracy": _ACCURACY, **options, "family": family}
    config: Any = target_config(target, given)
    plan = Plan.of(config, epsilon or (), ratio or RATIOS, network or (), seeds)
    patience = _cycles(plan, config.max_cycles if "max_cycles" in options else None)
    config = target_config(target, {**given, "max_cycles": f"{patience:.6g}"})
    plan = dataclasses.replace(plan, design=config)
    progress = SweepProgress(len(plan.work))
    with out.quiet_stdout(), progress.shown():
        study = studied(plan, lambda layer: target.lower(layer, config).run(), progress)
    out.write_json(study.to_json())
    if csv is not None:
        atomic_write(csv, csv_text(study).encode())
    if plot is not None:
        from oscsim.convergence.figure import png  # matplotlib takes a second to import

        atomic_write(plot, png(study))
    _show(out, study)
    raise typer.Exit(ExitCode.DIFFERS if study.failures else ExitCode.CONFORMS)


def _cycles(plan: Plan, given: float | None) -> float:
    """How long runs may take; refused before anything runs when that cannot be enough.

    Raises
    ------
    ConfigError
        the slowest circuit needs more cycles than given, or than can be waited for.
    """
    most = _MOST_CYCLES if given is None else given
    if plan.cycles > most:
        raise ConfigError(
            f"--epsilon: given {min(plan.epsilon):g}, at which the slowest circuit needs {plan.cycles:.3g} "
            f"carrier cycles, expected at most {most:g}; choose a larger epsilon, ratios farther from 1, or "
            "--set max_cycles"
        )
    return given or max(100.0, min(_PATIENCE * plan.cycles, _MOST_CYCLES))


def csv_text(study: Study) -> str:
    """One line per row, columns named as in :class:`oscsim.convergence.row.Row`."""
    text = io.StringIO()
    writer = csv_module.DictWriter(text, [field.name for field in fields(Row)], lineterminator="\n")
    writer.writeheader()
    writer.writerows(asdict(row) for row in study.rows)
    return text.getvalue()


def _show(out: Output, study: Study) -> None:
    columns = (
        "layer",
        "ε",
        "d/a or spread",
        "own law",
        "floor",
        "closed form",
        "locks: own",
        "closed",
        "status",
    )
    lines = []
    for row in study.rows:
        name = row.kind if row.kind == "pair" else f"network N={row.count} seed {row.seed}"
        errors = (row.own, row.floor, row.closed)
        lines.append(
            [
                name,
                f"{row.epsilon:.3g}",
                f"{row.ratio:g}",
                *errors,
                row.own_locks,
                row.closed_locks,
                row.status,
            ]
        )
    out.print(Text("error of S: circuit - own law, own law - closed form (floor), circuit - closed form"))
    out.table(columns, lines)
    laws = [
        [law.kind, law.comparison, *_order(law.order), " ".join(f"{error:.2g}" for error in law.error)]
        for law in study.laws
    ]
    out.table(("layers", "comparison", "order", "95 % interval", "rms error by falling ε"), laws)
    for sentence in study.failures:
        say(sentence)


def _order(order: Any) -> tuple[str, str]:
    if order is None:
        return "–", "–"
    return f"{order.exponent:.2f}", "–" if order.low != order.low else f"{order.low:.2f} to {order.high:.2f}"
