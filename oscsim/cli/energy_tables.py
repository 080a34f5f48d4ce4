"""An energy report as tables for people."""

import re
from collections.abc import Iterator, Sequence

from rich.table import Column
from rich.text import Text

from oscsim.cli.output import Output
from oscsim.counts import in_words
from oscsim.energy.estimate import Estimate, Refusal
from oscsim.energy.measured import MeasuredEnergy
from oscsim.energy.report import EnergyReport
from oscsim.energy.row import Row

LEVERS = 5  # constants of the tornado that are named
_CLOCK = re.compile(r"(epsilon|frequencies|duration): ")  # how the refusal of a clock that is too fast begins
_OFFERED = re.compile(r"--epsilon (\d\S*?)(?=[,;]|\s|$)")
_USUAL = 0.02


def show_report(
    out: Output, path: str, report: EnergyReport, details: bool, measured: MeasuredEnergy | None = None
) -> None:
    """Energies, what was counted, what matters, and what nobody should read the numbers without."""
    shape = report.layer
    out.print(Text(
        f"{path}: {shape['dynamics']}, {shape['heads']} heads, {shape['tokens']} tokens, "
        f"{shape['channels']} channels, {shape['mask']} mask"
    ))  # fmt: skip
    _show_energies(out, report, details)
    if measured is not None:
        out.print(Text(str(measured)))
    _show_counts(out, report.rows)
    if details:
        _show_items(out, report.rows)
    if report.main is not None:
        _show_levers(out, report.main)
    for note in report.notes if details else report.key_notes:
        out.print(Text(f"* {note}"))
    if not details:
        left = len(report.notes) - len(report.key_notes)
        out.print(
            Text(f"--details for {left} more notes, and every item with formula, constants and citations")
        )


def _show_energies(out: Output, report: EnergyReport, details: bool) -> None:
    out.table(
        (
            Column("hardware", no_wrap=True),
            Column("joules per layer (95 %)", no_wrap=True),
            "kind",
            "includes",
            "error of S",
            "status",
        ),
        [
            [row.label, row.energy, row.answer.kind, row.includes, row.answer.accuracy, row.status]
            for row in report.rows
            if isinstance(row.answer, Estimate)
        ],
    )
    for line in _refusals(report, details):
        out.print(Text(line))
    for row in report.rows:
        if isinstance(row.answer, Estimate) and row.schedule is not None:
            out.print(Text(f"{row.label}: {row.schedule.sentence}"))
    each = [f"{label} {str(energy).partition(' (')[0]}" for label, energy in report.per_token.items()]
    if each:
        out.print(Text(f"per token ({report.layer['valid_tokens']}): {'; '.join(each)}"))


def _refusals(report: EnergyReport, details: bool) -> Iterator[str]:
    """A line per reason: its first clauses, or all of it where nothing else is left or it was asked for."""
    rows: dict[str, list[Row]] = {}
    for row in report.rows:
        if isinstance(row.answer, Refusal):
            clock = _CLOCK.match(row.answer.reason)
            rows.setdefault(clock[0] if clock else row.answer.reason, []).append(row)
    asked = "family" in report.hardware.model_fields_set
    for key, group in rows.items():
        names, first = "; ".join(row.label for row in group), group[0].answer
        if not isinstance(first, Refusal):
            continue
        whole = details or report.main is None or (asked and any(row.group == "oscillators" for row in group))
        said = first.reason if whole else first.brief
        yield f"{names}: refused: {_slower(report, group) if _CLOCK.fullmatch(key) else ''}{said}"


def _slower(report: EnergyReport, rows: Sequence[Row]) -> str:
    """What helps all of these; "" where no epsilon does."""
    reasons = [row.answer.reason for row in rows if isinstance(row.answer, Refusal)]
    offered = [_OFFERED.search(reason) for reason in reasons]
    if None in offered:
        return ""
    epsilon = min(_USUAL, *(float(found[1]) for found in offered if found))
    instead = "" if report.hardware.time_unit_s is None else " instead of --time-unit-s"
    return f"add --epsilon {epsilon:g}{instead}, which chooses a time unit that oscillators can follow; "


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
