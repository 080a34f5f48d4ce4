"""The page of an experiment: tables in Markdown."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .plan import REFERENCES
from .summary import Difference, by_seed, compressors, paired_difference

BEGIN, END = "<!-- runs: begin -->", "<!-- runs: end -->"


def markdown(
    rows: Sequence[dict[str, Any]],
    tuned: Sequence[dict[str, Any]],
    validation: bytes,
    machine: dict[str, Any],
) -> str:
    """Return the generated part of docs/results.md.

    Parameters
    ----------
    rows, tuned : tables of the runs whose results count, and of those that chose the learning rates.
    validation : the bytes that all were validated on.
    machine : the environment of the runs.
    """
    return "\n".join(
        (
            *_results(rows), "",
            *_compressors(validation), "",
            *_tuning(tuned), "",
            *_provenance(rows, tuned, machine), "",
        )
    )  # fmt: skip


def _results(rows: Sequence[dict[str, Any]]) -> list[str]:
    lines = [
        "| trained | parameters | learning rate | seeds | validation, bits/byte (range) | test (range) "
        "| minus | paired difference, validation (95 % t-interval) | test |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for variant in dict.fromkeys(line["variant"] for line in rows):
        mine = [line for line in rows if line["variant"] == variant]
        other = REFERENCES.get(variant)
        cells = [
            variant, f"{mine[0]['parameters']:,}", f"{mine[0]['learning_rate']:g}", str(len(mine)),
            *(_mean(mine, column) for column in ("validation_bits_per_byte", "test_bits_per_byte")),
            other or "–",
        ]  # fmt: skip
        for column in ("validation_bits_per_byte", "test_bits_per_byte"):
            if other is None:
                cells.append("–")
                continue
            gap = paired_difference(by_seed(rows, variant, column), by_seed(rows, other, column))
            cells.append(interval(gap))
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def interval(gap: Difference) -> str:
    """Return a difference as text.

    >>> interval(Difference(0.1234, 0.05, 0.2, 3)), interval(Difference(-0.01, None, None, 1))
    ('+0.123 (+0.050 to +0.200)', '-0.010 (one seed)')
    """
    if gap.low is None or gap.high is None:
        return f"{gap.mean:+.3f} (one seed)"
    return f"{gap.mean:+.3f} ({gap.low:+.3f} to {gap.high:+.3f})"


def _mean(lines: Sequence[dict[str, Any]], column: str) -> str:
    values = [line[column] for line in lines]
    mean = sum(values) / len(values)
    if len(values) == 1:
        return f"{mean:.3f}"
    return f"{mean:.3f} ({min(values):.3f}–{max(values):.3f})"


def _compressors(validation: bytes) -> list[str]:
    found = ", ".join(f"{name} {bits:.3f}" for name, bits in compressors(validation).items())
    return [f"General compressors on the same {len(validation):,} validation bytes, bits per byte: {found}."]


def _tuning(tuned: Sequence[dict[str, Any]]) -> list[str]:
    lines = [
        f"Learning rates, tried with seed {tuned[0]['seed']} for {tuned[0]['steps']} steps each (validation, "
        "bits/byte; best in bold):",
        "",
        "| model | tried |",
        "|---|---|",
    ]
    for model in dict.fromkeys(line["variant"].split(",")[0] for line in tuned):
        mine = [line for line in tuned if line["variant"].startswith(f"{model},")]
        best = min(line["validation_bits_per_byte"] for line in mine)
        cells = []
        for line in mine:
            bits = line["validation_bits_per_byte"]
            text = f"{line['learning_rate']:g}: {bits:.3f}"
            cells.append(f"**{text}**" if bits == best else text)
        lines.append(f"| {model} | {', '.join(cells)} |")
    return lines


def _provenance(
    rows: Sequence[dict[str, Any]], tuned: Sequence[dict[str, Any]], machine: dict[str, Any]
) -> list[str]:
    # a run whose record of it was lost has no wall time
    hours = sum(line["wall_time_s"] or 0.0 for line in (*rows, *tuned)) / 3600.0
    seconds = sorted(line["wall_time_s"] for line in rows if line["wall_time_s"] is not None) or [0.0]
    facts = ", ".join(f"{key} {value}" for key, value in machine.items())
    seeds = ", ".join(str(seed) for seed in sorted({line["seed"] for line in rows}))
    return [
        f"{len(rows)} runs of {rows[0]['steps']:,} steps (seeds {seeds}) and "
        f"{len(tuned)} of tuning, {hours:.1f} process-hours together, {seconds[0] / 60:.0f} to "
        f"{seconds[-1] / 60:.0f} minutes for a run that counts, while other work ran on the machine. {facts}."
    ]
