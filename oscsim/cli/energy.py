"""``oscsim energy``: what a layer costs in joules on every kind of hardware, with ranges and sources."""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from hw_targets import circuit_names, get_target, target_names
from oscsim.cli import arguments as arg
from oscsim.cli.energy_tables import show_report
from oscsim.cli.energy_validate import validate as validate_model
from oscsim.cli.files import check_distinct, check_suffix, checked_path
from oscsim.cli.hardware_options import option_of, with_hardware
from oscsim.cli.output import Output
from oscsim.cli.progress import Steps
from oscsim.energy import Book, OscillatorHardware, load_constants
from oscsim.energy.measured import MeasuredEnergy
from oscsim.energy.plan_counts import counts_by_target
from oscsim.energy.report import EnergyReport, clocked_layer, energy_report
from oscsim.errors import ConfigError
from oscsim.spec import PhaseLayerSpec

JSON_VERSION = 1
_PAIR_ONLY = ("cell", "cell_clock", "read_out", "edge_band")


@with_hardware
def energy(
    layer_files: Annotated[
        list[str] | None, typer.Argument(metavar="FILE.phase...", help="Phase layers, see oscsim export.")
    ] = None,
    *,
    hardware: dict[str, Any],
    device: Annotated[
        str | None, typer.Option(help="GPU of the best case: h200 (the default) or a100.")
    ] = None,
    constants: Annotated[
        list[str] | None,
        typer.Option(metavar="FILE.csv", help="Constants of your own, over the shipped ones; repeatable."),
    ] = None,
    allow_recalled: Annotated[
        bool, typer.Option("--allow-recalled", help="Use constants from memory, too; results say so.")
    ] = False,
    plot: Annotated[
        str | None, typer.Option("--plot", metavar="FILE.png", help="Of one layer, or of --validate.")
    ] = None,
    measure: Annotated[
        bool, typer.Option("--measure", help="Also measure the triton kernels on this GPU (NVML; 30 s each).")
    ] = False,
    details: Annotated[
        bool, typer.Option("--details", help="Every item with its formula, constants and citations.")
    ] = False,
    validate: Annotated[
        bool, typer.Option("--validate", help="Replay published devices instead; takes no layer.")
    ] = False,
    chips: Annotated[
        str | None, typer.Option(metavar="FILE.csv", help="Devices for --validate, instead of ours.")
    ] = None,
    json: arg.Json = None,
) -> None:
    """Estimate the energy of layers: counts of what happens times constants with a source, as 95 % ranges.

    Oscillators as pair cells and as one network, what the plans of all targets count, and digital baselines.
    A number that cannot be had honestly is refused, with the reason (docs/energy.md).
    """
    files, tables = layer_files or [], constants or []
    out = Output(json)
    checked_path(plot, "--plot")
    check_suffix(plot, "--plot", ".png")
    inputs = {f"FILE.phase {path}": path for path in files} | {f"--constants {path}": path for path in tables}
    check_distinct({**inputs, "--chips": chips}, {"--plot": plot, "--json": json})
    given = {option_of(name): value for name, value in hardware.items()}
    given |= {"--device": device, "--details": details or None, "FILE.phase": files or None}
    given["--measure"] = measure or None
    if validate:
        _refuse("--validate", given)
    else:
        _refuse("a layer", {"--chips": chips})
    book = load_constants(*map(Path, tables), allow_recalled=allow_recalled)
    if validate:
        validate_model(out, book, chips, plot)
        return
    if not files:
        raise ConfigError("FILE.phase: given none, expected at least one; or use --validate")
    if plot is not None and len(files) > 1:
        raise ConfigError(f"--plot: given with {len(files)} layers, expected one; plot them one by one")
    layers = [PhaseLayerSpec.load(path) for path in files]  # all of them, before any work
    measured = measure_layers(files, layers) if measure else {}
    reports = _reports(files, layers, OscillatorHardware.of(**hardware), book, device or "h200")
    pictures = {}
    if plot is not None:
        from oscsim.energy.figure import png  # matplotlib takes a second to import

        pictures[plot] = png(reports[0])
    out.write_json(_content(files, reports, measured), pictures)
    for path, report in zip(files, reports, strict=True):
        show_report(out, path, report, details, measured.get(path))


def _refuse(asked: str, given: dict[str, Any]) -> None:
    surplus = [option for option, value in given.items() if value is not None]
    if surplus:
        raise ConfigError(f"{', '.join(surplus)}: given with {asked}, where it does nothing; leave it out")


def measure_layers(files: Sequence[str], layers: Sequence[PhaseLayerSpec]) -> dict[str, MeasuredEnergy]:
    """Joules of every layer's kernels on the GPU of this machine; TargetUnavailable where there is none."""
    get_target("triton").require()
    from hw_targets.triton.bench.layer_energy import layer_energy

    steps, measured = Steps(len(files)), {}
    for path, layer in zip(files, layers, strict=True):
        with steps(f"measuring {path}"):
            measured[path] = layer_energy(layer)
    return measured


def _reports(
    files: Sequence[str],
    layers: Sequence[PhaseLayerSpec],
    hardware: OscillatorHardware,
    book: Book,
    device: str,
) -> list[EnergyReport]:
    for path, layer in zip(files, layers, strict=True):
        _refuse(f"the clamped layer {path}", _idle(layer, hardware))
    targets = [get_target(name) for name in (*target_names(), *circuit_names())]
    steps, reports = Steps(len(files)), []
    for path, layer in zip(files, layers, strict=True):
        with steps(f"energy of {path}"):
            counts = counts_by_target(targets, clocked_layer(layer, hardware), hardware)
            reports.append(energy_report(layer, hardware, counts, book, device=device))
    return reports


def _idle(layer: PhaseLayerSpec, hardware: OscillatorHardware) -> dict[str, Any]:
    """Options that were given and change nothing for a layer: a clamped one has no pair cells."""
    if layer.dynamics != "clamped":
        return {}
    idle = _PAIR_ONLY if math.isinf(layer.duration) else (*_PAIR_ONLY, "stop")
    return {option_of(name): getattr(hardware, name) for name in idle if name in hardware.model_fields_set}


def _content(
    files: Sequence[str], reports: Sequence[EnergyReport], measured: Mapping[str, MeasuredEnergy]
) -> dict[str, Any]:
    layers: list[dict[str, Any]] = []
    for path, report in zip(files, reports, strict=True):
        layers.append({"path": path, **report.to_json()})
        if path in measured:
            layers[-1]["measured"] = measured[path].to_json()
    return {"schema_version": JSON_VERSION, "layers": layers}
