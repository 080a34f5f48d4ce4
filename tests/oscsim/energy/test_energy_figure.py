"""Pictures of energies: every row is there, refusals in words, nothing drawn that is not known."""

from dataclasses import replace

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from oscsim import FixedOrder, FrequencyCoupling, PhaseLayerSpec
from oscsim.energy import OscillatorHardware, Refusal, load_constants
from oscsim.energy.figure import KINDS, bars, curve, panels, png, tornado
from oscsim.energy.report import energy_report


@pytest.fixture(scope="module")
def report():
    spec = PhaseLayerSpec(
        omega=np.array([[[0.0], [0.3], [0.8]]]), theta=np.zeros((1, 3, 1)), gain=[1.0],
        coupling=FrequencyCoupling(alpha=[0.0]), order_parameter=FixedOrder(r=[1.0]), time_unit_s=2e-8,
    )  # fmt: skip
    refused = {"circuit": Refusal("circuit", "a reason that is much longer than the picture is wide " * 5)}
    return energy_report(
        spec, OscillatorHardware(), refused, load_constants(), accuracies=(0.05, 0.01, 0.001)
    )


@pytest.fixture
def axis():
    figure = Figure()
    FigureCanvasAgg(figure)
    return figure.subplots()


def words(axis):
    return [text.get_text() for text in axis.texts]


def test_every_row_has_its_place_and_a_refusal_its_reason(axis, report):
    bars(axis, report.rows)
    assert [label.get_text() for label in axis.get_yticklabels()] == [row.label for row in report.rows]
    refused = [text for text in words(axis) if text.startswith("refused: ")]
    assert len(refused) == sum(isinstance(row.answer, Refusal) for row in report.rows) >= 1
    assert all(len(text) < 110 and "…" not in text for text in refused)


def test_bars_span_the_ranges_and_floors_are_marked(axis, report):
    bars(axis, report.rows)
    outlines = [p for p in axis.patches if isinstance(p, Rectangle) and p.get_linewidth() > 0.0]
    spans = [(p.get_x(), p.get_x() + p.get_width()) for p in outlines]
    expected = [(answer.total.low_j, answer.total.high_j) for _, answer in report.estimates]
    np.testing.assert_allclose(spans, expected)
    lines = [line.get_xdata() for line in axis.lines if len(line.get_xdata()) == 2]
    ranges = [
        (drawn.low_j, drawn.high_j)
        for row in report.rows
        for drawn in (row.floor_interval, row.oscillators)
        if drawn is not None
    ]
    assert len(ranges) >= 4
    np.testing.assert_allclose(lines, ranges)
    assert axis.get_xscale() == "log"


def test_kinds_differ_by_more_than_colour():
    hatches = [hatch for _, hatch in KINDS.values()]
    assert len(set(hatches)) == len({colour for colour, _ in KINDS.values()}) == len(KINDS)


def test_an_uninformative_bar_says_so(axis, report):
    wide = replace(report.main, total=replace(report.main.total, low_j=1e-15, high_j=1e-9))
    bars(axis, [replace(report.rows[0], answer=wide)])
    assert any("uninformative" in text for text in words(axis))
    assert axis.patches[-1].get_linestyle() == "--"


def test_the_tornado_shows_the_largest_swings_first(axis, report):
    tornado(axis, report.main, 4)
    widths = [patch.get_width() / patch.get_x() for patch in axis.patches]
    assert len(widths) == 4 and widths == sorted(widths, reverse=True)
    names = [label.get_text().replace(" ", "_") for label in axis.get_yticklabels()]
    assert names == [lever.constant for lever in report.main.levers[:4]]


def test_the_curve_runs_from_coarse_to_fine_and_says_where_it_ends(axis, report):
    curve(axis, report.curve)
    left, right = axis.get_xlim()
    assert left > right and "from 0.001 on refused:" in axis.get_legend().get_title().get_text()
    assert len(axis.lines[0].get_xdata()) == 2  # of three points: the last has no energy


def test_the_curve_compares_the_floor_with_the_oscillators_alone(axis, report):
    curve(axis, report.curve)
    lines = {line.get_label(): line for line in axis.lines}
    assert list(lines) == ["total", "oscillators alone", "noise floor of the oscillators"]
    usable = report.curve[:2]
    for label, name in (("total", "energy"), ("oscillators alone", "oscillators")):
        np.testing.assert_allclose(lines[label].get_ydata(), [getattr(p, name).value_j for p in usable])
    assert lines["total"].get_linewidth() < lines["oscillators alone"].get_linewidth()
    assert len(axis.collections) == 2, "ranges of what is compared, and of nothing else"


@pytest.mark.parametrize("refuse", [False, True])
def test_one_picture_with_everything_or_nothing(report, refuse):
    if refuse:
        rows = tuple(replace(row, answer=Refusal(row.label, "no"), floor=None) for row in report.rows)
        points = tuple(replace(point, energy=None, floor=None, why="no") for point in report.curve)
        report = replace(report, rows=rows, curve=points)
    assert png(report).startswith(b"\x89PNG")
    figure = Figure(layout="constrained")
    FigureCanvasAgg(figure)
    panels(figure, report)
    assert len(figure.axes) == 3


def test_a_curve_of_few_points_says_why(axis, report):
    curve(axis, report.curve, "2 points only")
    assert axis.get_legend().get_title().get_text().startswith("2 points only\nfrom 0.001 on refused:")


def test_no_words_lie_on_the_curve(report):
    figure = Figure(layout="constrained", figsize=(10.0, 6.0))
    FigureCanvasAgg(figure)
    panels(figure, report)
    figure.canvas.draw()
    axis = figure.axes[-1]
    legend, plot = axis.get_legend().get_window_extent(), axis.get_window_extent()
    assert not legend.overlaps(plot) and not axis.texts
    assert legend.y0 >= 0.0 and legend.x0 >= figure.axes[1].get_window_extent().x1 and legend.x1 <= 1000.0
