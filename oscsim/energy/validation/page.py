"""``python -m oscsim.energy.validation.page``: write the validation into docs/energy_validation.md."""

from collections.abc import Iterable, Sequence
from pathlib import Path

from oscsim.cli.page import around_marks_of
from oscsim.energy.constants_file import load_constants
from oscsim.energy.validation.replay import Validation, replay
from oscsim.energy.validation.row import QUANTITIES, ROLES, Row
from oscsim.energy.validation.words import ROW_COLUMNS, SUMMARY_COLUMNS, remarks, row_cells, summary_cells
from oscsim.io import atomic_write

PAGE = Path("docs/energy_validation.md")
BEGIN, END = "<!-- validation: begin -->", "<!-- validation: end -->"


def markdown(found: Validation) -> str:
    """What stands between the marks: a summary, then a table per quantity with its remarks."""
    lines = [*_table(SUMMARY_COLUMNS, [summary_cells(one) for one in found.summaries]), ""]
    lines += [f"* *{role}*: {meaning}." for role, meaning in ROLES.items()]
    for quantity, (unit, words) in QUANTITIES.items():
        rows = [row for row in found.rows if row.quantity == quantity]
        if rows:
            lines += ["", f"### {words[0].upper()}{words[1:]} ({unit})", "", *_section(rows)]
    return "\n".join(lines) + "\n"


def renewed(page: str, found: Validation) -> str:
    """A page with the comparisons between its marks; ConfigError where they are missing."""
    before, after = around_marks_of(page, f"{PAGE}: given a page without its marks", BEGIN, END)
    return f"{before}{BEGIN}\n\n{markdown(found)}\n{END}{after}"


def _section(rows: Sequence[Row]) -> list[str]:
    notes = [f"* {_escaped(text)}" for text in remarks(rows)]
    return [*_table(ROW_COLUMNS, [row_cells(row) for row in rows]), *([""] if notes else []), *notes]


def _table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    lines = [columns, ["---"] * len(columns), *rows]
    return [f"| {' | '.join(_escaped(cell) for cell in line)} |" for line in lines]


def _escaped(text: str) -> str:
    return text.replace("|", "\\|").replace("<", "&lt;").replace("[", "\\[").replace("\n", " ")


def main() -> None:
    """Write the comparisons into the page; run in the folder of the project."""
    text = renewed(PAGE.read_text(encoding="utf-8"), replay(load_constants()))
    atomic_write(PAGE, text.encode())


if __name__ == "__main__":
    main()
