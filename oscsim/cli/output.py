"""Where output goes: tables for people, JSON for programs, and never a mixture on one stream."""

import json
import math
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, redirect_stdout
from typing import Any

from rich.console import Console, RenderableType
from rich.table import Column, Table
from rich.text import Text

from oscsim.cli.files import STDOUT, checked_path
from oscsim.cli.streams import stderr_errors, stdout_errors
from oscsim.errors import ConfigError
from oscsim.io import atomic_write_all, jsonable_float

_PIPE_WIDTH = 120  # columns of a table that goes into a file or a log


def plain(value: Any) -> Any:
    """Strict JSON: not-a-number becomes null, infinity "inf", numpy scalars and tuples plain.

    >>> plain({"a": float("nan"), "b": (float("inf"), 1)})
    {'a': None, 'b': ['inf', 1]}
    """
    if isinstance(value, dict):
        return {str(name): plain(entry) for name, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(entry) for entry in value]
    if hasattr(value, "tolist"):
        return plain(value.tolist())
    if isinstance(value, float):
        return None if math.isnan(value) else jsonable_float(value)
    return value


def json_text(content: Any) -> str:
    """Indented strict JSON in ASCII, in the order given, with a final line break."""
    return json.dumps(plain(content), indent=2, allow_nan=False) + "\n"


class Output:
    """Streams of one command: with ``--json -`` stdout carries the JSON and nothing else."""

    def __init__(self, json_path: str | None) -> None:
        self.json_path = checked_path(json_path, "--json", stdout=True)
        if json_path == STDOUT and sys.stdout is None:
            raise ConfigError("--json: given -, but stdout is closed; name a file or leave stdout open")
        self._stdout = sys.stdout
        self._people = _console(stderr=json_path == STDOUT)

    @property
    def json_on_stdout(self) -> bool:
        """Whether stdout carries the JSON, and nothing else."""
        return self.json_path == STDOUT

    @contextmanager
    def quiet_stdout(self) -> Iterator[None]:
        """Send what a backend prints to stderr: stdout belongs to results."""
        with redirect_stdout(sys.stderr):
            yield

    def write_json(self, content: Any, others: Mapping[str, bytes] | None = None) -> None:
        """Write to the path of ``--json``; without the option, nothing.

        Parameters
        ----------
        others : path -> content of files that are written with it: all, or none.
        """
        files = dict(others or {})
        if self.json_path is not None and self.json_path != STDOUT:
            files[self.json_path] = json_text(content).encode()
        atomic_write_all(files)
        if self.json_path == STDOUT:
            with stdout_errors():
                self._stdout.write(json_text(content))
                self._stdout.flush()

    def print(self, content: RenderableType) -> None:
        """Show something to people: on stdout, or on stderr when stdout carries JSON."""
        with stderr_errors() if self._people.stderr else stdout_errors():
            self._people.print(content)

    def facts(self, title: str, rows: Iterable[tuple[str, Any]]) -> None:
        """A two-column table of names and values."""
        table = Table(title=title, title_justify="left", show_header=False, box=None, pad_edge=False)
        for name, value in rows:
            table.add_row(Text(name, style="dim"), _shown(value))
        self.print(table)

    def table(self, columns: Iterable[str | Column], rows: Iterable[Iterable[Any]]) -> None:
        """A table with a header."""
        table = Table(*columns, box=None, pad_edge=False, header_style="bold")
        for row in rows:
            table.add_row(*(_shown(cell) for cell in row))
        self.print(table)


class _Console(Console):
    def on_broken_pipe(self) -> None:
        raise BrokenPipeError  # rich would end the program here; stdout_errors and stderr_errors decide


def _console(stderr: bool) -> Console:
    console = _Console(stderr=stderr, highlight=False)
    if not console.is_terminal:
        console.width = _PIPE_WIDTH
    return console


def _shown(value: Any) -> Text:
    # Text, not str: square brackets in a passage or a path are not markup
    return Text(_words(value))


def _words(value: Any) -> str:
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.3g}"
    if isinstance(value, (list, tuple)):
        return ", ".join(_words(entry) for entry in value) or "none"
    if isinstance(value, dict):
        return " ".join(f"{name} {_words(entry)}" for name, entry in value.items()) or "none"
    return str(value)
