"""``oscsim export``: a layer of a model as a .phase file, or any layer as a netlist or as Lava processes."""

from pathlib import Path
from typing import Annotated

import typer

from oscsim.cli import arguments as arg
from oscsim.cli.describe import describe
from oscsim.cli.export_lava import check_new_folder, lava_facts, write_lava
from oscsim.cli.export_netlist import netlist_facts, write_netlist
from oscsim.cli.export_source import Format, model_layer, saved_layer, seconds
from oscsim.cli.files import check_distinct, checked_path
from oscsim.cli.model_file import named
from oscsim.cli.options import text_file
from oscsim.cli.output import Output
from oscsim.cli.tables import show_info
from oscsim.errors import ConfigError

LAYER_SUFFIX = ".phase"


def export(
    source: Annotated[
        str,
        typer.Argument(
            metavar="CHECKPOINT|FILE.phase",
            help=f"A model file, '{arg.SHIPPED}' for the one that came with this package, or a layer.",
        ),
    ],
    output: Annotated[
        str,
        typer.Option("--output", "-o", metavar="FILE|FOLDER", help="File to write; of lava a new folder."),
    ],
    form: Annotated[
        Format,
        typer.Option(
            "--format", help="A phase layer, a netlist for ngspice, or a script with Lava processes."
        ),
    ] = Format.PHASE,
    text: Annotated[
        str | None, typer.Option(metavar="TEXT|@FILE", help="Model only: the passage, or @ and its file.")
    ] = None,
    block: Annotated[int | None, typer.Option(help="Model only: block, counted from 0; default: 0.")] = None,
    dynamics: Annotated[
        arg.Dynamics | None, typer.Option(help="Model only: which machine; default: the model's own.")
    ] = None,
    duration: Annotated[
        float | None, typer.Option(help="Clamped only: time units; default: the model's own.")
    ] = None,
    time_unit: Annotated[
        str | None,
        typer.Option(
            "--time-unit",
            metavar="SECONDS",
            help="Physical time unit; default: the layer's own, of a model's netlist the shortest safe one.",
        ),
    ] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="OPTION=VALUE", help="Backends only: target option; repeatable."),
    ] = None,
    json: arg.Json = None,
) -> None:
    """Save one layer of a trained model as a .phase file, or a layer for a backend (--format spice, lava).

    With --format lava the layer is run, and the folder holds a script that repeats the run with lava-nc and
    numpy alone and compares every state. A layer trained with pair dynamics seldom locks as a whole network:
    expect such a run to take minutes and to end without a verdict.
    """
    out, from_layer = Output(json), Path(source).suffix == LAYER_SUFFIX
    _check(form, output, settings, time_unit)
    unit_s = None if time_unit is None else seconds(time_unit)
    written = {"--output": output, "--json": json}
    inputs = {"FILE.phase" if from_layer else "CHECKPOINT": named(source), "--text": text and text_file(text)}
    check_distinct(inputs, written)
    if from_layer:
        model_options = {"--text": text, "--block": block, "--dynamics": dynamics, "--duration": duration}
        layer, facts = saved_layer(source, form, model_options), {}
    else:
        layer, facts = model_layer(source, text, block or 0, dynamics, duration, written)
    if unit_s is not None:
        layer = layer.replace(time_unit_s=unit_s)
    shown = None
    if form is Format.SPICE:
        fit = not from_layer and unit_s is None
        layer, plan, written_as = write_netlist(layer, output, settings, fit)
        facts, shown = facts | written_as, netlist_facts(plan, output)
    elif form is Format.LAVA:
        with out.quiet_stdout():
            written_as = write_lava(layer, output, settings)
        facts, shown = facts | written_as, lava_facts(written_as, output)
    else:
        layer.save(output)
    description = describe(layer)
    out.write_json({"path": output, "format": str(form), **facts, **description})
    show_info(out, output, description if shown is None else shown)


def _check(form: Format, output: str, settings: list[str] | None, time_unit: str | None) -> None:
    """Refuse impossible names and options without effect before anything is computed.

    Raises
    ------
    ConfigError
        names the option.
    """
    if form is Format.LAVA:
        check_new_folder(output)
    else:
        checked_path(output, "--output")
    if form is Format.PHASE and settings:
        raise ConfigError(
            f"--set: given {settings[0]} with --format phase, where it has no effect: a layer knows no "
            "circuit; leave it out, or add --format spice or lava"
        )
    if form is Format.LAVA and time_unit is not None:
        raise ConfigError(
            f"--time-unit: given {time_unit} with --format lava, where it has no effect: time steps of Lava "
            "have no length in seconds; leave it out"
        )
