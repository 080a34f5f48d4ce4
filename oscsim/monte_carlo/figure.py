"""Mask agreement and S error against the value of one imperfection, or of several side by side."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from oscsim import pair_terms
from oscsim.demo.pictures import LINES, MUTED, to_png
from oscsim.monte_carlo.levels import LEVELS
from oscsim.monte_carlo.row import Row
from oscsim.monte_carlo.study import Study

_BUILT = "J as built"
_DECADE = 10.0


def png(study: Study, rows: Sequence[Row]) -> bytes:
    """Two panels about the rows of a study; whiskers are 95 % confidence intervals."""
    return to_png(lambda figure: panels(figure, study, rows), (8.0, 3.6))


def panels(figure: Figure, study: Study, rows: Sequence[Row]) -> None:
    """Left: share of wrong lock decisions. Right: root mean square error of S, with both read-outs.

    A swept number runs along the axis, logarithmic where its values span a decade; anything else (words,
    contributions) stands side by side. The title says family, level, chips and layer. S is at most the
    largest ``|J|`` of the layer, which the axis of its error names.
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
    right.set_ylabel(f"rms error of S = J⟨cos ψ⟩, largest |J| {_largest_coupling(study):.3g}")
    figure.suptitle(title(study, rows), fontsize=9)
    for axes in (left, right):
        axes.set_ylim(bottom=0.0)
        axes.grid(axis="y")


def title(study: Study, rows: Sequence[Row]) -> str:
    """Family, level, number of chips and the first digits of the layer's digest."""
    chips, design = max(row.chips for row in rows), study.points[0].design
    family = "ideal oscillators" if study.level == "ideal" else f"family {design.family}"
    said = LEVELS[study.level].split(":")[0]
    layer = study.spec.digest[:12]
    return f"{family}, level {study.level} ({said})\nlayer {layer}, {chips} chip{'s' * (chips > 1)} a point"


def _largest_coupling(study: Study) -> float:
    allowed, coupling = pair_terms.unmasked(study.spec), np.abs(pair_terms.coupling(study.spec))
    pairs = allowed & ~np.eye(len(allowed), dtype=bool)
    return float(coupling[:, pairs].max())


def _numbers(rows: Sequence[Row]) -> list[float] | None:
    values = [row.value for row in rows]
    if any(isinstance(value, bool) or not isinstance(value, (int, float)) for value in values):
        return None
    return [float(value) for value in values]


def _places(left: Axes, right: Axes, rows: Sequence[Row]) -> list[float]:
    """Where the rows lie along the axis, which is labelled; logarithmic where values span a decade.

    Zero has no place on a logarithmic axis: below the least value that is not zero it is linear.
    """
    numbers = _numbers(rows)
    if numbers is None:
        places = [float(k) for k in range(len(rows))]
        words = [row.label if row.option is None else str(row.value) for row in rows]
        for axes in (left, right):
            axes.set_xticks(places, words, rotation=25, ha="right")
            axes.set_xlim(-0.5, len(rows) - 0.5)
        return places
    positive = [number for number in numbers if number > 0.0]
    decades = bool(positive) and min(numbers) >= 0.0 and max(positive) >= _DECADE * min(positive)
    for axes in (left, right):
        axes.set_xlabel(str(rows[0].option))
        if decades and min(numbers) > 0.0:
            axes.set_xscale("log")
        elif decades:
            axes.set_xscale("symlog", linthresh=min(positive))
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
