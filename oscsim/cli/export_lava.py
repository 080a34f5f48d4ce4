"""``oscsim export --format lava``: a layer as a folder that runs with lava-nc and numpy alone."""

import shlex
from pathlib import Path
from typing import Any

from hw_targets import get_target
from oscsim.cli.files import STDOUT, checked_folder
from oscsim.cli.options import split_settings, target_config
from oscsim.cli.progress import Steps, say
from oscsim.errors import ConfigError
from oscsim.result import SyncStatus
from oscsim.spec import PhaseLayerSpec


def check_new_folder(output: str) -> None:
    """Refuse an ``--output`` that exists or cannot be made.

    Raises
    ------
    ConfigError
        also for ``-``, which is stdout elsewhere.
    """
    from hw_targets.lava.export.folder import check_new

    if output == STDOUT:
        checked_folder(output, "--output")
    try:
        check_new(Path(output))
    except ConfigError as error:
        raise ConfigError(f"--output: given {error}") from error


def write_lava(layer: PhaseLayerSpec, output: str, settings: list[str] | None) -> dict[str, Any]:
    """Run the layer, write the folder; facts about both."""
    from hw_targets.lava.export.folder import export

    target = get_target("lava")
    config: Any = target_config(target, split_settings(settings or ()))
    executable: Any = target.lower(layer, config)
    target.require()
    with Steps(1)("lava"):
        result = export(executable, output)
    if result.status is SyncStatus.NOT_CONVERGED:
        say("warning: the run did not converge; the folder repeats it as it is")
    return {
        "status": str(result.status),
        "notes": list(result.provenance.notes),
        "plan_digest": result.provenance.plan_digest,
        "settings": result.provenance.settings,
    }


def lava_facts(facts: dict[str, Any], output: str) -> dict[str, Any]:
    """What is in a folder and how to run it."""
    return {
        "processes": f"{output}/oscillators/processes",
        "numbers": f"{output}/arrays.npz",
        "recorded run": f"{facts['status']}; {'; '.join(facts['notes'])}",
        "needs": "lava-nc 0.10.0 and numpy",
        "run it with": f"python {shlex.quote(output)}/run.py",
    }
