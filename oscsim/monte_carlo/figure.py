"""Mask agreement and S error against the value of one imperfection, or of several side by side."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from oscsim.demo.pictures import LINES, MUTED, to_png
from oscsim.monte_carlo.levels import LEVELS
from oscsim.monte_carlo.row import Row

_BUILT = "J as built"


def png(rows: Sequence[Row]) -> bytes:
    """Two panels; whiskers are 95 % confidence intervals."""
    return to_png(lambda figure: panels(figure, rows), (8.0, 3.6))


def panels(figure: Figure, rows: Sequence[Row]) -> None:
    """Left: share of wrong lock decisions. Right: root mean square error of S, with both read-outs.

    A swept number runs along the axis; anything else (words, contributions) stands side by side.
    """
    left, right = figure.subplots(1, 2)
    places = _places(left, right, rows)
    wrong = [(1.0 - r.agreement, 1.0 - r.agreement_high, 1.0 - r.agreement_low) for r in rows]
    _line(left, places, wrong, LINES[0], "o", None)
    left.set_ylabel("wrong lock decisions (share of cells)")
    errors = [(r.error, r.error_low, r.error_high) for r in rows]
    built = [(r.built_error, r.built_low, r.built_high) for r in rows if r.built_error is not None]
    differs = len(built) == len(rows) and any(
        abs(b[0] - e[0]) > 1e-9 for b, e in zip(built, errors, strict=False)
    )
    _line(right, places, errors, LINES[0], "o", "J exact" if differs else None)
    if differs:
        _line(right, places, built, LINES[4], "s", _BUILT)
        right.legend(title="S read out with", fontsize=8, title_fontsize=8)
    right.set_ylabel("rms error of S (S of |J| ≤ 1)")
    chips = max(row.chips for row in rows)
    figure.suptitle(f"{chips} chip{'s' * (chips > 1)}, {LEVELS[rows[0].level].split(':')[0]}", fontsize=9)
    for axes in (left, right):
        axes.set_ylim(bottom=0.0)
        axes.grid(axis="y")


def _numbers(rows: Sequence[Row]) -> list[float] | None:
    values = [row.value for row in rows]
    if any(isinstance(value, bool) or not isinstance(value, (int, float)) for value in values):
        return None
    return [float(value) for value in values]


def _places(left: Axes, right: Axes, rows: Sequence[Row]) -> list[float]:
    """Where the rows lie along the axis, which is labelled; logarithmic where values span decades."""
    numbers = _numbers(rows)
    if numbers is None:
        places = [float(k) for k in range(len(rows))]
        words = [row.label if row.option is None else str(row.value) for row in rows]
        for axes in (left, right):
            axes.set_xticks(places, words, rotation=25, ha="right")
            axes.set_xlim(-0.5, len(rows) - 0.5)
        return places
    for axes in (left, right):
        axes.set_xlabel(str(rows[0].option))
        if min(numbers) > 0.0 and max(numbers) > 30.0 * min(numbers):
            axes.set_xscale("log")
        if all(number == int(number) for number in numbers) and len(numbers) <= 12:
            axes.set_xticks(sorted(numbers), [f"{number:g}" for number in sorted(numbers)])
    return numbers


def _line(
    axes: Axes, places: list[float], found: list[Any], colour: str, shape: str, label: str | None
) -> None:
    x, (value, low, high) = np.array(places), np.array(found, float).T
    order = np.argsort(x)
    whiskers = np.maximum([value - low, high - value], 0.0)[:, order]
    joined = "-" if axes.get_xlabel() else "none"
    axes.errorbar(
        x[order], value[order], whiskers, color=colour, marker=shape, markersize=4, linestyle=joined,
        linewidth=1.2, capsize=3, ecolor=MUTED, label=label,
    )  # fmt: skip
