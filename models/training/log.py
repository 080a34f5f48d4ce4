"""The log of a run: one CSV row per look, without times, so that a resumed log equals an unbroken one."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from oscsim.errors import SchemaError
from oscsim.io import atomic_write, read_regular


class Row(NamedTuple):
    """One row; the loss is that of the step's own batch, before the step."""

    step: int
    bits_per_byte: float
    learning_rate: float
    gradient_norm: float
    validation_bits_per_byte: float | None

    def line(self) -> str:
        """Return the row as text: nine digits, more than a float32 has."""
        numbers = ("" if value is None else f"{value:.9g}" for value in self[1:])
        return ",".join((str(self.step), *numbers)) + "\n"


HEADER = ",".join(Row._fields) + "\n"
START = {"bytes": len(HEADER), "sha256": hashlib.sha256(HEADER.encode()).hexdigest()}
"""The mark of a log without rows."""


class Log:
    """A CSV file that rows are appended to.

    Parameters
    ----------
    path : the file; it is cut to what ``mark`` describes, which removes rows after a checkpoint.
    mark : what :meth:`mark` returned when the checkpoint was written, or ``START``.

    Raises
    ------
    SchemaError
        the file does not begin with what the mark describes.
    """

    def __init__(self, path: Path, mark: dict[str, Any]) -> None:
        kept = HEADER.encode() if mark == START else _beginning(path, mark)
        atomic_write(path, kept)
        self._digest = hashlib.sha256(kept)
        self._size = len(kept)
        self._stream: BinaryIO = path.open("ab")

    def append(self, row: Row) -> None:
        """Write a row and hand it to the operating system, where a killed process cannot lose it."""
        line = row.line().encode()
        self._stream.write(line)
        self._stream.flush()
        self._digest.update(line)
        self._size += len(line)

    def mark(self) -> dict[str, Any]:
        """Return length and checksum of the rows so far, after they have reached the disk."""
        os.fsync(self._stream.fileno())
        return {"bytes": self._size, "sha256": self._digest.hexdigest()}

    def close(self) -> None:
        """Close the file."""
        self._stream.close()


def _beginning(path: Path, mark: dict[str, Any]) -> bytes:
    kept = read_regular(path)[: mark["bytes"]] if path.exists() else b""
    if hashlib.sha256(kept).hexdigest() != mark["sha256"]:
        raise SchemaError(
            f"{path}: given a log that differs from the one its checkpoint was written with; expected "
            f"{mark['bytes']} unchanged bytes; restore the log or start over in another folder"
        )
    return kept
