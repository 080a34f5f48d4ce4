"""Predicted intervals against published values, one panel per quantity."""

from collections.abc import Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import EngFormatter, LogLocator

from oscsim.demo.pictures import INK, LINES, MUTED, to_png
from oscsim.energy.validation.replay import Validation
from oscsim.energy.validation.row import QUANTITIES, ROLES, Range, Row

_COLOURS: dict[str, str] = {
    "calibration": LINES[0], "independent": LINES[2], "extrapolation": LINES[3], "repeated": LINES[4],
    "same paper": LINES[1],
}  # fmt: skip
# Arrows to smaller values: upper bounds.
_AT_MOST: dict[str, Any] = {"marker": "<", "markersize": 8, "linestyle": "none"}
_PUBLISHED: dict[str, Any] = {
    "marker": "x", "color": INK, "markersize": 6, "markeredgewidth": 1.5, "linestyle": "none",
}  # fmt: skip
_PUBLISHED_AT_MOST: dict[str, Any] = _PUBLISHED | {"marker": "<", "markerfacecolor": "none"}


def png(found: Validation) -> bytes:
    """Panels of everything that was compared, as PNG."""
    count = sum(row.compared for row in found.rows)
    return to_png(lambda figure: panels(figure, found), (8.0, 1.2 + 0.75 * len(_shown(found)) + 0.24 * count))


def panels(figure: Figure, found: Validation) -> None:
    """A line per device: bar from low to high, tick at the median, cross at the published value;
    arrows to the left where one of them is an upper bound.

    Axes are logarithmic; decibels already are. Colours say what a comparison is worth.
    """
    shown = _shown(found)
    if not shown:
        figure.suptitle("nothing to compare", fontsize=9)
        return
    axes = figure.subplots(len(shown), 1, squeeze=False, height_ratios=[1 + len(r) for r in shown.values()])
    for axis, (quantity, rows) in zip(axes[:, 0], shown.items(), strict=True):
        _panel(axis, quantity, rows)
    used = {row.role for rows in shown.values() for row in rows}
    roles = [role for role in ROLES if role in used]
    handles = [axes[0, 0].plot([], [], color=_COLOURS[one], linewidth=4, label=one)[0] for one in roles]
    handles += axes[0, 0].plot([], [], label="published", **_PUBLISHED)
    everything = [row for rows in shown.values() for row in rows]
    if any(row.published_bound for row in everything):
        handles += axes[0, 0].plot([], [], label="published: at most", **_PUBLISHED_AT_MOST)
    if any(row.bound for row in everything):
        handles += axes[0, 0].plot([], [], color=MUTED, label="predicted: at most", **_AT_MOST)
    figure.legend(handles=handles, loc="outside lower center", ncols=min(len(handles), 5), fontsize=8)


def _shown(found: Validation) -> dict[str, list[Row]]:
    by_quantity = {name: [r for r in found.rows if r.compared and r.quantity == name] for name in QUANTITIES}
    return {name: rows for name, rows in by_quantity.items() if rows}


def _panel(axis: Axes, quantity: str, rows: Sequence[Row]) -> None:
    unit, words = QUANTITIES[quantity]
    for place, row in enumerate(rows):
        if row.predicted is not None and row.published is not None:
            _bar(axis, place, row, row.predicted, row.published)
    if not unit.startswith("dB"):
        _logarithmic(axis, unit)
    axis.set_yticks(range(len(rows)), [row.label for row in rows], fontsize=8)
    axis.set_ylim(len(rows) - 0.4, -0.6)
    axis.set_xlabel(f"{words} ({unit})" if unit.startswith("dB") else words, fontsize=8)
    axis.grid(axis="x", color=MUTED)


def _logarithmic(axis: Axes, unit: str) -> None:
    """Labels in the unit, at 1, 2, 5, 10, ...; at powers of ten where the axis spans many."""
    axis.set_xscale("log")
    low, high = axis.get_xlim()
    axis.xaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0) if high < 100.0 * low else (1.0,)))
    axis.xaxis.set_major_formatter(EngFormatter(unit=unit, sep=" "))
    axis.xaxis.set_minor_locator(LogLocator(subs="all"))
    axis.tick_params(axis="x", which="minor", labelbottom=False)


def _bar(axis: Axes, place: int, row: Row, predicted: Range, published: float) -> None:
    colour, ends = _COLOURS[row.role], [predicted.low, predicted.high]
    axis.plot(ends, [place, place], color=colour, linewidth=4, alpha=0.3 if row.bound else 0.6)
    axis.plot(predicted.median, place, "|", color=colour, markersize=11, markeredgewidth=2)
    if row.bound:
        axis.plot([predicted.low], [place], color=colour, **_AT_MOST)
    axis.plot([published], [place], **(_PUBLISHED_AT_MOST if row.published_bound else _PUBLISHED))
