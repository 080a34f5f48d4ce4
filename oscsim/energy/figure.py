"""Energies as pictures: bars with ranges, the constants that matter, energy against accuracy."""

import math
import textwrap
from collections.abc import Sequence
from typing import Any, cast

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure, SubFigure
from matplotlib.patches import Patch
from matplotlib.ticker import EngFormatter, FixedLocator, FuncFormatter, LogLocator, NullFormatter

from oscsim.demo.pictures import INK, LINES, MUTED, to_png
from oscsim.energy.accuracy_curve import CurvePoint
from oscsim.energy.estimate import Estimate, Lever, Refusal
from oscsim.energy.report import EnergyReport
from oscsim.energy.row import Row

# Hues of Okabe & Ito and a hatch each: kinds can be told apart without colour.
KINDS = {
    "estimate": ("#3d8fd1", ""),
    "best case": ("#e08a00", "////"),
    "inherited": ("#12a37a", "...."),
    "calibration": ("#c565a0", "xxxx"),
}
LEVERS = 7  # bars of the tornado chart
MOST_TICKS = 6
_STEPS = ((1, 1.5, 2, 3, 5, 7), (1, 2, 5), (1, 3), (1,))
# Of a row, below its bar: the oscillators' own energy, and what noise asks of them.
_ALONE, _BELOW = 0.33, 0.42
_COLOUR = KINDS["estimate"][0]
_OSCILLATORS: dict[str, Any] = {
    "marker": "o", "markersize": 4, "color": _COLOUR, "markerfacecolor": "white", "linewidth": 1.2,
}  # fmt: skip
_BESIDE: dict[str, Any] = {"textcoords": "offset points"}  # blanks in front of a word are lost in an SVG
_JOULES = EngFormatter(unit="J", sep=" ")


def png(report: EnergyReport) -> bytes:
    """Everything about one layer in one picture."""
    return to_png(lambda figure: panels(figure, report), (10.0, height(report) + 3.1))


def height(report: EnergyReport) -> float:
    """Inches that the bars of a report need."""
    return 1.1 + 0.36 * len(report.rows)


def panels(figure: Figure, report: EnergyReport) -> None:
    """Above: one bar per hardware. Below: tornado of the first estimate, and energy against accuracy."""
    above, below = cast(list[SubFigure], figure.subfigures(2, 1, height_ratios=[height(report), 3.1]))
    bars(above.subplots(), report.rows)
    details(below, report)


def details(figure: Figure | SubFigure, report: EnergyReport) -> None:
    """The constants that move the first estimate, and its energy against accuracy."""
    left, right = figure.subplots(1, 2, width_ratios=[1.0, 1.0])
    if report.main is None:
        _nothing(left, "no estimate, no constants that matter")
    else:
        tornado(left, report.main)
    curve(right, report.curve, report.curve_note)


def bars(axis: Axes, rows: Sequence[Row]) -> None:
    """Energy of one evaluation of the layer: 95 % ranges, best values, noise floors; refusals in words.

    Parameters
    ----------
    rows : of a report; those without a number keep their name, and the first clauses of the reason.
    """
    for place, row in enumerate(rows):
        if isinstance(row.answer, Estimate):
            _bar(axis, place, row.answer, row)
    if not any(isinstance(row.answer, Estimate) for row in rows):
        axis.set_xlim(1e-12, 1e-6)
    for place, row in enumerate(rows):
        if not isinstance(row.answer, Estimate):
            axis.text(
                0.005, place, row.status, va="center", fontsize=7.5,
                style="italic", color=MUTED, transform=axis.get_yaxis_transform(),
            )  # fmt: skip
    axis.set_yticks(range(len(rows)), [row.label for row in rows])
    axis.set_ylim(len(rows) - 0.4, -0.6)
    axis.tick_params(axis="y", length=0)
    axis.set(xscale="log", xlabel="energy of one evaluation of the layer")
    axis.use_sticky_edges = False
    axis.margins(x=0.1)
    _joules(axis, "x")
    axis.grid(visible=True, axis="x")
    _legend(axis, rows)


