"""The table of constants on disk: one CSV with the project, rows of the same columns from users on top."""

import csv
import math
from collections.abc import Iterator, Mapping
from importlib import resources
from pathlib import Path
from typing import Any, get_args

from oscsim.energy.constants import Book, Constant, ConstantError, How, RangeFrom
from oscsim.energy.units import UnitError, quantity

COLUMNS = (
    "name", "value", "low", "high", "unit", "node_nm", "vdd_v", "conditions", "valid", "citation", "how",
    "range_from", "note",
)  # fmt: skip


def load_constants(*files: Path, allow_recalled: bool = False) -> Book:
    """The shipped constants, with rows of the same columns from other files on top.

    Raises
    ------
    ConstantError
        a file that cannot be read, a missing column, or an impossible value, with file and line.
    """
    shipped = resources.files("oscsim.energy") / "constants.csv"
    book = Book(_rows(shipped.read_text(encoding="utf-8").splitlines(), "constants.csv"), allow_recalled)
    for file in files:
        try:
            lines = Path(file).read_text(encoding="utf-8").splitlines()
        except (OSError, UnicodeDecodeError) as error:
            raise ConstantError(f"{file}: cannot be read as a table of constants ({error})") from None
        book = book.replaced(Book(_rows(lines, str(file))).values())
    return book


def _rows(lines: list[str], file: str) -> Iterator[Constant]:
    reader = csv.DictReader(line for line in lines if not line.startswith("#"))
    missing = [column for column in COLUMNS if column not in (reader.fieldnames or ())]
    if missing:
        raise ConstantError(f"{file}: columns {', '.join(missing)} are missing; expected {','.join(COLUMNS)}")
    for row in reader:
        try:
            yield _constant(row)
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise ConstantError(f"{file}: constant '{row.get('name')}': {error}") from None


def _constant(row: Mapping[str, str]) -> Constant:
    how: How = _one_of(row, "how", get_args(How))
    range_from: RangeFrom = _one_of(row, "range_from", get_args(RangeFrom))
    value, low, high = (_number(row, name) for name in ("value", "low", "high"))
    if how != "absent":
        if value is None or low is None or high is None or not 0.0 < low <= value <= high:
            raise ValueError(
                f"given value {value}, low {low}, high {high}; expected 0 < low <= value <= high"
            )
        if not row["citation"].strip():
            raise ValueError("no citation; expected a key of docs/references.md")
    try:
        quantity(1.0, row["unit"])
    except UnitError as error:
        raise ValueError(str(error)) from None
    return Constant(
        row["name"], value, low, high, row["unit"], _number(row, "node_nm"), _number(row, "vdd_v"),
        row["conditions"], _validity(row["valid"]), row["citation"], how, range_from, row["note"],
    )  # fmt: skip


def _one_of(row: Mapping[str, str], name: str, choices: tuple[str, ...]) -> Any:
    if row[name] not in choices:
        raise ValueError(f"{name}: given {row[name]!r}, expected one of {', '.join(choices)}")
    return row[name]


def _number(row: Mapping[str, str], name: str) -> float | None:
    text = row[name].strip()
    if not text:
        return None
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"{name}: given {text}, expected a finite number")
    return number


def _validity(text: str) -> tuple[tuple[str, float, float], ...]:
    """``"bits=7..9;rate_hz=1e8..2e9"`` as ``(("bits", 7, 9), ("rate_hz", 1e8, 2e9))``."""
    ranges = []
    for part in filter(None, text.split(";")):
        key, _, span = part.partition("=")
        low, dots, high = span.partition("..")
        if not dots:
            raise ValueError(f"valid: given {part!r}, expected name=low..high")
        ranges.append((key.strip(), float(low), float(high)))
    return tuple(ranges)
