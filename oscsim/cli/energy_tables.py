"""An energy report as tables for people."""

from collections.abc import Iterator, Sequence

from rich.text import Text

from oscsim.cli.output import Output
from oscsim.counts import in_words
from oscsim.energy.estimate import Estimate, Refusal
from oscsim.energy.measured import MeasuredEnergy
from oscsim.energy.report import EnergyReport
from oscsim.energy.row import Row

LEVERS = 5  # constants of the tornado that are named


def show_report(
    out: Output, path: str, report: EnergyReport, details: bool, measured: MeasuredEnergy | None = None
) -> None:
    """Energies, what was counted, what matters, and everything a reader should know of the numbers."""
    shape = report.layer
    out.print(Text(
        f"{path}: {shape['dynamics']}, {shape['heads']} heads, {shape['tokens']} tokens, "
        f"{shape['channels']} channels, {shape['mask']} mask"
    ))  # fmt: skip
    _show_energies(out, report.rows)
    if measured is not None:
        out.print(Text(str(measured)))
    _show_counts(out, report.rows)
    if details:
        _show_items(out, report.rows)
    if report.main is not None:
        _show_levers(out, report.main)
    for note in report.notes:
        out.print(Text(f"* {note}"))


def _show_energies(out: Output, rows: Sequence[Row]) -> None:
    out.table(
        ("hardware", "joules per layer (95 %)", "kind", "includes", "error of S", "status"),
        [
            [row.label, row.energy, row.answer.kind, row.includes, row.answer.accuracy, row.status]
            for row in rows
            if isinstance(row.answer, Estimate)
        ],
    )
    for row in rows:
        if isinstance(row.answer, Refusal):
            out.print(Text(f"{row.label}: {row.status}"))


def _show_counts(out: Output, rows: Sequence[Row]) -> None:
    counted = [(row, row.answer.counts) for row in rows if isinstance(row.answer, Estimate)]
    out.print(Text())
    out.table(
        ("hardware", "counts"),
        [
            [row.label, ", ".join(f"{in_words(name)} {n:.4g}" for name, n in counts.items() if n > 0.0)]
            for row, counts in counted
        ],
    )


def _show_items(out: Output, rows: Sequence[Row]) -> None:
    for row in rows:
        if isinstance(row.answer, Estimate):
            out.print(Text(f"\n{row.label}"))
            out.table(("item", "joules (95 %)", "formula", "constants [citation]"), _items(row.answer))
            for event, why in row.answer.left_out:
                out.print(Text(f"left out: {event}: {why}"))
            for note in row.floor_notes:
                out.print(Text(f"noise floor: {note}"))


def _items(answer: Estimate) -> Iterator[list[str]]:
    for item in answer.items:
        sources = ", ".join(f"{c.name} [{c.citation}, {c.how}]" for c in item.constants)
        yield [item.name, str(item.interval), item.formula, sources]


def _show_levers(out: Output, answer: Estimate) -> None:
    """The constants that move the total most, each through its range alone."""
    shown = [f"{lever.constant} x{lever.swing:.2g}" for lever in answer.levers[:LEVERS]]
    out.print(Text(f"\nwhat matters ({answer.name}): {', '.join(shown)}"))
