"""Heat maps of the regime map: error of the closed form over frequency spread, size and gain."""

import textwrap
from collections.abc import Sequence

import numpy as np
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.colors import Normalize
from matplotlib.figure import Figure, SubFigure
from matplotlib.image import AxesImage
from matplotlib.patches import Rectangle

from oscsim.demo.pictures import to_png
from oscsim.regime.conventions import CONVENTIONS
from oscsim.regime.row import Row
from oscsim.tolerance import REGIME_CAP

LARGEST_ERROR = 0.5  # where the colours end; the number in the cell does not
_AXES = {"n": "oscillators N", "gain": "gain K (rad / time unit)"}
_COLOURS = "viridis_r"


def png(rows: Sequence[Row]) -> bytes:
    """A page with every panel there is data for, and the conventions written out below it."""
    lines = _lines(rows)
    columns = len({row.spread for row in rows})
    width = max(9.0, 1.2 + (len(CONVENTIONS) + 1) * columns * 0.4)

    def draw(figure: Figure) -> None:
        parts = figure.subfigures(len(lines), 1, squeeze=False, hspace=0.04)[:, 0]
        for part, (alpha, across) in zip(parts, lines, strict=True):
            panels(part, rows, across, alpha)
        figure.supxlabel(textwrap.fill(caption(rows), int(width * 17)), fontsize=8, x=0.01, ha="left")

    height = sum(0.9 + 0.36 * len({getattr(row, across) for row in rows}) for _, across in lines) + 1.3
    return to_png(draw, (width, height))


def panels(
    figure: Figure | SubFigure,
    rows: Sequence[Row],
    across: str = "n",
    alpha: float | None = None,
    conventions: Sequence[str] = tuple(CONVENTIONS),
) -> None:
    """One heat map per convention, of mean ``|S_network - S_closed_form|`` over pairs and seeds, and another.

    The last one is the mean of ``|S_network|``, the error of an answer that is zero everywhere: where the
    others are no smaller, the closed form says nothing. The frequency spread runs to the right. A dot marks
    cells whose networks came to rest for every seed, in the exact locked state; the black bar at the bottom
    of a cell is the share of its seeds that did not settle.

    Parameters
    ----------
    across : what runs upwards: "n" at the middle gain of the rows, or "gain" at N = 32 (or their middle N).
    alpha : of the cells; default: the smallest there is.

    >>> from oscsim.regime import packaged_map
    >>> figure = Figure()
    >>> panels(figure, packaged_map(), conventions=["given", "one"])
    >>> len(figure.axes)  # two conventions, zero, and the colour bar
    4
    """
    alpha = min(row.alpha for row in rows) if alpha is None else alpha
    other, value = _held(rows, across)
    shown = [row for row in rows if row.alpha == alpha and getattr(row, other) == value]
    axes = figure.subplots(1, len(conventions) + 1, squeeze=False, sharey=True)[0]
    colours = Normalize(0.0, LARGEST_ERROR)
    image = None
    for axis, name in zip(axes, [*conventions, None], strict=True):
        found = [row for row in shown if row.convention == (name or conventions[0])]
        values = [row.mean_error if name else row.mean_sync for row in found]
        image = _panel(axis, found, values, across, colours)
        axis.set_title(f"r: {name}" if name else "S = 0", fontsize=9)
        axis.set_xlabel("spread σ (rad / time unit)", fontsize=8)
    axes[0].set_ylabel(_AXES[across], fontsize=8)
    held = f"K = {value:g}" if other == "gain" else f"N = {value:g}"
    figure.suptitle(f"{held}, α = {alpha:g}", fontsize=9, x=0.01, ha="left")
    bar = figure.colorbar(image, ax=axes, extend="max", pad=0.01, aspect=14)  # type: ignore[arg-type]
    bar.set_label("mean |S error| (S of J ≤ 1)", fontsize=8)


def caption(rows: Sequence[Row]) -> str:
    """What the panels show, with every convention, in one paragraph."""
    seeds = sorted({row.seeds for row in rows})
    count = f"{seeds[0]}" if len(seeds) == 1 else f"{seeds[0]} to {seeds[-1]}"
    conventions = "; ".join(f"{name}: {text}" for name, text in CONVENTIONS.items())
    return (
        "Closed form of a pair against the network ODE, mean over the pairs i < j (no diagonal) and over "
        f"{count} seeds of |S error|. Frequencies normal with standard deviation σ, initial phases uniform "
        f"on [0, 2π). Order parameter r in the closed form: {conventions}. S\u00a0=\u00a00: the error of an "
        "answer that is zero everywhere, mean |S|. ● whole network at rest for every "
        "seed, checked against the exact locked state. Black bar: share of seeds unsettled, that is whose "
        f"average of S changes by more than {REGIME_CAP:g} (mean over pairs) when only the later half of the "
        "averaging span is used; they count in the mean."
    )


def _lines(rows: Sequence[Row]) -> list[tuple[float, str]]:
    """(alpha, what runs upwards) of every line of panels; a single value needs no second line."""
    several = [across for across in _AXES if len({getattr(row, across) for row in rows}) > 1] or ["n"]
    return [(alpha, across) for alpha in sorted({row.alpha for row in rows}) for across in several]


def _held(rows: Sequence[Row], across: str) -> tuple[str, float]:
    """Which setting is held in a line of panels, and its value."""
    other = "gain" if across == "n" else "n"
    values = sorted({getattr(row, other) for row in rows})
    return other, 32 if other == "n" and 32 in values else values[(len(values) - 1) // 2]


def _panel(
    axis: Axes, rows: Sequence[Row], values: Sequence[float], across: str, colours: Normalize
) -> AxesImage:
    spreads = sorted({row.spread for row in rows})
    heights = sorted({getattr(row, across) for row in rows})
    grid = np.full((len(heights), len(spreads)), np.nan)
    for row, value in zip(rows, values, strict=True):
        y, x = heights.index(getattr(row, across)), spreads.index(row.spread)
        grid[y, x] = value
        _marks(axis, (x, y), value, row, colours)
    image = axis.imshow(
        grid, cmap=_COLOURS, norm=colours, origin="lower", aspect="auto", interpolation="none"
    )
    axis.set_xticks(range(len(spreads)), [f"{spread:g}" for spread in spreads], fontsize=7)
    axis.set_yticks(range(len(heights)), [f"{height:g}" for height in heights], fontsize=7)
    axis.tick_params(length=0)
    axis.spines[:].set_visible(False)
    return image


def _marks(axis: Axes, at: tuple[int, int], value: float, row: Row, colours: Normalize) -> None:
    """The number in a cell, a dot where everything locks, a bar as long as the unsettled share."""
    x, y = at
    red, green, blue, _ = colormaps[_COLOURS](float(min(colours(value), 1.0)))
    dark = 0.299 * red + 0.587 * green + 0.114 * blue < 0.5
    ink = "#ffffff" if dark else "#000000"
    number = f"{value:.3f}" if value < 0.0995 else f"{value:.2f}"
    axis.text(x, y + 0.06, number.removeprefix("0"), ha="center", va="center", fontsize=6.5, color=ink)
    if row.at_rest == 1.0:
        axis.plot(x - 0.34, y + 0.3, "o", markersize=2.6, color=ink)
    if row.unsettled > 0:
        axis.add_patch(Rectangle((x - 0.5, y - 0.5), row.unsettled, 0.14, color="#000000", linewidth=0))
