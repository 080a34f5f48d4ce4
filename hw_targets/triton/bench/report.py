"""A report for people and spreadsheets: table rows, Markdown, CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from typing import Any

from hw_targets.triton.bench.contender import SDPA
from hw_targets.triton.bench.results import Report, Row

_COLUMNS = (
    "case",
    "N",
    "pass",
    "contender",
    "ms",
    "/ SDPA",
    "quartiles",
    "/ oscsim",
    "tokens/s",
)
_MEMORY_COLUMNS = ("peak MiB", "mem/SDPA")
_GPU_COLUMNS = ("TFLOP/s", "GB/s")
CSV_COLUMNS = (
    "case", "n", "pass", "contender", "median_s", "low_s", "high_s", "ratio_to_sdpa", "ratio_to_sdpa_low",
    "ratio_to_sdpa_high", "ratio_to_oscsim", "tokens_per_s", "rounds", "peak_bytes", "tflops", "gbytes_per_s",
)  # fmt: skip
BEGIN, END = "<!-- bench: begin -->", "<!-- bench: end -->"


def columns(report: Report) -> tuple[str, ...]:
    """Header of the table: memory where it was measured, achieved FLOPs and bandwidth on a GPU."""
    return (
        _COLUMNS
        + (_MEMORY_COLUMNS if _with_memory(report) else ())
        + (_GPU_COLUMNS if _on_gpu(report) else ())
    )


def cells(report: Report, row: Row) -> tuple[str, ...]:
    """One row as text, in the order of :func:`columns`."""
    sdpa = row.to_sdpa
    memory = ("–" if row.peak_bytes is None else f"{row.peak_bytes / 2**20:.1f}", _memory_ratio(report, row))
    work = (f"{row.tflops:.3g}", f"{row.gbytes_per_s:.3g}") if _on_gpu(report) else ()
    return (
        row.case,
        str(row.n),
        row.what.replace("forward+backward", "both"),
        row.contender,
        f"{1e3 * row.seconds.median:.4g}",
        "–" if sdpa is None else f"{sdpa.median:.3g}",
        "–" if sdpa is None else f"{sdpa.low:.3g}–{sdpa.high:.3g}",
        f"{row.to_ours.median:.3g}",
        f"{row.tokens_per_s:,.0f}",
        *(memory if _with_memory(report) else ()),
        *work,
    )


def _memory_ratio(report: Report, row: Row) -> str:
    """Peak memory over that of float32 SDPA in the same pass."""
    for other in report.rows:
        same = (other.case, other.n, other.what) == (row.case, row.n, row.what)
        if same and other.contender == SDPA and other.peak_bytes and row.peak_bytes is not None:
            return f"{row.peak_bytes / other.peak_bytes:.3g}"
    return "–"


def _with_memory(report: Report) -> bool:
    return any(row.peak_bytes is not None for row in report.rows)


def _on_gpu(report: Report) -> bool:
    return report.options.device == "cuda"


def csv_text(report: Report) -> str:
    """Every row with its quartiles; seconds, bytes, plain numbers."""
    file = io.StringIO()
    table = csv.writer(file, lineterminator="\n")
    table.writerow(CSV_COLUMNS)
    for row in report.rows if not report.failed else ():
        sdpa = row.to_sdpa
        ratios = ("", "", "") if sdpa is None else (sdpa.median, sdpa.low, sdpa.high)
        table.writerow((
            row.case, row.n, row.what, row.contender,
            row.seconds.median, row.seconds.low, row.seconds.high, *ratios,
            row.to_ours.median, row.tokens_per_s, row.rounds,
            "" if row.peak_bytes is None else row.peak_bytes, row.tflops, row.gbytes_per_s,
        ))  # fmt: skip
    return file.getvalue()


def input_lines(report: Report) -> list[str]:
    """What the inputs of each case and size came to."""
    lines = []
    for entry in report.inputs:
        facts = {key: value for key, value in entry.items() if key not in ("case", "n")}
        words = ", ".join(f"{key.replace('_', ' ')} {value:.3g}" for key, value in facts.items())
        lines.append(f"{entry['case']}, N = {entry['n']}: {words}")
    return lines


def exponent_lines(report: Report) -> list[str]:
    """Fitted scaling exponents."""
    return [
        f"{e['case']}, {e['contender']}, {e['what']}: time ~ N^{e['exponent']:.2f}, N = {e['from']}…{e['to']}"
        for e in report.exponents()
    ]


def markdown(report: Report) -> str:
    """The report as a section of a page; without any speed when a check failed."""
    facts = [f"* {key.replace('_', ' ')}: {value}" for key, value in report.machine.items()]
    if report.failed:
        failed = [f"* {check}" for check in report.failed]
        return (
            "\n".join([*facts, "", "The correctness gate failed, so nothing was timed:", "", *failed]) + "\n"
        )
    worst = max(report.checks, key=lambda c: c.error / c.allowed if c.allowed else 0.0)
    parts = [
        *facts, "",
        f"Gate: {len(report.checks)} checks hold; nearest to its limit: {worst}.", "",
        *_table(columns(report), [cells(report, row) for row in report.rows]), "",
        *(f"* {line}" for line in (*exponent_lines(report), *input_lines(report), *report.notes)),
    ]  # fmt: skip
    if report.blocks:
        names = ("n", "batch", "what", "contender", "tokens_per_s", "to_transformer")
        parts += ["", *_table(names, [[_number(entry[name]) for name in names] for entry in report.blocks])]
    return "\n".join(parts) + "\n"


def _table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    return [f"| {' | '.join(line)} |" for line in (columns, ["---"] * len(columns), *rows)]


def _number(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)