def _bar(axis: Axes, place: int, answer: Estimate, row: Row) -> None:
    colour, hatch = KINDS[answer.kind]
    total = answer.total
    span: dict[str, Any] = {"width": total.high_j - total.low_j, "left": total.low_j, "height": 0.52}
    axis.barh(place, **span, color=colour, alpha=0.3, linewidth=0)
    # a bar of its own: in an SVG a hatch on a translucent bar has the colour of the bar
    axis.barh(
        place, **span, facecolor="none", edgecolor=colour, hatch=hatch, linewidth=1.2,
        linestyle="--" if total.uninformative else "-",
    )  # fmt: skip
    axis.plot([total.value_j], [place], marker="D", color=colour, markeredgecolor=INK, markersize=5)
    said = _shown(total.value_j) + (" (uninformative)" if total.uninformative else "")
    axis.annotate(said, (total.high_j, place), (6, 0), **_BESIDE, va="center", fontsize=8, color=INK)
    floor = row.floor_interval
    if floor is not None:
        axis.plot([floor.low_j, floor.high_j], [place + _BELOW] * 2, color=LINES[4], linewidth=2.2)
        axis.plot([floor.value_j], [place + _BELOW], marker="|", color=LINES[4], markersize=7)
    alone = row.oscillators
    if alone is not None:
        axis.plot([alone.low_j, alone.high_j], [place + _ALONE] * 2, color=_COLOUR, linewidth=1.2)
        axis.plot([alone.value_j], [place + _ALONE], **_OSCILLATORS)


def _legend(axis: Axes, rows: Sequence[Row]) -> None:
    kinds = dict.fromkeys(row.answer.kind for row in rows if isinstance(row.answer, Estimate))
    marks: list[object] = [
        Patch(facecolor="none", edgecolor=KINDS[kind][0], hatch=KINDS[kind][1], label=kind) for kind in kinds
    ]
    marks += axis.plot([], [], marker="D", color=MUTED, markeredgecolor=INK, linestyle="none", markersize=5,
                       label="best value")  # fmt: skip
    if any(row.floor_interval is not None for row in rows):
        marks += axis.plot([], [], label="oscillators alone (95 %)", **_OSCILLATORS)
        marks += axis.plot([], [], color=LINES[4], linewidth=2.2, label="their noise floor")
    axis.legend(handles=marks, loc="lower center", bbox_to_anchor=(0.45, 1.0), ncols=len(marks), fontsize=8)


def tornado(axis: Axes, answer: Estimate, count: int = LEVERS) -> None:
    """How the total moves when one constant goes through its range, the largest movers only."""
    levers = answer.levers[:count]
    middle = answer.total.value_j
    for place, lever in enumerate(levers):
        _lever(axis, place, lever, middle)
    axis.axvline(middle, color=MUTED, linewidth=1.0)
    axis.set_yticks(range(len(levers)), [_spaced(lever.constant) for lever in levers], fontsize=8)
    axis.tick_params(axis="y", length=0)
    axis.set_ylim(max(len(levers), 1) - 0.4, -0.6)
    axis.set_xscale("log")
    axis.use_sticky_edges = False  # room for the words beside the bars
    axis.margins(x=0.12)
    _joules(axis, "x")
    axis.grid(visible=True, axis="x")
    axis.set_xlabel("energy when one constant spans its range")
    axis.set_title(f"what matters: {answer.name}", loc="right", fontsize=9)


def _lever(axis: Axes, place: int, lever: Lever, middle: float) -> None:
    ends = sorted((lever.low_j, lever.high_j))
    axis.barh(place, ends[1] - ends[0], left=ends[0], height=0.6, color=LINES[0])
    for end, constant in ((lever.low_j, "low"), (lever.high_j, "high")):
        if not np.isclose(end, middle, rtol=1e-3, atol=0.0):
            side, away = ("right", -4) if end < middle else ("left", 4)
            axis.annotate(
                constant, (end, place), (away, 0), **_BESIDE, ha=side, va="center", fontsize=7, color=MUTED
            )


