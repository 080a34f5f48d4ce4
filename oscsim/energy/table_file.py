"""Strict reading of a table of devices or constants: comma-separated text whose every problem has a line."""

import csv
import math
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from oscsim.errors import SchemaError
from oscsim.io import read_regular


@dataclass(frozen=True)
class Record:
    """One line of a table: its cells by column, without surrounding blanks, and where it starts."""

    file: str
    line: int
    cells: dict[str, str]

    def fail(self, column: str, expected: str) -> SchemaError:
        """The error that says what a cell holds and what was expected."""
        return SchemaError(
            f"{self.file}: line {self.line}: {column}: given {self.cells[column]!r}, expected {expected}"
        )

    def number(self, column: str, zero: bool = False, signed: bool = False) -> float | None:
        """A finite number, positive unless ``zero`` or ``signed`` allows more; None where it is unknown."""
        text = self.cells.get(column, "")
        if not text:
            return None
        try:
            number = math.nan if "_" in text else float(text)
        except ValueError:
            number = math.nan
        allowed = math.isfinite(number) and (signed or number > 0.0 or (zero and number == 0.0))
        if not allowed:
            sign = "" if signed else " that is not negative" if zero else " above 0"
            raise self.fail(column, f"a number{sign}, with a point and without separators, or an empty cell")
        return number

    def whole(self, column: str, zero: bool = False) -> int | None:
        """A whole number; None where it is unknown."""
        number = self.number(column, zero)
        if number is not None and number != int(number):
            raise self.fail(column, "a whole number, or an empty cell")
        return None if number is None else int(number)

    def required(self, column: str, signed: bool = False) -> float:
        """A number that has to be there."""
        number = self.number(column, signed=signed)
        if number is None:
            raise self.fail(column, "a number; this column has no empty cells")
        return number


def read_table(
    path: str | os.PathLike[str],
    columns: Sequence[str],
    optional: Sequence[str] = (),
    key: str = "name",
    of: str = "device",
) -> list[Record]:
    """The lines of a table with exactly these columns, in any order; lines that start with # are comments.

    Raises
    ------
    SchemaError
        no UTF-8 text, missing, unknown or repeated columns, a line of another length, an empty or repeated
        key, or no line at all; with file and line. A column of another name is refused: were it ignored, a
        misspelt one would make every value in it unknown.
    """
    rows = _rows(_text(path), str(path))
    line, header = next(rows, (1, None))
    if header is None:
        raise SchemaError(f"{path}: the file is empty, expected a first line {','.join(columns)}")
    names = _columns(header, columns, optional, f"{path}: line {line}")
    records: list[Record] = []
    seen: dict[str, int] = {}
    for line, row in rows:
        if len(row) != len(names):
            raise SchemaError(
                f"{path}: line {line}: {len(row)} cells, expected {len(names)}; a cell with a comma in it "
                "needs quotes"
            )
        record = Record(str(path), line, dict(zip(names, (cell.strip() for cell in row), strict=True)))
        name = record.cells[key]
        if not name:
            raise record.fail(key, "a name")
        if name.casefold() in seen:
            raise record.fail(key, f"a name of its own; line {seen[name.casefold()]} has it too")
        seen[name.casefold()] = line
        records.append(record)
    if not records:
        raise SchemaError(f"{path}: a header and no {of}s, expected a line for each {of}")
    return records


def _text(path: str | os.PathLike[str]) -> str:
    data = read_regular(path)
    try:
        return data.decode("utf-8-sig")  # spreadsheets put a byte order mark in front
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise SchemaError(f"{path}: line {line}: no UTF-8 text; save the table as CSV in UTF-8") from None


def _rows(text: str, file: str) -> Iterator[tuple[int, list[str]]]:
    """(line where it starts, cells) of everything that is neither blank nor a comment."""
    reader = csv.reader(text.splitlines(keepends=True), strict=True)
    while True:
        line = reader.line_num + 1
        try:
            row = next(reader, None)
        except csv.Error as error:
            raise SchemaError(f"{file}: line {line}: no comma-separated text ({error})") from None
        if row is None:
            return
        if any(cell.strip() for cell in row) and not row[0].lstrip().startswith("#"):
            yield line, row


def _columns(header: list[str], columns: Sequence[str], optional: Sequence[str], where: str) -> list[str]:
    names = [name.strip() for name in header]
    known = f"columns are {','.join(columns)}" + (
        f" and, if wanted, {','.join(optional)}" if optional else ""
    )
    missing = [name for name in columns if name not in names]
    unknown = [name for name in names if name not in (*columns, *optional)]
    repeated = sorted({name for name in names if names.count(name) > 1})
    for problem, found in (("unknown", unknown), ("missing", missing), ("repeated", repeated)):
        if found:
            listed = ", ".join(repr(name) for name in found)
            raise SchemaError(f"{where}: {problem} columns: {listed}; {known}")
    return names
