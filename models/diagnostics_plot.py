"""A picture of diagnoses: one panel per quantity, depth to the right."""

from __future__ import annotations

import io
from collections.abc import Mapping

from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from .diagnostics import QUANTITIES, Diagnosis, Quantity

# Okabe and Ito's colour-blind safe hues and a marker each.
_LOOKS = (("#0072b2", "o"), ("#e69f00", "^"), ("#009e73", "D"), ("#cc79a7", "v"), ("#555555", "s"))
_SHARES = ("local_order", "global_order", "locked_fraction")


def png(diagnoses: Mapping[str, Diagnosis]) -> bytes:
    """Return a PNG with a line per diagnosis, under its label, in the panel of every quantity it has."""
    shown = [q for q in QUANTITIES if any(q in diagnosis.quantities for diagnosis in diagnoses.values())]
    figure = Figure(figsize=(3.4 * max(1, len(shown)), 3.4), layout="constrained")
    for axes, quantity in zip(figure.subplots(1, max(1, len(shown)), squeeze=False)[0], shown, strict=False):
        _panel(axes, quantity, diagnoses)
    if len(diagnoses) == 1:
        (label, diagnosis), *_ = diagnoses.items()
        figure.suptitle(f"{label}, {diagnosis.passages} passages of {diagnosis.length} bytes", fontsize=10)
    elif shown:
        handles, labels = figure.axes[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside upper center", ncols=len(labels), frameon=False)
    content = io.BytesIO()
    FigureCanvasAgg(figure).print_png(content)
    return content.getvalue()


def _panel(axes: Axes, quantity: Quantity, diagnoses: Mapping[str, Diagnosis]) -> None:
    for index, (label, diagnosis) in enumerate(diagnoses.items()):
        colour, marker = _LOOKS[index % len(_LOOKS)]
        points = [
            (depth, block[quantity.key])
            for depth, block in enumerate(diagnosis.blocks)
            if quantity.key in block
        ]
        # an empty line keeps the label, so that the first panel can serve as the legend of all
        axes.plot([x for x, _ in points], [y for _, y in points], marker=marker, color=colour, label=label)
    axes.set_xlabel("block, 0 is next to the input")
    axes.set_ylabel(quantity.title + (f" ({quantity.unit})" if quantity.unit else ""))
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    if quantity.key in _SHARES:
        axes.set_ylim(-0.03, 1.03)
    else:
        values = [b[quantity.key] for d in diagnoses.values() for b in d.blocks if quantity.key in b]
        axes.set_ylim(0.0, 1.1 * max(values) or 1.0)
    axes.grid(alpha=0.25)
