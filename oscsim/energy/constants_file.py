"""The table of constants on disk: one CSV with the project, rows of the same columns from users on top."""

import math
from collections.abc import Iterator
from importlib import resources
from pathlib import Path
from typing import Any, get_args

from oscsim.energy.constants import Book, Constant, ConstantError, How, RangeFrom
from oscsim.energy.foreign import check_foreign
from oscsim.energy.table_file import Record, read_table
from oscsim.energy.units import UnitError, multiplies, quantity
from oscsim.errors import SchemaError

COLUMNS = (
    "name", "value", "low", "high", "unit", "node_nm", "vdd_v", "conditions", "valid", "citation", "how",
    "range_from", "note",
)  # fmt: skip
# In units of the SI: beyond, products of a few constants overflow, and nothing on a chip is that large.
_LEAST, _MOST = 1e-40, 1e40


def load_constants(*files: Path, allow_recalled: bool = False) -> Book:
    """The shipped constants, with rows of the same columns from other files on top.

    A file of a user may replace a shipped constant, in a unit of the same dimension, or add the rows of a
    planar node (:mod:`oscsim.energy.node_names`); any other name is refused: no formula would ask for it.

    Raises
    ------
    ConstantError
        a file that cannot be read, a missing column, an unknown name, or an impossible value, with file and
        line.
    """
    with resources.as_file(resources.files("oscsim.energy") / "constants.csv") as path:
        book = Book((row for row, _ in _rows(path)), allow_recalled)
    for file in files:
        added = []
        for row, record in _rows(Path(file)):
            try:
                check_foreign(row, book)
            except ValueError as error:
                raise _located(record, error) from None
            added.append(row)
        book = book.replaced(added)
    return book


def _rows(path: Path) -> Iterator[tuple[Constant, Record]]:
    try:
        records = read_table(path, COLUMNS, of="constant")
    except SchemaError as error:
        raise ConstantError(str(error)) from None
    except OSError as error:
        raise ConstantError(f"{path}: cannot be read as a table of constants ({error})") from None
    for record in records:
        try:
            yield _constant(record.cells), record
        except (ValueError, UnitError) as error:
            raise _located(record, error) from None


def _located(record: Record, error: Exception) -> ConstantError:
    return ConstantError(f"{record.file}: line {record.line}: constant '{record.cells['name']}': {error}")


def _constant(row: dict[str, str]) -> Constant:
    how: How = _one_of(row, "how", get_args(How))
    range_from: RangeFrom = _one_of(row, "range_from", get_args(RangeFrom))
    value, low, high = (_number(row, name) for name in ("value", "low", "high"))
    if not row["citation"]:
        raise ValueError("citation: given nothing, expected where the number is from")
    if not multiplies(row["unit"]):
        raise ValueError(f"unit: given {row['unit']!r}, expected one that multiplies; K instead of degC")
    if how != "absent":
        if value is None or low is None or high is None or not 0.0 < low <= value <= high:
            raise ValueError(
                f"given value {value}, low {low}, high {high}; expected 0 < low <= value <= high"
            )
        _check_size(row["unit"], low, high)
    return Constant(
        row["name"], value, low, high, row["unit"], _number(row, "node_nm"), _number(row, "vdd_v"),
        row["conditions"], _validity(row["valid"]), row["citation"], how, range_from, row["note"],
    )  # fmt: skip


def _check_size(unit: str, low: float, high: float) -> None:
    ends = [float(quantity(end, unit).to_base_units().magnitude) for end in (low, high)]
    if not _LEAST <= ends[0] <= ends[1] <= _MOST:
        raise ValueError(
            f"given {low:g} to {high:g} {unit}, expected {_LEAST:g} to {_MOST:g} in units of the SI"
        )


def _one_of(row: dict[str, str], name: str, choices: tuple[str, ...]) -> Any:
    if row[name] not in choices:
        raise ValueError(f"{name}: given {row[name]!r}, expected one of {', '.join(choices)}")
    return row[name]


def _number(row: dict[str, str], name: str) -> float | None:
    text = row[name]
    return _finite(name, text) if text else None


def _finite(name: str, text: str) -> float:
    try:
        number = math.nan if "_" in text else float(text)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise ValueError(f"{name}: given {text!r}, expected a finite number")
    return number


def _validity(text: str) -> tuple[tuple[str, float, float], ...]:
    """``"bits=7..9;rate_hz=1e8..2e9"`` as ``(("bits", 7, 9), ("rate_hz", 1e8, 2e9))``."""
    ranges = []
    for part in filter(None, text.split(";")):
        key, _, span = part.partition("=")
        low, dots, high = span.partition("..")
        if not (dots and key.strip()):
            raise ValueError(f"valid: given {part!r}, expected name=low..high")
        ranges.append((key.strip(), _finite("valid", low), _finite("valid", high)))
    return tuple(ranges)
