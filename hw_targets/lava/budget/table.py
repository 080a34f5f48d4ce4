"""The measured budget as Markdown tables and as a picture."""

import io
from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from hw_targets.lava.budget.study import Measured

# One colour for every line of a panel, in the order of its bits.
COLOURS = ("#c8553d", "#d99a2b", "#5a9e4b", "#0b6e99", "#8b5fa3", "#444444")
TITLES = {
    "S locked": "pair: S of locked cells, rms",
    "S turning": "pair: S of turning cells, rms",
    "wrong locks": "pair: width of the ratios d/|a| around 1\nthat are decided wrongly",
    "S network": "network: S, rms",
    "order parameter": "network: order parameter, rms",
}


def markdown(rows: Sequence[Measured]) -> str:
    """One table per quantity; every cell is predicted / measured and their ratio.

    >>> print(markdown([Measured("S locked", 16, 10, None, 2e-4, 1e-4)]).splitlines()[-1])
    | 16 | 2.0e-04 / 1.0e-04 = 2.00 |
    """
    parts = []
    for quantity in dict.fromkeys(row.quantity for row in rows):
        mine = [row for row in rows if row.quantity == quantity]
        ratios = [row.ratio for row in mine]
        parts.append(f"**{quantity}**: {len(mine)} cells, ratios {min(ratios):.2f} to {max(ratios):.2f}\n")
        parts.append(_table(mine) + "\n")
    return "\n".join(parts).rstrip()


def _table(rows: Sequence[Measured]) -> str:
    """Rows are phase (and sine) bits, columns the sine bits of pair layers or the weight bits of networks."""
    network = rows[0].weight_bits is not None
    found = {(_line(row), _column(row)): row for row in rows}
    columns = sorted({column for _, column in found})
    name = "weights" if network else "sine"
    text = [
        f"| {'phase, sine' if network else 'phase'} | "
        + " | ".join(f"{name} {bits}" for bits in columns)
        + " |",
        "|---" * (len(columns) + 1) + "|",
    ]
    for line in dict.fromkeys(line for line, _ in found):
        text.append(f"| {line} | " + " | ".join(_cell(found.get((line, bits))) for bits in columns) + " |")
    return "\n".join(text)


def _line(row: Measured) -> str:
    return f"{row.phase_bits}" if row.weight_bits is None else f"{row.phase_bits}, {row.sine_bits}"


def _column(row: Measured) -> int:
    return row.sine_bits if row.weight_bits is None else row.weight_bits


def _cell(row: Measured | None) -> str:
    return "" if row is None else f"{row.predicted:.1e} / {row.measured:.1e} = {row.ratio:.2f}"


def png(rows: Sequence[Measured]) -> bytes:
    """Predicted lines and measured marks, one panel per quantity.

    >>> png([Measured("S locked", bits, 10, None, 2.0**-bits, 2.0**-bits) for bits in (16, 20)])[:4]
    b'\\x89PNG'
    """
    quantities = list(dict.fromkeys(row.quantity for row in rows))
    figure = Figure(figsize=(12.0, 7.2), layout="constrained")
    axes = figure.subplots(2, 3, squeeze=False).ravel()
    for axis, quantity in zip(axes, quantities, strict=False):
        _panel(axis, quantity, [row for row in rows if row.quantity == quantity])
    for axis in axes[len(quantities) :]:
        _ratios(axis, rows)
        rows = []
    figure.suptitle("error against bits: predicted (lines) and measured (marks)", fontsize=11)
    content = io.BytesIO()
    figure.savefig(content, format="png", dpi=100, metadata={"Software": None})
    return content.getvalue()


def _panel(axis: Any, quantity: str, rows: Sequence[Measured]) -> None:
    """Over phase bits; a line per sine bits (pair), or per weight bits at ten sine bits (network)."""
    shown = [row for row in rows if row.weight_bits is None or row.sine_bits == 10]
    name = "sine" if rows[0].weight_bits is None else "weight"
    widths = sorted({_column(row) for row in shown})
    for bits, colour in zip(widths, COLOURS, strict=False):
        line = [row for row in shown if _column(row) == bits]
        phase = [row.phase_bits for row in line]
        style = {"color": colour}
        axis.semilogy(phase, [row.predicted for row in line], lw=1.3, label=f"{bits} {name} bits", **style)
        axis.semilogy(phase, [row.measured for row in line], "o", ms=4, **style)
    axis.set_title(TITLES.get(quantity, quantity), fontsize=9)
    axis.set_xlabel("phase bits")
    low, high = axis.get_ylim()
    axis.set_ylim(low * (low / high) ** 0.25, high)  # room for the legend
    axis.legend(fontsize=7, ncols=3 if len(widths) > 4 else 2, loc="lower left")
    axis.grid(alpha=0.3, which="both", lw=0.4)


def _ratios(axis: Any, rows: Sequence[Measured]) -> None:
    """Histogram of predicted / measured of all cells; an empty panel for none."""
    if not rows:
        axis.set_visible(False)
        return
    ratios = [row.ratio for row in rows]
    axis.hist(ratios, bins=np.geomspace(0.4, 2.5, 31), color="#888888")
    axis.set_xscale("log")
    for limit in (0.5, 2.0):
        axis.axvline(limit, color="#c8553d", lw=1.0, ls=":")
    axis.set_xticks([0.5, 0.7, 1.0, 1.4, 2.0], ["0.5", "0.7", "1", "1.4", "2"])
    axis.set_xticks([], minor=True)
    axis.set_title(f"predicted / measured, all {len(ratios)} cells", fontsize=9)
