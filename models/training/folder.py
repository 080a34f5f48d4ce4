"""The folder of a run: what lies in it, whether it may be used, and how far the run in it is."""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from oscsim.errors import ConfigError, SchemaError
from oscsim.io import Arrays, atomic_write, canonical_json, read_regular

from ..checkpoint import read_checkpoint

CHECKPOINT = "checkpoint.safetensors"
LOG = "log.csv"
EVENTS = "tensorboard"
WALL_TIME = "wall_time.json"
MODEL = "model.safetensors"
RESULTS = "results.json"
NAMES = (CHECKPOINT, LOG, EVENTS, WALL_TIME, MODEL, RESULTS)

Saved = tuple[dict[str, Any], Arrays]


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Make the folder, and keep every other run out of it; a killed process holds no lock.

    Raises
    ------
    ConfigError
        another process trains in the folder.
    """
    folder.mkdir(parents=True, exist_ok=True)
    handle = os.open(folder, os.O_RDONLY)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise ConfigError(
                f"{folder}: another process trains in this folder; wait for it or name another folder"
            ) from None
        yield
    finally:
        os.close(handle)


def saved_run(folder: Path, resume: bool, identity: dict[str, Any]) -> Saved | None:
    """Return the checkpoint to go on from, or None to start in an empty folder.

    What a killed process was writing when it died is removed.

    Parameters
    ----------
    folder : the run's folder.
    resume : whether the caller wants to go on.
    identity : what makes a run this one and no other, plain JSON.

    Raises
    ------
    ConfigError
        a run that nobody asked to resume, another run, or a folder with something else in it.
    """
    for name in NAMES:
        for unfinished in folder.glob(f".{name}.*"):
            unfinished.unlink()
    path = folder / CHECKPOINT
    present = sorted(entry.name for entry in folder.iterdir())
    if not present:
        return None
    if not path.exists():
        raise ConfigError(
            f"{folder}: given a folder that holds {', '.join(present[:3])} and no {CHECKPOINT}, expected "
            "an empty one or a run; name another folder"
        )
    if not resume:
        raise ConfigError(
            f"{folder}: given a folder that already holds a run, expected an empty one; "
            "resume that run, or name another folder"
        )
    header, arrays = read_checkpoint(path)
    _require_same(path, identity, header)
    return header["training"], arrays


def _require_same(path: Path, identity: dict[str, Any], header: dict[str, Any]) -> None:
    """Refuse to go on with a run that was begun differently, and say what differs."""
    training = header.get("training", {})
    if not {"identity", "step", "log", "environment"} <= set(training):
        raise SchemaError(
            f"{path}: this is a finished model, expected the state of a run; name another folder"
        )
    begun = training["identity"]
    wanted = json.loads(canonical_json(identity))  # tuples become lists, as in the file
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


def write_json(path: Path, value: Any) -> None:
    """Write indented JSON, whole or not at all."""
    atomic_write(path, (json.dumps(value, indent=2, allow_nan=False) + "\n").encode())


def read_json(path: Path) -> Any:
    """Read a file of :func:`write_json`."""
    try:
        return json.loads(read_regular(path))
    except ValueError as error:
        raise SchemaError(f"{path}: expected JSON ({error}); remove the file and resume the run") from None
