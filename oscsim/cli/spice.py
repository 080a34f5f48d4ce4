"""``oscsim spice``: run a layer as a circuit through ngspice."""

from typing import Any

from hw_targets import get_target
from oscsim.cli import arguments as arg
from oscsim.cli.options import split_settings, target_config
from oscsim.cli.output import Output
from oscsim.cli.progress import Steps
from oscsim.cli.run import PlanOnly, check_files, finish, print_plan
from oscsim.spec import PhaseLayerSpec


def spice(
    layer_file: arg.LayerFile,
    settings: arg.Settings = None,
    plan: PlanOnly = False,
    output: arg.ResultFile = None,
    json: arg.Json = None,
) -> None:
    """Run a layer as a circuit through ngspice; exit 1 when it did not converge.

    The same as ``run --target spice``, with the expected time on the progress line. ``export --format
    spice`` writes the netlist itself.
    """
    out = Output(json)
    check_files(layer_file, plan, output, json)
    target = get_target("spice")
    executable = target.lower(
        PhaseLayerSpec.load(layer_file), target_config(target, split_settings(settings or ()))
    )
    if plan:
        print_plan(out, executable)
        return
    with out.quiet_stdout(), Steps(1)(_line(executable.plan["simulation"])):
        result = executable.run()
    finish(out, executable, result, output)


def _line(simulation: dict[str, Any]) -> str:
    cycles, seconds = simulation["oscillator_cycles"], simulation["predicted_s"]
    return f"ngspice, {cycles:.3g} oscillator cycles, about {seconds:g} s"
