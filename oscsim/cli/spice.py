"""``oscsim spice``: run a layer as a circuit through ngspice."""

from typing import Annotated, Any

import typer

from hw_targets import get_target
from oscsim.cli import arguments as arg
from oscsim.cli.describe import summary
from oscsim.cli.files import check_distinct, checked_path
from oscsim.cli.guard import ExitCode
from oscsim.cli.options import split_settings, target_config
from oscsim.cli.output import Output
from oscsim.cli.progress import Steps
from oscsim.cli.tables import show_plan, show_result
from oscsim.errors import ConfigError
from oscsim.result import SyncStatus
from oscsim.spec import PhaseLayerSpec


def spice(
    layer_file: arg.LayerFile,
    settings: arg.Settings = None,
    plan: Annotated[bool, typer.Option("--plan", help="Only print the lowering; needs no ngspice.")] = False,
    output: arg.ResultFile = None,
    json: arg.Json = None,
) -> None:
    """Run a layer as a circuit through ngspice; exit 1 when it did not converge.

    The same as ``run --target spice``, with the expected time on the progress line. ``export --format
    spice`` writes the netlist itself.
    """
    out = Output(json)
    checked_path(output, "--output")
    check_distinct({"FILE.phase": layer_file}, {"--output": output, "--json": json})
    if plan and output is not None:
        raise ConfigError(
            "--plan: given together with --output, but a plan has no result; leave one of them out"
        )
    target = get_target("spice")
    executable = target.lower(
        PhaseLayerSpec.load(layer_file), target_config(target, split_settings(settings or ()))
    )
    if plan:
        out.write_json(executable.plan.to_json())
        show_plan(out, executable.plan)
        return
    with out.quiet_stdout(), Steps(1)(_line(executable.plan["simulation"])):
        result = executable.run()
    if output is not None:
        result.save(output)
    out.write_json({**summary(result), "plan": executable.plan.to_json(), "saved": output})
    show_result(out, result, output)
    fine = result.status in (SyncStatus.SETTLED, SyncStatus.DRIFTING)
    raise typer.Exit(ExitCode.CONFORMS if fine else ExitCode.DIFFERS)


def _line(simulation: dict[str, Any]) -> str:
    cycles, seconds = simulation["oscillator_cycles"], simulation["predicted_s"]
    return f"ngspice, {cycles:.3g} oscillator cycles, about {seconds:g} s"
