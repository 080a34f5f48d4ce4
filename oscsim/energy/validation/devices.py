"""Published chips of coupled oscillators; empty cells are unknown."""

import os
import re
from dataclasses import dataclass
from importlib import resources

from oscsim.energy.table_file import Record, read_table
from oscsim.energy.validation.family import FAMILIES, Family, inferred

CHIP_COLUMNS = (
    "name", "year", "doi", "node_nm", "vdd_v", "n_osc", "n_couplings", "coupling_bits", "f_osc_hz", "power_w",
    "settle_s", "energy_per_solution_j", "source_note",
)  # fmt: skip
CHIP_OPTIONAL = ("family", "citation")
_MOST_BITS = 16.0
_AT_MOST = ("<=", "≤", "<")
_BOUND = re.compile(r"<\s*\d[\d.e+-]*\s*(cycles?|periods?|[munp]?s)\b")  # "< 50 cycles" in a note


@dataclass(frozen=True)
class Chip:
    """A published chip; None is unknown.

    Parameters
    ----------
    settle_is_bound : whether ``settle_s`` is an upper bound (written ``<5e-8`` or ``<=5e-8``, or with a note
        like "< 50 cycles"); then so is the energy.
    family : what its oscillators are, given or read from name and note; None where that is not clear.
    family_reason : how the family is known, or why it is not.
    line : of the file it comes from.
    """

    name: str
    year: int | None
    doi: str
    node_nm: float | None
    vdd_v: float | None
    n_osc: int | None
    n_couplings: int | None
    coupling_bits: float | None
    f_osc_hz: float | None
    power_w: float | None
    settle_s: float | None
    settle_is_bound: bool
    energy_per_solution_j: float | None
    source_note: str
    family: Family | None
    family_reason: str
    citation: str
    line: int


def load_chips(path: str | os.PathLike[str] | None = None) -> list[Chip]:
    """Chips of a table; without a path those of this project.

    Raises
    ------
    SchemaError
        a file that is no such table, with file and line.

    >>> [chip.name for chip in load_chips() if chip.power_w is not None][0]
    'Moy-1968-ROSC-Ising'
    """
    if path is not None:
        return [_chip(record) for record in read_table(path, CHIP_COLUMNS, CHIP_OPTIONAL)]
    with resources.as_file(resources.files("oscsim.energy") / "chips.csv") as shipped:
        return load_chips(shipped)


def _chip(record: Record) -> Chip:
    bits = record.number("coupling_bits")
    if bits is not None and bits > _MOST_BITS:
        raise record.fail("coupling_bits", f"at most {_MOST_BITS:g}")
    family, reason = _family(record)
    settle, is_bound = _settling(record)
    cells = record.cells
    return Chip(
        cells["name"], record.whole("year"), cells["doi"], record.number("node_nm"), record.number("vdd_v"),
        record.whole("n_osc"), _couplings(record), bits, record.number("f_osc_hz"), record.number("power_w"),
        settle, is_bound, record.number("energy_per_solution_j"), cells["source_note"], family, reason,
        cells.get("citation", "") or cells["doi"], record.line,
    )  # fmt: skip


def _couplings(record: Record) -> int | None:
    oscillators, couplings = record.whole("n_osc"), record.whole("n_couplings", zero=True)
    if None not in (oscillators, couplings) and couplings > oscillators * (oscillators - 1):  # type: ignore[operator]
        raise record.fail("n_couplings", f"at most one for each ordered pair of {oscillators} oscillators")
    return couplings


def _settling(record: Record) -> tuple[float | None, bool]:
    text = record.cells["settle_s"]
    sign = next((sign for sign in _AT_MOST if text.startswith(sign)), "")
    if not sign:
        number = record.number("settle_s")
        return number, number is not None and _BOUND.search(record.cells["source_note"]) is not None
    bare = Record(record.file, record.line, {**record.cells, "settle_s": text[len(sign) :].strip()})
    if not bare.cells["settle_s"]:
        raise record.fail("settle_s", f"a number after {sign}")
    return bare.number("settle_s"), True


def _family(record: Record) -> tuple[Family | None, str]:
    given = record.cells.get("family", "")
    if not given:
        return inferred(record.cells["name"], record.cells["source_note"])
    if given not in FAMILIES:
        raise record.fail("family", f"one of {', '.join(FAMILIES)}, or an empty cell")
    return given, "given"  # type: ignore[return-value]
