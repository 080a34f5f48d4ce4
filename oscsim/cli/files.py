"""Which files a command may write: checked before any work, so that nothing is lost after it."""

import os
import stat
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TextIO

from oscsim.errors import ConfigError

STDOUT = "-"


def checked_path(path: str | None, option: str, *, exists: bool = True, stdout: bool = False) -> str | None:
    """Refuse an output file that cannot be written.

    Parameters
    ----------
    exists : whether its folder has to be there already; otherwise the command makes it.
    stdout : whether ``-`` stands for stdout; elsewhere it would become a file of that name.
    """
    if path is None or (stdout and path == STDOUT):
        return path
    if path == STDOUT:
        raise ConfigError(f"{option}: given -, but only --json writes to stdout; expected the name of a file")
    if Path(path).exists() and not Path(path).is_file():
        kind = "a folder" if Path(path).is_dir() else "a device or pipe"
        raise ConfigError(f"{option}: given {path}, {kind}; expected the name of a file")
    folder = Path(path).parent
    if exists and not (folder.is_dir() and os.access(folder, os.W_OK)):
        raise ConfigError(
            f"{option}: given {path}; its folder does not exist or is read-only; create it first"
        )
    return path


def check_suffix(path: str | None, option: str, suffix: str) -> None:
    """Refuse a file whose name promises another format than the one that is written."""
    if path is not None and Path(path).suffix.lower() != suffix:
        raise ConfigError(f"{option}: given {path}, expected a name that ends in {suffix}; rename it")


def checked_folder(path: str, option: str) -> str:
    """Refuse an output folder that is a file, or ``-``."""
    if path == STDOUT or (Path(path).exists() and not Path(path).is_dir()):
        kind = "which is stdout elsewhere" if path == STDOUT else "a file"
        raise ConfigError(f"{option}: given {path}, {kind}; expected the name of a folder")
    return path


def check_distinct(inputs: Mapping[str, str | None], outputs: Mapping[str, str | None]) -> None:
    """Refuse an output that is an input, another output, or the file that stdout or stderr goes to.

    Files are the same by path (``./x`` and ``x``, symbolic links) and by inode (hard links).

    Parameters
    ----------
    inputs, outputs : option or argument as the user knows it -> path; None and ``-`` are no files.

    Raises
    ------
    ConfigError
        names both options.
    """
    taken = [(name, _identity(path)) for name, path in inputs.items() if path is not None]
    taken += [("stdout", _stream_identity(sys.stdout)), ("stderr", _stream_identity(sys.stderr))]
    for option, path in outputs.items():
        if path is None or path == STDOUT:
            continue
        identity = _identity(path)
        for name, other in taken:
            if identity & other:
                raise ConfigError(
                    f"{option}: given {path}, the same file as {name}; expected a file of its own; "
                    "nothing was written"
                )
        taken.append((option, identity))


def _identity(path: str) -> set[object]:
    """Everything that tells two names of one file apart from two files."""
    try:
        found = os.stat(path)
    except OSError:  # not there yet
        return {os.path.realpath(path)}
    return {os.path.realpath(path), (found.st_dev, found.st_ino)}


def _stream_identity(stream: TextIO | None) -> set[object]:
    """The file behind a redirected stream; empty for a terminal, pipe or device."""
    try:
        found = None if stream is None else os.fstat(stream.fileno())
    except (OSError, ValueError):  # no descriptor behind it: a test or a notebook
        return set()
    return {(found.st_dev, found.st_ino)} if found is not None and stat.S_ISREG(found.st_mode) else set()
