"""The three laws as a picture: error against the strength of coupling, and across the locking edge."""

import io
from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from oscsim.convergence.row import Row
from oscsim.convergence.study import Law, Study

WORDS = {
    "own": "circuit – own phase reduction",
    "floor": "own phase reduction – closed form",
    "closed": "circuit – closed form",
}
COLOURS = {"own": "#0b6e99", "floor": "#888888", "closed": "#c8553d"}
SMALLEST = 1e-9  # errors below are drawn here: a logarithmic axis has no zero
MARKS = {"own": "o", "floor": "s", "closed": "^"}


def png(study: Study) -> bytes:
    """One panel per kind of layer with its laws, and one with the pairs along d/a.

    >>> from oscsim.circuits import CircuitDesign
    >>> row = Row("pair", 2, 0.8, 0, 0.01, 1e-4, 2e-4, 3e-4, 1.0, 1.0, True, "settled")
    >>> png(Study(CircuitDesign(), (row,)))[:4]
    b'\\x89PNG'
    """
    kinds = list(dict.fromkeys(law.kind for law in study.laws if law.epsilon))
    pairs = [row for row in study.rows if row.kind == "pair" and row.settled]
    panels = max(len(kinds) + bool(pairs), 1)
    across = min(panels, 3)
    down = -(-panels // across)
    figure = Figure(figsize=(4.2 * across, 3.7 * down), layout="constrained")
    axes = figure.subplots(down, across, squeeze=False).ravel()
    for axis in axes[panels:]:
        axis.set_visible(False)
    for axis, kind in zip(axes, kinds, strict=False):
        _laws(axis, kind, [law for law in study.laws if law.kind == kind])
    if pairs:
        _along_the_edge(axes[len(kinds)], pairs)
    figure.suptitle(f"family {study.design.family}: {study.design.oscillator()!r}", fontsize=9)
    content = io.BytesIO()
    figure.savefig(content, format="png", dpi=110, metadata={"Software": None})
    return content.getvalue()


def _laws(axis: Any, kind: str, laws: Sequence[Law]) -> None:
    for law in laws:
        if max(law.error) < SMALLEST:
            continue  # nothing but rounding: a line far below the others would only squeeze them
        style = {
            "color": COLOURS[law.comparison],
            "marker": MARKS[law.comparison],
            "lw": 0 if law.order else 1.2,
        }
        axis.loglog(law.epsilon, np.maximum(law.error, SMALLEST), label=_label(law), **style)
        if law.order is not None:
            x = np.array([min(law.epsilon), max(law.epsilon)])
            axis.loglog(x, law.order.prefactor * x**law.order.exponent, color=style["color"], lw=1.2)
    axis.set(title=kind, xlabel="locking strength ε = a/ω₀", ylabel="root mean square error of S")
    ticks = sorted({value for law in laws for value in law.epsilon})
    axis.set_xticks(ticks, [f"{value:.2g}" for value in ticks])
    axis.set_xticks([], minor=True)
    axis.margins(y=0.12)
    axis.legend(fontsize=7, loc="best")
    axis.grid(alpha=0.3, which="both", lw=0.4)


def _label(law: Law) -> str:
    order = "" if law.order is None else f": order {law.order.exponent:.2f}"
    return WORDS[law.comparison] + order


def _along_the_edge(axis: Any, pairs: Sequence[Row]) -> None:
    values = sorted({row.epsilon for row in pairs}, reverse=True)
    for shade, epsilon in zip(np.linspace(1.0, 0.35, len(values)), values, strict=True):
        mine = sorted((row for row in pairs if row.epsilon == epsilon), key=lambda row: row.ratio)
        ratio = [row.ratio for row in mine]
        for name in ("own", "closed"):
            error = np.maximum([getattr(row, name) for row in mine], SMALLEST)
            axis.semilogy(
                ratio, error, marker=MARKS[name], color=COLOURS[name], alpha=shade, lw=1.0,
                label=f"ε = {epsilon:.2g}: {WORDS[name].split(' – ')[1]}",
            )  # fmt: skip
    axis.axvline(1.0, color="black", lw=0.8, ls=":")
    axis.set(title="pairs across the locking edge", xlabel="d/a", ylabel="error of S = ⟨cos ψ⟩")
    axis.legend(fontsize=6, loc="best")
    axis.grid(alpha=0.3, lw=0.4)
