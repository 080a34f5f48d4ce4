"""The picture of an experiment: validation curves and final differences."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..training.folder import LOG
from .summary import by_seed, paired_difference


def curve(folder: Path) -> list[tuple[int, float]]:
    """Return the steps of a run at which it was validated, and the bits per byte."""
    with (folder / LOG).open(newline="") as stream:
        return [
            (int(line["step"]), float(line["validation_bits_per_byte"]))
            for line in csv.DictReader(stream)
            if line["validation_bits_per_byte"]
        ]


def png(rows: Sequence[dict[str, Any]], curves: dict[str, list[tuple[int, float]]], reference: str) -> bytes:
    """Return a PNG: curves of every run on the left, differences from the reference on the right.

    Parameters
    ----------
    rows : of the table of runs.
    curves : of every run, by its name.
    reference : the variant that differences are taken from.
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=(11, 4.2), layout="constrained")
    left, right = figure.subplots(1, 2, width_ratios=(3, 2))
    variants = list(dict.fromkeys(line["variant"] for line in rows))
    for number, variant in enumerate(variants):
        runs = [curves[line["run"]] for line in rows if line["variant"] == variant]
        steps = [step for step, _ in runs[0]]
        values = np.array([[bits for _, bits in run] for run in runs])
        label = f"{variant} ({len(runs)} seed{'s' * (len(runs) > 1)})"
        left.plot(steps, values.mean(axis=0), color=f"C{number}", label=label)
        if len(runs) > 1:
            left.fill_between(steps, values.min(axis=0), values.max(axis=0), color=f"C{number}", alpha=0.2)
        _difference(right, rows, variant, reference, number)
    left.set(xlabel="step", ylabel="validation, bits per byte (subset of windows)")
    left.legend()
    left.grid(alpha=0.3)
    right.axvline(0.0, color="black", linewidth=0.8)
    right.set_yticks(range(len(variants)), variants)
    right.invert_yaxis()
    right.set_xlabel(f"validation bits per byte minus {reference}'s\n(paired by seed, 95 % t-interval)")
    right.grid(axis="x", alpha=0.3)
    stream = io.BytesIO()
    figure.savefig(stream, format="png", dpi=130, metadata={"Software": None})
    return stream.getvalue()


def _difference(axes: Any, rows: Sequence[dict[str, Any]], variant: str, reference: str, at: int) -> None:
    column = "validation_bits_per_byte"
    found = paired_difference(by_seed(rows, variant, column), by_seed(rows, reference, column))
    if found.low is not None and found.high is not None:
        axes.plot([found.low, found.high], [at, at], color=f"C{at}", linewidth=2)
    axes.plot(
        [found.mean], [at], "o", color=f"C{at}", markerfacecolor="white" if found.pairs == 1 else f"C{at}"
    )