def curve(axis: Axes, points: Sequence[CurvePoint], note: str = "") -> None:
    """Energy against the error of S: settle longer, resolve finer; oscillators against their noise floor.

    The floor is of the oscillators alone: the total, with couplers and read-outs, is a thin line apart.

    Parameters
    ----------
    note : why there are few points.
    """
    usable = [point for point in points if point.energy is not None]
    if not usable:
        _nothing(axis, "no energy at any accuracy")
        return
    errors, totals = [point.accuracy for point in usable], [point.energy for point in usable]
    axis.plot(
        errors, [total.value_j for total in totals if total is not None], color=MUTED, linewidth=0.9,
        linestyle=":", marker=".", markersize=3, label="total",
    )  # fmt: skip
    _band(axis, usable, "oscillators", LINES[0], "oscillators alone")
    _band(axis, usable, "floor", LINES[4], "noise floor of the oscillators")
    axis.set(xscale="log", yscale="log", xlabel="error of S", ylabel="energy of the layer")
    axis.xaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    axis.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axis.xaxis.set_minor_formatter(NullFormatter())
    axis.set_title("energy against accuracy", loc="right", fontsize=9)
    axis.set_xlim(_wider(points[0].accuracy, points[-1].accuracy))
    _joules(axis, "y")
    axis.grid(visible=True)
    said = "\n".join(filter(None, (note, _why_it_ends(points))))
    axis.legend(
        loc="upper center", bbox_to_anchor=(0.45, -0.22), ncols=3, fontsize=7, columnspacing=1.2,
        title=said or None, title_fontproperties={"size": 7, "style": "italic"},
    )  # fmt: skip


def _band(axis: Axes, points: Sequence[CurvePoint], name: str, colour: str, label: str) -> None:
    points = [point for point in points if getattr(point, name) is not None]
    if not points:
        return
    errors, intervals = [point.accuracy for point in points], [getattr(point, name) for point in points]
    axis.fill_between(
        errors, [i.low_j for i in intervals], [i.high_j for i in intervals], color=colour, alpha=0.22,
        linewidth=0,
    )  # fmt: skip
    marker, line = ("o", "-") if name == "oscillators" else ("s", "--")
    best = [i.value_j for i in intervals]
    axis.plot(errors, best, color=colour, marker=marker, linestyle=line, markersize=3.5, label=label)


def _wider(coarse: float, fine: float) -> tuple[float, float]:
    """Coarse to fine from left to right, with room."""
    return coarse * 1.1, fine / 1.1


def _why_it_ends(points: Sequence[CurvePoint]) -> str:
    """Where the curve ends because a finer point is refused, in the first clauses of the reason."""
    refused = [point for point in points if point.energy is None]
    if not refused:
        return ""
    first = max(refused, key=lambda point: point.accuracy)
    return textwrap.fill(f"from {first.accuracy:g} on refused: {Refusal('', first.why).brief}", 78)


def _joules(axis: Axes, which: str) -> None:
    """Ticks in pJ, nJ and so on, as many as there is room for; call it when everything is drawn."""
    side, view = (axis.xaxis, axis.get_xlim()) if which == "x" else (axis.yaxis, axis.get_ylim())
    side.set_major_locator(FixedLocator(ticks(*sorted(view))))
    side.set_major_formatter(FuncFormatter(lambda value, _: _shown(value)))
    side.set_minor_formatter(NullFormatter())


def ticks(low: float, high: float) -> list[float]:
    """Round numbers on a logarithmic axis: the densest choice of at most MOST_TICKS.

    >>> ticks(4e-9, 3e-8), len(ticks(1e-12, 1e-3))
    ([5e-09, 7e-09, 1e-08, 1.5e-08, 2e-08, 3e-08], 5)
    """
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    choices = [[float(f"{m}e{k}") for k in range(first, last + 1) for m in steps] for steps in _STEPS]
    choices += [[float(f"1e{k}") for k in range(first, last + 1) if k % every == 0] for every in (2, 3, 6)]
    shown = [[tick for tick in choice if low <= tick <= high] for choice in choices]
    return next(choice for choice in shown if len(choice) <= MOST_TICKS)


def _shown(energy_j: float) -> str:
    return _JOULES(float(f"{energy_j:.3g}"))


def _nothing(axis: Axes, why: str) -> None:
    axis.text(0.5, 0.5, why, ha="center", va="center", color=MUTED, transform=axis.transAxes)
    axis.set_axis_off()


def _spaced(name: str) -> str:
    return name.replace("_", " ")
