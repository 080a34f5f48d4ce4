"""The picture of docs/imperfections.md: mismatch against codes, at three strengths of coupling."""

import argparse
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from oscsim.circuits.design import CircuitDesign
from oscsim.demo.pictures import LINES, MUTED, to_png
from oscsim.monte_carlo.random_layer import random_layer
from oscsim.monte_carlo.row import Row
from oscsim.monte_carlo.study import Study, swept
from oscsim.monte_carlo.sweep import sweep

RELATIVE = (0.003, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0)  # sigma omega_0 / a_max
# largest locking strength relative to the carrier, coupling bits, marker
LINES_SHOWN = ((0.1, None, "o"), (0.03, None, "s"), (0.01, None, "^"), (0.03, 4, "s"), (0.03, 3, "s"))
CHIPS = 8


def rows_of_line(strength: float, bits: int | None, chips: int = CHIPS) -> list[Row]:
    """Rows over frequency mismatch on level "ideal", at the relative values of the axis."""
    design = CircuitDesign(coupling_bits=bits)
    points = swept(design, "frequency_mismatch", [value * strength for value in RELATIVE])
    return sweep(Study(random_layer(strength), "ideal", points, chips))


def draw(figure: Figure) -> None:
    """Left: share of wrong lock decisions. Right: rms error of S with J as built."""
    left, right = figure.subplots(1, 2)
    for number, (strength, bits, shape) in enumerate(LINES_SHOWN):
        rows = rows_of_line(strength, bits)
        said = f"$a_{{max}}/\\omega_0$ = {strength:g}" + (f", {bits} bits" if bits else "")
        look = {"color": LINES[number], "marker": shape, "label": said, "markerfacecolor": "none"}
        if bits:
            look["markerfacecolor"] = LINES[number]
        wrong = [(1 - row.agreement, 1 - row.agreement_high, 1 - row.agreement_low) for row in rows]
        _line(left, wrong, look)
        _line(right, [(row.built_error, row.built_low, row.built_high) for row in rows], look)
    left.set_ylabel("wrong lock decisions (share of cells)")
    right.set_ylabel("rms error of S (|J| < 1), J as built")
    left.legend(fontsize=8)
    for axes in (left, right):
        axes.set(xscale="log", yscale="log", xlabel="σ $\\omega_0/a_{max}$")
        axes.grid()
    figure.suptitle(f"random_layer, ideal oscillators, {CHIPS} chips a point", fontsize=9)


def _line(axes: Axes, found: list[Any], look: dict[str, Any]) -> None:
    value, low, high = np.array(found, float).T
    whiskers = np.maximum([value - low, high - value], 0.0)
    axes.errorbar(RELATIVE, value, whiskers, ecolor=MUTED, capsize=2, linewidth=1.2, markersize=5, **look)


def main() -> None:
    """Write the picture of the documentation."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("path", type=Path, nargs="?", default=Path("docs/images/imperfections.png"))
    parser.parse_args().path.write_bytes(to_png(draw, (9.0, 4.0)))


if __name__ == "__main__":
    main()
