"""``oscsim energy --validate``: published devices against what the model predicts for them."""

from rich.padding import Padding
from rich.text import Text

from oscsim.cli.output import Output
from oscsim.energy.constants import Book
from oscsim.energy.validation.replay import Validation, replay
from oscsim.energy.validation.row import QUANTITIES, ROLES
from oscsim.energy.validation.words import ROW_COLUMNS, SUMMARY_COLUMNS, remarks, row_cells, summary_cells


def validate(out: Output, book: Book, chips: str | None = None, plot: str | None = None) -> Validation:
    """Replay rings and chips, show every comparison and the verdicts, and write the JSON if it was asked for.

    Parameters
    ----------
    chips : CSV file with the columns of the shipped chips, instead of those. plot : PNG file to write.

    Raises
    ------
    SchemaError
        the file is no such table; with file and line.
    """
    found = replay(book, chips)
    pictures = {}
    if plot is not None:
        from oscsim.energy.validation.figure import png  # matplotlib takes a second to import

        pictures[plot] = png(found)
    out.write_json(found.to_json(), pictures)
    show(out, found)
    return found


def show(out: Output, found: Validation) -> None:
    """A table per quantity with its remarks, then one line per verdict."""
    for quantity, (unit, words) in QUANTITIES.items():
        rows = [row for row in found.rows if row.quantity == quantity]
        if not rows:
            continue
        out.print(Text(f"{words} ({unit})", style="bold"))
        out.table(ROW_COLUMNS, [row_cells(row) for row in rows])
        for text in remarks(rows):
            out.print(Padding(Text(text), (0, 0, 0, 2), expand=False))
        out.print("")
    out.table(SUMMARY_COLUMNS, [summary_cells(one) for one in found.summaries])
    for role, meaning in ROLES.items():
        out.print(Text(f"{role}: {meaning}"))
    out.print(Text(f"chips: {found.chips}"))
