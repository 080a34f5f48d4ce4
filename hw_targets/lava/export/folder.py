"""A layer as a folder that runs with lava-nc and numpy alone, and reproduces the run it was made from."""

import hashlib
import os
import shutil
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hw_targets.lava.export.given import Given, given_of
from hw_targets.lava.export.script import program_arrays, script
from hw_targets.lava.export.sources import standalone
from hw_targets.lava.plan import Lowered
from hw_targets.lava.program import COUNTERS
from hw_targets.lava.recording import Recording, recorded
from hw_targets.lava.target import LavaExecutable, LavaTarget
from oscsim.errors import ConfigError
from oscsim.result import SyncResult


def export(executable: LavaExecutable, folder: str | os.PathLike[str]) -> SyncResult:
    """Run a lowered layer and write ``run.py``, ``arrays.npz`` and the processes into a new folder.

    The script there repeats the run and compares its states: every bit in fixed point.

    Raises
    ------
    ConfigError
        the folder is there already, or cannot be made.
    TargetRunError, TargetUnavailable
        the run failed, or Lava is missing.
    """
    path = Path(folder)
    check_new(path)
    with recorded() as recording:
        result = executable.run()
    partial = path.with_name(f".{path.name}.{os.getpid()}.partial")
    try:
        partial.mkdir()
        _write(partial, executable.lowered, recording, result)
        check_new(path)  # an empty folder would be replaced silently
        partial.rename(path)
    except OSError as error:
        raise ConfigError(f"{path}: {error.strerror}; expected a new folder in a writable one") from error
    finally:
        shutil.rmtree(partial, ignore_errors=True)
    return result


def check_new(path: Path) -> None:
    """Refuse a folder that exists.

    Raises
    ------
    ConfigError
        something of this name is there, or the folder that it would be in is not.
    """
    if path.exists() or path.is_symlink():
        raise ConfigError(f"{path}: exists already; expected the name of a new folder")
    if not path.parent.is_dir():
        raise ConfigError(f"{path}: its folder does not exist; create it first")


def _write(folder: Path, lowered: Lowered, recording: Recording, result: SyncResult) -> None:
    for name, text in standalone().items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    given, program = given_of(lowered, recording.messages), _program(lowered)
    states = _states(given, recording, program)
    integers = recording.tag == "fixed_pt"
    arrays = {
        **program_arrays(program),
        **{f"given.{name}": array for name, array in given.arrays.items()},
        "sync": result.sync,
    }
    with open(folder / "arrays.npz", "wb") as file:
        np.savez_compressed(file, allow_pickle=False, **arrays)
    facts = _facts(lowered, recording, given, states, integers)
    facts["counted"] = [result.provenance.counters[name] for name in COUNTERS]
    text = script(facts, program, lowered.number_format.arithmetic, arrays)
    (folder / "run.py").write_text(text, encoding="utf-8")


def _program(lowered: Lowered) -> Any:
    return getattr(lowered, "program")  # noqa: B009  every kind of lowered layer has one


def _states(given: Given, recording: Recording, program: Any) -> NDArray[np.float64]:
    """What the script calls ``states``, from the messages of the recorded run."""
    if given.first is None:
        return recording.messages[0]
    return np.concatenate([getattr(program, given.first)[None].astype(np.float64), *recording.messages])


def _facts(
    lowered: Lowered, recording: Recording, given: Given, states: NDArray[np.float64], integers: bool
) -> dict[str, Any]:
    spec, build = lowered.spec, recording.build
    stack = f"np.concatenate([program.{given.first}[None].astype(np.float64), *messages])"
    return {
        "spec_digest": spec.digest[:12],
        "plan_digest": lowered.plan.digest[:12],
        "dynamics": spec.dynamics,
        "heads": spec.n_heads,
        "tokens": spec.n_oscillators,
        "channels": spec.n_channels,
        "install": LavaTarget.install_command,
        "build": getattr(build, "func", build),
        "tag": recording.tag,
        "port": recording.port,
        "lava_steps": recording.lava_steps,
        "messages": len(recording.messages),
        "residual": lowered.number_format.residual,
        "timeout_s": lowered.config.timeout_s,
        "stall_s": lowered.config.stall_s,
        "digest": hashlib.sha256(states.astype("<i8" if integers else "<f8").tobytes()).hexdigest(),
        "states": "messages[0]" if given.first is None else stack,
        "reader": given.reader.__name__,
        "reading": given.reading,
    }
