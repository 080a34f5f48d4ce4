"""``python -m oscsim.energy.tables``: write the table of constants into docs/energy_constants.md."""

from collections.abc import Iterable
from pathlib import Path
from typing import get_args

from oscsim.cli.page import around_marks_of
from oscsim.energy.constants import Book, Constant, How, RangeFrom
from oscsim.energy.constants_file import load_constants
from oscsim.energy.formula_names import in_formulas
from oscsim.io import atomic_write

PAGE = Path("docs/energy_constants.md")
BEGIN, END = "<!-- constants: begin -->", "<!-- constants: end -->"
HOW_WORDS: dict[How, str] = {
    "exact": "physics, no uncertainty",
    "read": "seen in the source itself",
    "transcribed": "seen in a copy of the source's table, or in its abstract",
    "derived": "computed from published numbers, as its note says",
    "prior": "a design range, with the reason in its note: **not measured**",
    "recalled": "from memory: refused unless asked for",
    "absent": "known not to exist in public: always refused",
    "chosen": "an option of the user",
}
RANGE_WORDS: dict[RangeFrom, str] = {
    "exact": "no range",
    "published": "published with the value",
    "spread": "from the values of several sources or devices, named in the note",
    "assumed": "nobody published one: a factor of 1.5 either way where nothing else is said (10 % for "
    "supplies), or the design range of a prior",
    "none": "there is no value",
}
_COLUMNS = ("constant", "value (low to high)", "conditions", "how", "range", "source", "note")


def constants_markdown(book: Book) -> str:
    """What stands between the marks: what the words mean, then every constant in the order of its file.

    >>> text = constants_markdown(load_constants())
    >>> [line for line in text.splitlines() if "landauer" in line][0].split(" | ")[1]
    '2.871e-21 J/bit'
    """
    lines = ["How a constant was obtained:", "", *_meanings(get_args(How), HOW_WORDS), ""]
    lines += ["Where its range comes from:", "", *_meanings(get_args(RangeFrom), RANGE_WORDS), ""]
    lines += [*_reference_only(book), ""]
    lines += [_line(_COLUMNS), _line(["---"] * len(_COLUMNS))]
    lines += [_line(_cells(constant)) for constant in book.values()]
    return "\n".join(lines) + "\n"


def renewed(page: str, book: Book) -> str:
    """A page with the table between its marks; ConfigError where they are missing."""
    before, after = around_marks_of(page, f"{PAGE}: given a page without its marks", BEGIN, END)
    return f"{before}{BEGIN}\n\n{constants_markdown(book)}\n{END}{after}"


def _reference_only(book: Book) -> list[str]:
    used = set(in_formulas(book))
    names = ", ".join(f"`{name}`" for name in book if name not in used)
    return [f"No formula uses these; others were derived from them, or they are there to compare: {names}."]


def _meanings(names: Iterable[str], words: dict[How, str] | dict[RangeFrom, str]) -> list[str]:
    return [f"* *{name}*: {words[name]}." for name in names]  # type: ignore[index]


def _line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _cells(constant: Constant) -> list[str]:
    texts = [
        f"`{constant.name}`", _value(constant), _conditions(constant), constant.how, constant.range_from,
        constant.citation, constant.note,
    ]  # fmt: skip
    return [text.replace("|", "\\|").replace("[", "\\[").replace("<", "&lt;") for text in texts]


def _value(constant: Constant) -> str:
    """``2 pJ/conversion`` with its range, in the unit of the file."""
    value, low, high = constant.value, constant.low, constant.high
    unit = "" if constant.unit == "dimensionless" else f" {constant.unit}"
    if value is None or low is None or high is None:
        return "none"
    best = f"{value:.4g}"
    return f"{best}{unit}" if low == high else f"{best} ({low:.3g} to {high:.3g}){unit}"


def _conditions(constant: Constant) -> str:
    node = "" if constant.node_nm is None else f"{constant.node_nm:g} nm"
    supply = "" if constant.vdd_v is None else f"{constant.vdd_v:g} V"
    valid = ", ".join(f"{name} {low:g} to {high:g} only" for name, low, high in constant.valid)
    return "; ".join(filter(None, (node, supply, constant.conditions, valid)))


def main() -> None:
    """Write the table into the page; run in the folder of the project."""
    text = renewed(PAGE.read_text(encoding="utf-8"), load_constants())
    atomic_write(PAGE, text.encode())


if __name__ == "__main__":
    main()
