"""One picture of a run: ratios to SDPA with their spread, and time against N."""

from __future__ import annotations

import io

from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, NullLocator, StrMethodFormatter

from hw_targets.triton.bench.contender import BOTH, FORWARD, OURS, SDPA
from hw_targets.triton.bench.options import CASES
from hw_targets.triton.bench.results import Report, Row

# Okabe and Ito's colour-blind safe hues and a marker each, in the order contenders are met.
_LOOKS = (("#0072b2", "o"), ("#555555", "s"), ("#e69f00", "^"), ("#009e73", "D"), ("#cc79a7", "v"))


def png(report: Report) -> bytes:
    """Two columns of axes, one row per case: bars of time / SDPA, and log-log time against N."""
    cases = list(dict.fromkeys(row.case for row in report.rows))
    names = list(dict.fromkeys(row.contender for row in report.rows))
    looks = {name: _LOOKS[index % len(_LOOKS)] for index, name in enumerate(names)}
    figure = Figure(figsize=(12, 3.4 * len(cases) + 0.6), layout="constrained")
    axes = figure.subplots(len(cases), 2, squeeze=False, width_ratios=(3, 2))
    for line, case in zip(axes, cases, strict=True):
        rows = [row for row in report.rows if row.case == case]
        _bars(line[0], rows, looks, case)
        _lines(line[1], rows, looks)
    machine = report.machine
    figure.suptitle(
        f"{machine.get('gpu', machine['cpu'])}, {machine['threads']} threads, {machine['implementation']}"
        f" {machine.get('engine', '')}, {machine['precision']}, {machine['date']}",
        fontsize=10,
    )
    content = io.BytesIO()
    FigureCanvasAgg(figure).print_png(content)
    return content.getvalue()


def _bars(axes: Axes, rows: list[Row], looks: dict[str, tuple[str, str]], case: str) -> None:
    shown = [(row, row.to_sdpa) for row in rows if row.to_sdpa is not None and row.contender != SDPA]
    for place, (row, ratio) in enumerate(shown):
        axes.barh(
            place, ratio.median - 1.0, left=1.0, color=looks[row.contender][0], capsize=2,
            xerr=[[ratio.median - ratio.low], [ratio.high - ratio.median]],
            alpha=1.0 if row.contender == OURS else 0.6,
        )  # fmt: skip
        axes.annotate(f" {ratio.median:.3g}", (max(1.0, ratio.high), place), va="center", fontsize=8)
    labels = [f"{row.contender}, {row.n}, {'fwd' if row.what == FORWARD else 'fwd+bwd'}" for row, _ in shown]
    axes.set_yticks(range(len(shown)), labels, fontsize=7)
    axes.invert_yaxis()
    axes.axvline(1.0, color=_LOOKS[1][0], linewidth=1)
    axes.set_xscale("log")
    axes.xaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    axes.xaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
    axes.xaxis.set_minor_locator(NullLocator())
    ends = [end for _, ratio in shown for end in (ratio.low, ratio.high)]
    axes.set_xlim(0.8 * min([0.8, *ends]), 1.6 * max([1.25, *ends]))
    axes.set_xlabel("time / SDPA float32, median and quartiles (left of 1 is faster)")
    axes.set_title(CASES[case].title)


def _lines(axes: Axes, rows: list[Row], looks: dict[str, tuple[str, str]]) -> None:
    for name, (colour, marker) in looks.items():
        for what, style in ((FORWARD, "-"), (BOTH, "--")):
            points = sorted(
                (row.n, row.seconds.median) for row in rows if (row.contender, row.what) == (name, what)
            )
            if points:
                axes.plot(
                    *zip(*points, strict=True), style, marker=marker, color=colour, label=f"{name}, {what}"
                )
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    axes.set_xlabel("tokens N")
    axes.set_ylabel("seconds per call")
    axes.grid(which="both", alpha=0.25)
    axes.legend(fontsize=6.5, frameon=False)
