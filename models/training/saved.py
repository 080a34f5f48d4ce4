"""What the checkpoint of a run says about the run, and whether that can be true."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from oscsim.errors import ConfigError, SchemaError

_NEEDED = {"identity", "step", "log", "environment"}


def check_saved(path: Path, header: dict[str, Any], identity: dict[str, Any]) -> None:
    """Refuse to go on with a run that was begun differently, and with a header that no run has written.

    Parameters
    ----------
    path : the checkpoint.
    header : its header.
    identity : of the run that shall go on, plain JSON.

    Raises
    ------
    ConfigError
        another run; says what differs.
    SchemaError
        a finished model, or a header that was altered.
    """
    if "training" not in header:
        raise SchemaError(
            f"{path}: this is a finished model, expected the state of a run; name another folder"
        )
    training = header["training"]
    missing = sorted(_NEEDED - set(training))
    if missing or not isinstance(training["identity"], dict):
        what = f"no {missing[0]}" if missing else f"the identity {training['identity']!r}"
        raise _altered(path, what, f"the state of a run with {', '.join(sorted(_NEEDED))}")
    _require_same(path, training["identity"], identity)
    for fine, what, expected in _wanted(header, training, identity):
        if not fine:
            raise _altered(path, what, expected)


def _altered(path: Path, what: str, expected: str) -> SchemaError:
    return SchemaError(
        f"{path}: given {what}, expected {expected}; the file was altered after the run wrote it: "
        "restore it, or start over in another folder"
    )


def _wanted(
    header: dict[str, Any], training: dict[str, Any], identity: dict[str, Any]
) -> list[tuple[bool, str, str]]:
    """Whether each entry is fine, what it says, and what was expected."""
    step, log, planned = training["step"], training["log"], identity["training"]
    steps, every = planned["steps"], planned["checkpoint_every"]
    environment, states = training["environment"], training.get("optimiser", [])
    described = {"model": header["model"], "config": header["config"]}
    mark = log if isinstance(log, dict) else {}
    return [
        (
            is_whole(step) and 0 <= step <= steps and (step % every == 0 or step == steps),
            f"step {step!r}", f"a multiple of {every} from 0 to {steps}, or {steps}",
        ),
        (
            is_whole(mark.get("bytes")) and mark["bytes"] >= 0 and isinstance(mark.get("sha256"), str),
            f"the log {log!r}", "its bytes, a whole number, and their sha256",
        ),
        (isinstance(environment, dict), f"the environment {environment!r}", "names and values"),
        (
            is_environments(saved_environments(training), environment),
            f"the environments {training.get('environments')!r}", "a list of them with the last environment",
        ),
        (
            isinstance(states, list) and all(isinstance(name, str) for name in states),
            f"the optimiser {states!r}", "a list of parameters",
        ),
        (
            all(value == identity[key] for key, value in described.items()),
            f"a description {described!r}", "the model and the config of the run",
        ),
    ]  # fmt: skip


def is_whole(value: Any) -> bool:
    """Whether a value from JSON is a whole number; True is none."""
    return type(value) is int


def saved_environments(record: dict[str, Any]) -> Any:
    """Return the environments that a run was computed in, in order; older files name one only."""
    return record.get("environments", [record["environment"]])


def is_environments(value: Any, last: Any) -> bool:
    """Whether a value is a list of environments with the last one among them."""
    return isinstance(value, list) and all(isinstance(one, dict) for one in value) and last in value


def _require_same(path: Path, begun: dict[str, Any], wanted: dict[str, Any]) -> None:
    """Refuse to go on with a run that was begun differently, and say what differs."""
    differing = [
        f"{'.'.join(key)} {_at(wanted, key)!r} (the run has {_at(begun, key)!r})"
        for key in sorted(_leaves(wanted) | _leaves(begun))
        if _at(wanted, key) != _at(begun, key)
    ]
    if differing:
        raise ConfigError(
            f"{path}: given {'; '.join(differing)}; expected what the run was begun with; "
            "resume with that, or name another folder"
        )


def _leaves(tree: dict[str, Any]) -> set[tuple[str, ...]]:
    found = set()
    for key, value in tree.items():
        found |= {(key, *rest) for rest in _leaves(value)} if isinstance(value, dict) else {(key,)}
    return found


def _at(tree: Any, key: tuple[str, ...]) -> Any:
    for part in key:
        tree = tree.get(part) if isinstance(tree, dict) else None
    return tree
