"""The folder of a run: what lies in it, whether it may be used, and how far the run in it is."""

from __future__ import annotations

import fcntl
import json
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from oscsim.errors import ConfigError, SchemaError
from oscsim.io import Arrays, atomic_write, read_regular

from ..checkpoint import read_checkpoint
from .saved import check_saved

CHECKPOINT = "checkpoint.safetensors"
LOG = "log.csv"
EVENTS = "tensorboard"
WALL_TIME = "wall_time.json"
MODEL = "model.safetensors"
RESULTS = "results.json"
NAMES = (CHECKPOINT, LOG, EVENTS, WALL_TIME, MODEL, RESULTS)

# What oscsim.io writes under until it renames: eight characters of tempfile.mkstemp after the name, no more.
_UNFINISHED = re.compile(rf"\.({'|'.join(map(re.escape, NAMES))})\.[a-z0-9_]{{8}}")

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

    Nothing is changed in the folder.

    Parameters
    ----------
    folder : the run's folder.
    resume : whether the caller wants to go on.
    identity : what makes a run this one and no other, plain JSON.

    Raises
    ------
    ConfigError
        a run that nobody asked to resume, another run, or a folder with something else in it.
    SchemaError
        the checkpoint was altered.
    """
    path = folder / CHECKPOINT
    # a run that was killed before its first checkpoint has left a part of that and nothing else
    begun = {entry for entry in unfinished(folder) if entry.name.startswith(f".{CHECKPOINT}.")}
    present = sorted(entry.name for entry in folder.iterdir() if entry not in begun)
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
    check_saved(path, header, identity)
    return header["training"], arrays


def unfinished(folder: Path) -> list[Path]:
    """Return the files that a killed process was writing when it died."""
    found = (entry for entry in folder.iterdir() if _UNFINISHED.fullmatch(entry.name))
    return sorted(entry for entry in found if entry.is_file() and not entry.is_symlink())


def write_json(path: Path, value: Any) -> None:
    """Write indented JSON, whole or not at all."""
    atomic_write(path, (json.dumps(value, indent=2, allow_nan=False) + "\n").encode())


def read_json(path: Path) -> Any:
    """Read a file of :func:`write_json`."""
    try:
        return json.loads(read_regular(path))
    except (ValueError, RecursionError) as error:
        raise SchemaError(f"{path}: expected JSON ({error}); remove the file and resume the run") from None
