"""``oscsim run``: a layer on one target, and on request where its error comes from."""

from typing import Annotated, Any

import typer

from hw_targets import circuit_names, get_target, target_names
from oscsim.cli import arguments as arg
from oscsim.cli.describe import summary
from oscsim.cli.explain import EXPLAINED, check_explained, explained_json
from oscsim.cli.explain import explain as explain_run
from oscsim.cli.explain_tables import show_explanation
from oscsim.cli.files import check_distinct, checked_path
from oscsim.cli.guard import ExitCode
from oscsim.cli.options import split_settings, target_config
from oscsim.cli.output import Output
from oscsim.cli.progress import Steps
from oscsim.cli.tables import show_plan, show_result
from oscsim.errors import ConfigError
from oscsim.result import SyncResult, SyncStatus
from oscsim.spec import PhaseLayerSpec
from oscsim.target import Executable, TargetConfig

PlanOnly = Annotated[bool, typer.Option("--plan", help="Only print the lowering; needs no backend.")]


def run(
    layer_file: arg.LayerFile,
    target: Annotated[str, typer.Option(help=f"One of {', '.join(target_names() + circuit_names())}.")],
    settings: arg.Settings = None,
    plan: PlanOnly = False,
    explain: Annotated[
        bool,
        typer.Option("--explain", help="Where the error comes from (circuits: step by step; lava: by bits)."),
    ] = False,
    output: arg.ResultFile = None,
    json: arg.Json = None,
) -> None:
    """Run a layer on one target; exit 1 when it did not converge.

    Options of --set are in docs/targets/TARGET.md, those of circuits in docs/circuits.md.
    """
    out = Output(json)
    check_files(layer_file, plan, output, json)
    chosen = get_target(target)
    config: Any = target_config(chosen, split_settings(settings or ()))
    if explain and (plan or not isinstance(config, EXPLAINED)):
        raise ConfigError(
            f"--explain: given with {'--plan' if plan else f'target {target}'}, expected the run of one of "
            f"{', '.join((*circuit_names(), 'lava'))}; leave it out"
        )
    layer = PhaseLayerSpec.load(layer_file)
    executable = chosen.lower(layer, config)
    if plan:
        print_plan(out, executable)
        return
    if explain:
        check_explained(executable)
    with out.quiet_stdout(), Steps(1)(target):
        result = executable.run()
    finish(out, executable, result, output, (layer, config) if explain else None)


def check_files(layer_file: str, plan: bool, output: str | None, json: str | None) -> None:
    """Refuse impossible names before anything is computed.

    Raises
    ------
    ConfigError
        a folder, a missing folder, one file twice, or a result of a plan.
    """
    checked_path(output, "--output")
    check_distinct({"FILE.phase": layer_file}, {"--output": output, "--json": json})
    if plan and output is not None:
        raise ConfigError(
            "--plan: given together with --output, but a plan has no result; leave one of them out"
        )


def print_plan(out: Output, executable: Executable) -> None:
    """The lowering as a table or JSON."""
    out.write_json(executable.plan.to_json())
    show_plan(out, executable.plan)


def finish(
    out: Output,
    executable: Executable,
    result: SyncResult,
    output: str | None,
    explained: tuple[PhaseLayerSpec, TargetConfig] | None = None,
) -> None:
    """Save, print and leave with the exit code of a result.

    Parameters
    ----------
    explained : layer and configuration, where the error is to be explained too: after the result is saved.

    Raises
    ------
    typer.Exit
        always: 0, or 1 when the run did not converge.
    """
    if output is not None:
        result.save(output)
    report = {**summary(result), "plan": executable.plan.to_json(), "saved": output}
    if explained is None:
        out.write_json(report)
        show_result(out, result, output)
    else:
        layer, config = explained
        why = explain_run(layer, config, executable, result)
        out.write_json(report | explained_json(why, config))
        show_result(out, result, output)
        show_explanation(out, why, config)
    fine = result.status in (SyncStatus.SETTLED, SyncStatus.DRIFTING)
    raise typer.Exit(ExitCode.CONFORMS if fine else ExitCode.DIFFERS)
