"""Pictures as inline SVG that follow the page's light or dark colours, or as PNG; no global state."""

import html
import io
import re
from collections.abc import Callable
from typing import Any

import matplotlib
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure

# Stand-ins that become CSS colours in an SVG; on paper they are near-black and grey.
INK, MUTED = "#1a1b1c", "#77787a"
_CSS = {INK: "currentColor", MUTED: "var(--muted)"}

# Colour and shape of each target: Okabe & Ito's colour-blind safe hues (the blue a little lighter).
TARGETS = {"triton": ("#3d8fd1", "s"), "brian2": ("#e08a00", "o"), "lava": ("#12a37a", "x")}
# Paul Tol's "bright" scheme: told apart by the colour-blind, visible on white and on black.
LINES = ("#4477aa", "#66ccee", "#228833", "#ccbb44", "#ee6677", "#aa3377")

_RASTER_DPI = 150  # of the clouds of points inside an SVG: ten thousand circles would be megabytes
_STYLE: dict[Any, Any] = {
    "font.size": 9.0,
    "axes.titlesize": 10.0,
    "svg.fonttype": "none",  # the page's own letters, not outlines
    "text.color": INK,
    "axes.facecolor": "none",
    "axes.edgecolor": MUTED,
    "axes.labelcolor": INK,
    "axes.titlecolor": INK,
    "xtick.color": MUTED,
    "ytick.color": MUTED,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "grid.color": MUTED,
    "grid.alpha": 0.25,
    "legend.frameon": False,
    "axes.spines.top": False,
    "axes.spines.right": False,
}
Draw = Callable[[Figure], None]


def line_colour(number: int) -> str:
    """The colour of the line with this number; six of them, then again from the first."""
    return LINES[number % len(LINES)]


def marker(target: str) -> dict[str, Any]:
    """How points of a target look in every picture: keyword arguments of ``Axes.plot``."""
    colour, shape = TARGETS.get(target, ("#c565a0", "d"))
    face = colour if shape in "x+" else "none"
    return {"color": colour, "marker": shape, "markersize": 4.5, "markerfacecolor": face, "linestyle": "none"}


def to_svg(draw: Draw, size: tuple[float, float], label: str) -> str:
    """An ``<svg>`` element to paste into a page: deterministic, fluid width, no addresses in it.

    Parameters
    ----------
    draw : fills the figure; size : (width, height) in inches, their ratio is what counts.
    label : what the picture shows, for readers who cannot see it; also salts its identifiers.
    """
    stream = io.StringIO()
    with matplotlib.rc_context({**_STYLE, "svg.hashsalt": label}):
        figure = Figure(figsize=size, dpi=_RASTER_DPI, layout="constrained", facecolor="none")
        draw(figure)
        FigureCanvasSVG(figure).print_svg(
            stream, metadata={"Date": None, "Creator": None, "Format": None, "Type": None}
        )
    svg = stream.getvalue()
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r'\sxmlns(:\w+)?="[^"]*"', "", svg)  # HTML knows what an svg element is
    svg = svg.replace("xlink:href", "href")
    head = f'role="img" aria-label="{html.escape(label)}"'
    svg = re.sub(r'<svg [^>]*?(viewBox="[^"]*")[^>]*>', lambda m: f"<svg {m[1]} {head}>", svg, count=1)
    for stand_in, css in _CSS.items():
        svg = svg.replace(stand_in, css)
    return re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)


def to_png(draw: Draw, size: tuple[float, float], dots_per_inch: int = 160) -> bytes:
    """The same picture as PNG on white, for pages that take no SVG."""
    with matplotlib.rc_context(_STYLE):
        figure = Figure(figsize=size, dpi=dots_per_inch, layout="constrained", facecolor="white")
        draw(figure)
        stream = io.BytesIO()
        FigureCanvasAgg(figure).print_png(stream, metadata={"Software": None})
    return stream.getvalue()
