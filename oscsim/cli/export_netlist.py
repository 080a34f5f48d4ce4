"""``oscsim export --format spice``: a layer as a netlist for ngspice."""

import shlex
from typing import Any

from hw_targets import get_target
from oscsim.circuits.fit import fitted
from oscsim.cli.options import split_settings, target_config
from oscsim.cli.progress import say
from oscsim.io import atomic_write
from oscsim.spec import PhaseLayerSpec
from oscsim.target import Plan


def write_netlist(
    layer: PhaseLayerSpec, output: str, settings: list[str] | None, fit: bool
) -> tuple[PhaseLayerSpec, Plan, dict[str, Any]]:
    """Lower for target spice, write the netlist; the layer as written, its plan, and facts about it.

    Parameters
    ----------
    fit : whether to choose the shortest time unit at which the circuit represents the layer.
    """
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


def netlist_facts(plan: Plan, output: str) -> dict[str, Any]:
    """What is in a netlist and how to run it."""
    circuit, exported = plan["circuit"], plan["exported"]
    return {
        "circuit": f"{circuit['family']}, {circuit['model']}; {circuit['made_of']}",
        **{name: str(part) for name, part in plan["components"].items()},
        "carrier cycles": f"{exported['cycles']:g}, saved from {exported['saved_from_cycle']:g} on",
        "predicted": f"about {exported['predicted_s']:g} s",
        "run it with": f"ngspice -b {shlex.quote(output)}",
    }
