"""``oscsim export``: a layer of a trained model as a .phase file, or any layer as an ngspice netlist."""

import math
import shlex
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from hw_targets import get_target
from oscsim.circuits.fit import fitted
from oscsim.cli import arguments as arg
from oscsim.cli.describe import describe
from oscsim.cli.files import check_distinct, checked_path
from oscsim.cli.model_file import load_model, named
from oscsim.cli.options import read_text, split_settings, target_config, text_file
from oscsim.cli.output import Output
from oscsim.cli.progress import say
from oscsim.cli.tables import show_info
from oscsim.errors import ConfigError
from oscsim.io import atomic_write
from oscsim.spec import PhaseLayerSpec
from oscsim.target import Plan

LAYER_SUFFIX = ".phase"


class Format(StrEnum):
    """Names that ``export --format`` takes."""

    PHASE = "phase"
    SPICE = "spice"


def export(
    source: Annotated[
        str,
        typer.Argument(
            metavar="CHECKPOINT|FILE.phase",
            help=f"A model file, '{arg.SHIPPED}' for the one that came with this package, or a layer.",
        ),
    ],
    output: Annotated[str, typer.Option("--output", "-o", metavar="FILE", help="File to write.")],
    form: Annotated[
        Format, typer.Option("--format", help="A phase layer, or a netlist for ngspice.")
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
        typer.Option("--set", metavar="OPTION=VALUE", help="Netlist only: target option; repeatable."),
    ] = None,
    json: arg.Json = None,
) -> None:
    """Save one layer of a trained model as a .phase file, or a layer as a netlist (--format spice).

    A layer trained with pair dynamics seldom locks as a whole network: expect such a run to take minutes
    and to end without a verdict.
    """
    out, from_layer = Output(json), Path(source).suffix == LAYER_SUFFIX
    checked_path(output, "--output")
    unit_s = None if time_unit is None else _seconds(time_unit)
    written = {"--output": output, "--json": json}
    inputs = {"FILE.phase" if from_layer else "CHECKPOINT": named(source), "--text": text and text_file(text)}
    check_distinct(inputs, written)
    if form is Format.PHASE and settings:
        raise ConfigError(
            f"--set: given {settings[0]} with --format phase, where it has no effect: a layer knows no "
            "circuit; leave it out, or add --format spice"
        )
    if from_layer:
        model_options = {"--text": text, "--block": block, "--dynamics": dynamics, "--duration": duration}
        layer, facts = _saved_layer(source, form, model_options), {}
    else:
        layer, facts = _model_layer(source, text, block or 0, dynamics, duration, written)
    if unit_s is not None:
        layer = layer.replace(time_unit_s=unit_s)
    shown = None
    if form is Format.SPICE:
        fit = not from_layer and unit_s is None
        layer, plan, written_as = _write_netlist(layer, output, settings, fit)
        facts, shown = facts | written_as, _netlist_facts(plan, output)
    else:
        layer.save(output)
    description = describe(layer)
    out.write_json({"path": output, "format": str(form), **facts, **description})
    show_info(out, output, description if shown is None else shown)


def _seconds(given: str) -> float:
    """The number of ``--time-unit``.

    Raises
    ------
    ConfigError
        not a positive number: a unit behind it, for example.
    """
    try:
        value = float(given)
    except ValueError:
        value = math.nan
    if not 0.0 < value < math.inf:
        raise ConfigError(f"--time-unit: given {given}, expected seconds, for example 1e-7")
    return value


def _saved_layer(source: str, form: Format, model_options: dict[str, Any]) -> PhaseLayerSpec:
    """A .phase file; options that only a model understands are refused.

    Raises
    ------
    ConfigError
        such an option, or a layer that would only be copied.
    """
    if form is Format.PHASE:
        raise ConfigError(f"given {source}, a layer already, expected a model file; or add --format spice")
    for option, value in model_options.items():
        if value is not None:
            raise ConfigError(
                f"{option}: given {value} with the layer {source}, where it has no effect; leave it out"
            )
    return PhaseLayerSpec.load(source)


def _model_layer(
    source: str,
    text: str | None,
    block: int,
    dynamics: arg.Dynamics | None,
    duration: float | None,
    written: dict[str, str | None],
) -> tuple[PhaseLayerSpec, dict[str, Any]]:
    if text is None:
        raise ConfigError("--text: not given, expected the passage the model reads (TEXT or @FILE)")
    passage = read_text(text)
    model, facts = load_model(source, written)
    fields = {} if duration is None else {"duration": duration}
    layer = model.to_spec(passage, block=block, dynamics=dynamics and str(dynamics), **fields)
    if duration is not None and layer.dynamics != "clamped":
        raise ConfigError(
            f"--duration: given {duration} for a {layer.dynamics} layer; only clamped layers have one"
        )
    return layer, {"checkpoint": facts, "block": block}


def _write_netlist(
    layer: PhaseLayerSpec, output: str, settings: list[str] | None, fit: bool
) -> tuple[PhaseLayerSpec, Plan, dict[str, Any]]:
    target = get_target("spice")
    config: Any = target_config(target, split_settings(settings or ()))
    if fit:
        safe = fitted(layer, config)
        if safe.time_unit_s != layer.time_unit_s:
            say(
                f"time_unit_s: {safe.time_unit_s:g} instead of {layer.time_unit_s:g}, the shortest at which "
                f"family {config.family} represents this layer; --time-unit chooses another"
            )
        layer = safe
    executable: Any = target.lower(layer, config)
    plan: Plan = executable.plan
    for doubt in plan["circuit"]["warnings"]:
        say(f"warning: {doubt}")
    atomic_write(output, executable.netlist.encode("ascii"))
    facts = {name: plan[name] for name in ("circuit", "components", "exported")}
    return layer, plan, facts | {"plan_digest": plan.digest, "settings": config.model_dump()}


def _netlist_facts(plan: Plan, output: str) -> dict[str, Any]:
    """What is in a netlist and how to run it."""
    circuit, exported = plan["circuit"], plan["exported"]
    return {
        "circuit": f"{circuit['family']}, {circuit['model']}; {circuit['made_of']}",
        **{name: str(part) for name, part in plan["components"].items()},
        "carrier cycles": f"{exported['cycles']:g}, saved from {exported['saved_from_cycle']:g} on",
        "predicted": f"about {exported['predicted_s']:g} s",
        "run it with": f"ngspice -b {shlex.quote(output)}",
    }
