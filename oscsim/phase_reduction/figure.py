"""Families side by side, as a picture and a table: ``python -m oscsim.phase_reduction.figure``."""

import argparse
import io
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from oscsim.oscillators import LC, Oscillator, Relaxation, Ring, StuartLandau
from oscsim.phase_reduction.reduction import Reduction, reduce

SHOWN: tuple[tuple[str, Oscillator], ...] = (
    ("LC, μ = 0.3", LC(mu=0.3)),
    ("ring of 3, inverter", Ring(stages=3)),
    ("ring of 5, inverter", Ring(stages=5)),
    ("relaxation", Relaxation(comparator_gain=40.0, comparator_time=0.02)),
    ("Stuart-Landau, shear 0.5", StuartLandau(shear=0.5)),
)
_COLOUR, _SECOND, _GREY = "#0b6e99", "#c8553d", "#888888"


def png(shown: tuple[tuple[str, Oscillator], ...] = SHOWN) -> bytes:
    """One column per oscillator: its limit cycle, Z at the coupling node, and Q against a sine.

    >>> png((("LC", LC()),))[:4]
    b'\\x89PNG'
    """
    figure = Figure(figsize=(2.7 * len(shown), 7.6), layout="constrained")
    rows = figure.subplots(3, len(shown), squeeze=False)
    for column, (title, oscillator) in enumerate(shown):
        reduction = reduce(oscillator)
        _cycle(rows[0, column], title, reduction)
        _response(rows[1, column], reduction)
        _coupling(rows[2, column], reduction)
    for row, name in zip(rows, ("second variable", "response Z, rad", "Q / b₁"), strict=True):
        row[0].set_ylabel(name)
    rows[1, 0].legend(fontsize=7, frameon=False, loc="upper center")
    rows[2, 0].legend(fontsize=7, frameon=False)
    content = io.BytesIO()
    figure.savefig(content, format="png", dpi=100, metadata={"Software": None})
    return content.getvalue()


def _cycle(axis: Any, title: str, reduction: Reduction) -> None:
    states = np.vstack([reduction.cycle.states, reduction.cycle.states[:1]])
    axis.plot(states[:, 0], states[:, 1], color=_COLOUR)
    axis.plot(*states[0, :2], "o", color=_SECOND, ms=5)  # phase 0
    axis.set(title=title, xlabel="coupling node")


def _response(axis: Any, reduction: Reduction) -> None:
    count = len(reduction.cycle.states)
    turn = np.arange(count + 1) / count
    response, state = (
        np.append(y[:, 0], y[0, 0]) for y in (reduction.cycle.response, reduction.cycle.states)
    )
    axis.plot(turn, response, color=_COLOUR, label="Z")
    axis.plot(
        turn, state * np.abs(response).max() / np.abs(state).max(), color=_GREY, lw=0.8, label="state, scaled"
    )
    axis.axhline(0.0, color=_GREY, lw=0.5)
    axis.set(xlabel="phase, turns")


def _coupling(axis: Any, reduction: Reduction) -> None:
    x, q = np.linspace(-np.pi, np.pi, 361), reduction.coupling
    axis.plot(x, q(x) / q.strength, color=_COLOUR, label="Q")
    axis.plot(x, q.odd(x) / q.strength, color=_SECOND, label="odd part")
    axis.plot(x, np.sin(x), color=_GREY, ls=":", label="sin")
    axis.axhline(0.0, color=_GREY, lw=0.5)
    axis.set(
        xlabel="θ_source - θ_target, rad",
        title=f"lag {np.degrees(q.lag):.1f}°, b₃/b₁ {_small(q.sines[2] / q.strength)}",
    )
    axis.title.set_fontsize(9)


def _small(value: float) -> str:
    return "0" if abs(value) < 1e-12 else f"{value:.1e}"


def table(shown: tuple[tuple[str, Oscillator], ...] = SHOWN) -> str:
    """The reduced figures as rows of Markdown."""
    lines = [
        "| oscillator | w | 2 b₁ | b₃/b₁ | lag | shift/b₁ | locks to d/a | contraction |",
        "|---|---|---|---|---|---|---|---|",
    ]
    x = np.linspace(0.0, np.pi, 20_001)
    for title, oscillator in shown:
        reduction = reduce(oscillator)
        q, contraction = reduction.coupling, reduction.contraction
        lines.append(
            f"| {title} | {reduction.cycle.frequency:.4f} | {2.0 * q.strength:.4f} | "
            f"{_small(q.sines[2] / q.strength)} | {np.degrees(q.lag):.1f}° | "
            f"{q.shift / q.strength + 0.0:.3f} | {q.odd(x).max() / q.strength:.4f} | "
            f"{'> 4.7' if contraction > 4.7 else f'{contraction:.3f}'} |"
        )
    return "\n".join(lines)


def main() -> None:
    """Write the picture of the documentation and print its table."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("path", type=Path, nargs="?", default=Path("docs/images/phase_reduction.png"))
    path = parser.parse_args().path
    path.write_bytes(png())
    print(table())


if __name__ == "__main__":
    main()
