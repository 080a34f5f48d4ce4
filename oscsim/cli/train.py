"""``oscsim train``: one of the models, on bytes, in a folder, from one command."""

import os
from collections.abc import Iterable
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from oscsim.cli import arguments as arg
from oscsim.cli.dataclass_options import replaced
from oscsim.cli.files import check_distinct, checked_folder
from oscsim.cli.model_file import (
    best_precision,
    checked_implementation,
    chosen_device,
    cpu_threads,
    models_needed,
)
from oscsim.cli.options import data_file, split_settings
from oscsim.cli.output import Output
from oscsim.cli.train_progress import TrainProgress
from oscsim.errors import ConfigError

_OF_TRAINING = "training."
_OWN_OPTIONS = ("steps", "batch", "learning_rate", "seed", "precision", "compile", "implementation")


def train(
    model: Annotated[str, typer.Option(help="transformer, kuramoto or osn.")],
    data: arg.Data,
    preset: Annotated[
        str, typer.Option(help="tiny (0.25 M parameters), 1m or 5m: shape and training, matched over models.")
    ] = "tiny",
    steps: Annotated[int | None, typer.Option(help="Optimiser steps; default: the preset's.")] = None,
    batch: Annotated[
        int | None, typer.Option(help="Passages per step, over all processes; default: the preset's.")
    ] = None,
    learning_rate: Annotated[
        float | None, typer.Option(help="Largest of the schedule; default: the preset's.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Of parameters, batches and dropout.")] = 0,
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="KEY=VALUE",
            help="Field of the model (context=64, gates=false) or training.FIELD; repeatable.",
        ),
    ] = None,
    precision: Annotated[
        str | None,
        typer.Option(help="float32 or bfloat16; default: bfloat16 where a CUDA device has it, else float32."),
    ] = None,
    compile_: Annotated[bool, typer.Option("--compile", help="Let torch.compile build the step.")] = False,
    impl: arg.Implementation = None,
    device: arg.Device = None,
    threads: arg.Threads = None,
    output: Annotated[
        str | None, typer.Option("--output", "-o", help="Folder; default: runs/MODEL-DATA-PRESET-sSEED.")
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on where the folder's run was stopped, if it has one.")
    ] = False,
    json: arg.Json = None,
) -> None:
    """Train a model and measure it: one folder with model, results, log, checkpoint and event files.

    Killed at any moment and started again with --resume, it ends as if nothing had happened. Several
    processes share a batch: torchrun --nproc_per_node=2 -m oscsim train ... Exit 1 when the loss is no
    number any more.
    """
    first = os.environ.get("RANK", "0") == "0"  # of torchrun's processes, the one that speaks
    out = Output(json if first else None)
    chosen = {"steps": steps, "batch": batch, "learning_rate": learning_rate}
    device = chosen_device(device, threads)
    config, training = _configs(model, preset, split_settings(settings or ()), {
        **{name: value for name, value in chosen.items() if value is not None}, "seed": seed,
        "precision": precision or best_precision(device), "compile": compile_,
        "implementation": checked_implementation(impl, device),
    })  # fmt: skip
    with models_needed():
        from models.data import load_data
        from models.training import train as run
        from models.training.folder import NAMES
    loaded = load_data(data, config.context)
    folder = checked_folder(output or f"runs/{model}-{loaded.name}-{preset}-s{seed}", "--output")
    written = {f"--output {name}": str(Path(folder) / name) for name in NAMES}
    check_distinct({"--data": data_file(data)}, {**written, "--json": json})
    if first:
        out.facts(f"{model} on {loaded.name}", _plan(training, config, device, folder))
    progress = TrainProgress(training.steps)
    with out.quiet_stdout(), progress.shown() if first else nullcontext():
        report = progress if first else None
        outcome = run(model, config, training, loaded, folder, report, resume=resume, device=device)
    if first:
        out.write_json({
            "folder": folder, "steps_before": outcome.steps_before, "steps_done": outcome.steps_done,
            **outcome.results,
        })  # fmt: skip
        out.facts(folder, _results(outcome))


def _configs(model: str, preset: str, settings: dict[str, str], chosen: dict[str, Any]) -> tuple[Any, Any]:
    """The configurations of a preset with everything changed that the user named."""
    with models_needed():
        from models.presets import preset as preset_of
    if not 0 <= chosen["seed"] < 2**63:
        raise ConfigError(f"--seed: given {chosen['seed']}, expected 0 to 2^63 - 1")
    config, training = preset_of(model, preset)
    of_training = {key: text for key, text in settings.items() if key.startswith(_OF_TRAINING)}
    of_model = {key: text for key, text in settings.items() if key not in of_training}
    config = replaced(config, of_model, model)
    if getattr(config, "causal", True) is False:
        raise ConfigError(
            "--set: given causal=false, but a language model may not see the byte that it has to predict; "
            "leave it out"
        )
    named = {key.removeprefix(_OF_TRAINING): text for key, text in of_training.items()}
    training = replaced(training, named, "training", _OWN_OPTIONS)
    return config, replace(training, **chosen)


def _plan(training: Any, config: Any, device: str, folder: str) -> Iterable[tuple[str, Any]]:
    return (
        ("steps", f"{training.steps:,} of {training.batch} x {config.context} bytes"),
        ("learning rate", f"{training.learning_rate:g}, {_peak(training)}"),
        ("precision", training.precision),
        ("device", f"{device}, {cpu_threads()} threads"),
        ("folder", folder),
    )


def _peak(training: Any) -> str:
    """When the schedule reaches its largest rate, which a short run may never do."""
    if training.warm_up >= training.steps:
        return f"never reached: the warm-up takes {training.warm_up:,} steps"
    return f"from step {training.warm_up:,} on falling to a tenth"


def _results(outcome: Any) -> Iterable[tuple[str, Any]]:
    results = outcome.results
    already = "; the run was complete already" if outcome.already_complete else ""
    return (
        ("parameters", f"{results['parameters']:,}"),
        ("steps before, now", f"{outcome.steps_before}, {outcome.steps_done}{already}"),
        ("validation bits per byte", f"{results['validation_bits_per_byte']:.4f}"),
        ("test bits per byte", f"{results['test_bits_per_byte']:.4f}"),
        ("wall time", "unknown" if results["wall_time_s"] is None else f"{results['wall_time_s']:.1f} s"),
    )
