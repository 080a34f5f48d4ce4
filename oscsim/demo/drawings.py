"""What the demo draws; each function fills one matplotlib figure from arrays that are already there."""

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.figure import Figure, SubFigure
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray

from oscsim.demo.pictures import INK, MUTED, line_colour, marker
from oscsim.tolerance import CONDITION_CAP, Accuracy, condition_of_ratio

Array = NDArray[np.float64]
SMALLEST_ERROR = 1e-17  # an error of exactly zero is drawn here: a logarithmic axis has no zero
_DASHED = (0, (4, 3))


def sync_matrices(
    figure: Figure | SubFigure, columns: Mapping[str, Array], unmasked: NDArray[np.bool_], first_head: int = 0
) -> None:
    """One row per head, one column per source, one colour scale: S (H, N, N); masked cells stay empty."""
    first = next(iter(columns.values()))
    signed = min(float(sync.min()) for sync in columns.values()) < -1e-3
    cmap = colormaps["RdBu_r" if signed else "viridis"].with_extremes(bad=(0.0, 0.0, 0.0, 0.0))
    scale = {"cmap": cmap, "vmin": -1.0 if signed else 0.0, "vmax": 1.0, "interpolation": "none"}
    axes = figure.subplots(len(first), len(columns), squeeze=False, sharex=True, sharey=True)
    image = None
    for column, (name, sync) in enumerate(columns.items()):
        axes[0][column].set_title(name)
        axes[-1][column].set_xlabel("source j")
        for head, row in enumerate(axes):
            image = row[column].imshow(np.where(unmasked, sync[head], np.nan), **scale)
            row[column].spines[:].set_visible(False)
            row[column].tick_params(length=0, labelsize=7)
            row[column].xaxis.set_major_locator(MaxNLocator(5, integer=True))
            row[column].yaxis.set_major_locator(MaxNLocator(5, integer=True))
    for head, row in enumerate(axes):
        row[0].set_ylabel(f"head {first_head + head}\ndriven token i")
    figure.colorbar(image, ax=axes, shrink=0.6, aspect=30, pad=0.01, label="S")  # type: ignore[arg-type]


def settling(
    axis: Axes,
    ratios: Sequence[float],
    exact: tuple[Array, Array],
    recorded: Mapping[str, tuple[Array, Array]],
) -> None:
    """Phase differences of a few cells over time: the exact flow as lines, targets as markers.

    Parameters
    ----------
    ratios : (C,) d/|a|; exact : times (T,) and phases (T, C); recorded : target -> the same.
    """
    times, phases = exact
    for cell, ratio in enumerate(ratios):
        label = f"{ratio:.2f}" + ("" if ratio <= 1 else ", rotates")
        axis.plot(times, phases[:, cell], color=line_colour(cell), linewidth=1.8, label=label)
        if ratio <= 1:
            axis.axhline(np.arcsin(ratio), color=line_colour(cell), linestyle=_DASHED, linewidth=0.9)
        for name, (t, psi) in recorded.items():
            axis.plot(t, psi[:, cell], **marker(name))
    for name in recorded:
        axis.plot([], [], label=name, **marker(name))
    axis.set(xlim=(0, times[-1]), ylim=(-0.1, 4.2), xlabel="time on the cell's own clock, max(a, d) t")
    axis.set_ylabel("phase difference ψ (rad)")
    axis.set_yticks([0, np.pi / 4, np.pi / 2, 3 * np.pi / 4, np.pi], ["0", "π/4", "π/2", "3π/4", "π"])
    axis.legend(title="d/a", loc="center left", bbox_to_anchor=(1.0, 0.5), fontsize=8)


def order_parameter(figure: Figure, r: Array) -> None:
    """r_i of every head along the passage: r (H, N)."""
    axis = figure.subplots()
    for head, row in enumerate(r):
        axis.plot(row, color=line_colour(head), linewidth=1.6, label=f"head {head}")
    axis.set(xlim=(0, r.shape[1] - 1), ylim=(0, 1.03), xlabel="token i", ylabel="order parameter r")
    axis.grid(visible=True)
    axis.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), fontsize=8)


