"""Phase layers from a trained model to hardware targets and back.

Exit codes: 0 conforms (or done), 1 does not conform or did not converge, 2 bad input, 3 package missing.
"""

from importlib import metadata
from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from hw_targets import get_target, target_names
from oscsim.cli import arguments as arg
from oscsim.cli.bench import bench
from oscsim.cli.convergence import convergence
from oscsim.cli.describe import describe, summary
from oscsim.cli.diagnose import diagnose
from oscsim.cli.energy import energy
from oscsim.cli.evaluate import evaluate
from oscsim.cli.export import export
from oscsim.cli.files import check_distinct, check_suffix, checked_folder, checked_path
from oscsim.cli.generate import generate
from oscsim.cli.guard import ExitCode, GuardedGroup
from oscsim.cli.imperfections import imperfections
from oscsim.cli.model_file import load_model, named
from oscsim.cli.options import read_text, settings_by_target, target_config, text_file
from oscsim.cli.output import Output
from oscsim.cli.progress import Steps
from oscsim.cli.regime import regime
from oscsim.cli.run import run
from oscsim.cli.spice import spice
from oscsim.cli.tables import show_doctor, show_info, show_result, show_trials
from oscsim.cli.train import train
from oscsim.reference import solve as solve_layer
from oscsim.spec import PhaseLayerSpec
from oscsim.trial import attempt, comparison_json, exit_code

DEMO_TEXT = "'Off with her head!' the Queen shouted at the top of her voice. Nobody\nmoved."

app = typer.Typer(
    cls=GuardedGroup, no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False, help=__doc__
)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"oscsim {metadata.version('oscsim-codesign')}")
        raise typer.Exit


@app.callback(help=__doc__)
def oscsim(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print it.")
    ] = False,
) -> None:
    """Options before the command."""


@app.command()
def demo(
    text: arg.Text = DEMO_TEXT,
    block: arg.Block = 1,
    output: Annotated[str, typer.Option(help="Folder for report.html and result.json.")] = "demo",
    picture: Annotated[str | None, typer.Option(metavar="FILE.png", help="Also one picture as PNG.")] = None,
    checkpoint: Annotated[str, typer.Option(help="A model file.")] = arg.SHIPPED,
    json: arg.Json = None,
) -> None:
    """Run one real layer on every target and write a report (64 to 512 bytes of text)."""
    from oscsim.demo import sections as demonstration
    from oscsim.demo.files import REPORT, RESULT, write_demo

    out, passage = Output(json), demonstration.check_text(read_text(text))
    checked_folder(output, "--output")
    pages = {f"--output {name}": str(Path(output) / name) for name in (REPORT, RESULT)}
    for option, path in {**pages, "--picture": picture}.items():
        checked_path(path, option, exists=False)
    written = {"--output": output, **pages, "--picture": picture, "--json": json}
    check_distinct({"--checkpoint": named(checkpoint), "--text": text_file(text)}, written)
    check_suffix(picture, "--picture", ".png")
    targets, circuit = [get_target(name) for name in target_names()], get_target("circuit")
    for target in (*targets, circuit):
        target.require()
    steps = Steps(2 + demonstration.step_count(targets))
    with out.quiet_stdout():
        with steps("load the model, take the layer"):
            model, facts = load_model(checkpoint, written)
            layer = model.to_spec(passage, block=block, dynamics="pair")
        subject = demonstration.Subject(passage, facts, block, layer)
        outcome = demonstration.run(subject, targets, circuit, steps, counted=[get_target("spice")])
        with steps("draw and write the report"):
            content = write_demo(outcome, output, picture)
    out.write_json(content)
    show_trials(out, outcome.trials, outcome.labels)
    out.print(Text(f"{output}/report.html"))
    raise typer.Exit(exit_code(outcome.trials, target_names()))


app.command()(export)


@app.command()
def info(layer_file: arg.LayerFile, json: arg.Json = None) -> None:
    """Say what a layer is: shapes, dynamics, coupling, locked share, fields without effect."""
    out = Output(json)
    check_distinct({"FILE.phase": layer_file}, {"--json": json})
    facts = describe(PhaseLayerSpec.load(layer_file))
    out.write_json({"path": layer_file, **facts})
    show_info(out, layer_file, facts)


@app.command()
def solve(layer_file: arg.LayerFile, output: arg.ResultFile = None, json: arg.Json = None) -> None:
    """Solve a layer in closed form, the reference every target is compared with."""
    out = Output(json)
    checked_path(output, "--output")
    check_distinct({"FILE.phase": layer_file}, {"--output": output, "--json": json})
    result = solve_layer(PhaseLayerSpec.load(layer_file))
    if output is not None:
        result.save(output)
    out.write_json({**summary(result), "saved": output})
    show_result(out, result, output)


@app.command()
def compare(
    layer_file: arg.LayerFile,
    target: arg.Targets = None,
    settings: arg.TargetSettings = None,
    json: arg.Json = None,
) -> None:
    """Run a layer on targets and compare each with the closed form.

    A layer without an exact answer gives a finding, which counts as done. A target that cannot represent
    the layer is 'unsupported': exit 2 if it was asked for by name, or if no target can.
    """
    out = Output(json)
    check_distinct({"FILE.phase": layer_file}, {"--json": json})
    spec = PhaseLayerSpec.load(layer_file)
    targets = [get_target(name) for name in dict.fromkeys(target or target_names())]
    options = settings_by_target(settings or (), [chosen.name for chosen in targets])
    configs = [target_config(chosen, options[chosen.name]) for chosen in targets]
    steps, reference, trials = Steps(len(targets)), solve_layer(spec), []
    with out.quiet_stdout():
        for chosen, config in zip(targets, configs, strict=True):
            with steps(chosen.name):
                trials.append(attempt(chosen, config, spec, reference))
    out.write_json(comparison_json(spec, reference, trials))
    show_trials(out, trials)
    raise typer.Exit(exit_code(trials, target or ()))


@app.command()
def doctor(json: arg.Json = None) -> None:
    """Say what is installed, what is missing, and the command that installs it."""
    from oscsim import doctor as examination

    out = Output(json)
    check_distinct({}, {"--json": json})
    names = (*target_names(), "spice")  # target circuit needs what brian2 needs
    targets = examination.target_findings(get_target(name) for name in names)
    others = [
        examination.models_finding(),
        examination.checkpoint_finding(lambda: str(load_model(arg.SHIPPED, {})[1]["sha256"])),
        examination.cuda_finding(),
        examination.cpu_kernels_finding(_check_cpu_kernels),
    ]
    content = examination.to_json(targets, others)
    out.write_json(content)
    show_doctor(out, content)
    missing = any(not finding.ok for finding in targets)
    broken = any(not finding.ok for finding in others)
    raise typer.Exit(
        ExitCode.BACKEND_MISSING if missing else ExitCode.DIFFERS if broken else ExitCode.CONFORMS
    )


for _command in (
    run,
    convergence,
    bench,
    train,
    evaluate,
    generate,
    diagnose,
    regime,
    imperfections,
    spice,
    energy,
):
    app.command()(_command)


def _check_cpu_kernels() -> str:
    """Where the compiled CPU kernels of the triton target are, or what is going to compile them."""
    from hw_targets.triton.ops.native import build

    return build.check()


def main() -> None:
    """Entry point of the ``oscsim`` command."""
    app()


if __name__ == "__main__":
    main()