def pair_errors(figure: Figure, errors: Mapping[str, tuple[Array, Accuracy]], ratio: Array) -> None:
    """``|S - S_closed_form| / |J|`` of every off-diagonal pair against 1 - d/a, one panel per target.

    Parameters
    ----------
    errors : target -> (errors (P,), what it promises); ratio : d/|a| (P,), of the same pairs.
    """
    axes = _panels(figure, len(errors))
    distance = np.maximum(1.0 - ratio, -10.0)
    edge = np.concatenate([-np.geomspace(10.0, 1e-6, 300), np.geomspace(1e-6, 1.0, 300)])
    growth = np.minimum(condition_of_ratio(1.0 - edge), CONDITION_CAP)
    for axis, (name, (error, promise)) in zip(axes, errors.items(), strict=False):
        allowed = promise.epsilon * growth + np.where(edge < 0, promise.averaging_error, 0.0)
        axis.axvspan(-promise.band, promise.band, color=MUTED, alpha=0.25, linewidth=0)
        _cloud(axis, name, distance, error, (edge, allowed))
        axis.set_xscale("symlog", linthresh=1e-4, linscale=0.4)
        axis.set_xlim(-12.0, 1.2)
        axis.set_xticks([-10, -0.1, -1e-3, 0, 1e-3, 0.1, 1], ["−10", "−.1", "", "0", "", ".1", "1"])
        axis.set_xlabel("1 − d/a   (rotates < 0 < locks)")
    axes[0].set_ylabel("error of S / |J|")


def phase_errors(figure: Figure, errors: Mapping[str, tuple[Array, Accuracy]], condition: Array) -> None:
    """Circular distance of every phase to the exact one against its condition number.

    Parameters
    ----------
    errors : target -> (distances (P,) rad, what it promises); condition : (P,).
    """
    axes = _panels(figure, len(errors))
    shown = np.minimum(condition, 10 * CONDITION_CAP)
    grid = np.geomspace(1.0, max(10.0, min(float(shown.max()), CONDITION_CAP)), 50)
    for axis, (name, (error, promise)) in zip(axes, errors.items(), strict=False):
        _cloud(axis, name, shown, error, (grid, promise.epsilon * grid))
        axis.set(xscale="log", xlabel="condition of the oscillator")
    axes[0].set_ylabel("error of phase (rad)")


def _panels(figure: Figure, count: int) -> Sequence[Axes]:
    """One panel per target; an empty one where no target has a result."""
    return figure.subplots(1, max(count, 1), sharex=True, sharey=True, squeeze=False)[0]


def _cloud(axis: Axes, name: str, x: Array, error: Array, line: tuple[Array, Array]) -> None:
    """Errors as points and the largest allowed ones as a line."""
    points = marker(name) | {"marker": ".", "markersize": 2.5, "markeredgewidth": 0}
    points["markerfacecolor"] = points["color"]
    axis.plot(x, np.maximum(error, SMALLEST_ERROR), **points, alpha=0.4, rasterized=True)
    axis.plot(*line, color=INK, linewidth=1.1)
    axis.set(yscale="log", title=name, ylim=(SMALLEST_ERROR / 3, 3.0))
    axis.grid(visible=True)


def flows(figure: Figure, exact: tuple[Array, Array], goals: Array, ends: Mapping[str, Array]) -> None:
    """Clamped phases over time (lines), where they would rest (dashes), where targets end (markers).

    Parameters
    ----------
    exact : times (T,) and phases (T, C); goals : (C,); ends : target -> (C,) phases at the last time.
    """
    axis = figure.subplots()
    times, phases = exact
    for one in range(phases.shape[1]):
        axis.plot(times, phases[:, one], color=line_colour(one), linewidth=1.8)
        axis.axhline(goals[one], color=line_colour(one), linestyle=_DASHED, linewidth=0.9)
    for shift, (name, phase) in enumerate(ends.items()):
        axis.plot(np.full(len(phase), times[-1] * (1.015 + 0.02 * shift)), phase, label=name, **marker(name))
    axis.axvline(times[-1], color=MUTED, linewidth=0.8)
    axis.set(xlim=(0, times[-1] * 1.08), xlabel="time (time units)", ylabel="phase φ (rad)")
    if ends:
        axis.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), fontsize=8)
