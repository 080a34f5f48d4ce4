"""Comparisons as text and picture, and the page that shows them."""

from dataclasses import replace
from pathlib import Path

import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from oscsim.energy import load_constants
from oscsim.energy.validation.figure import panels, png
from oscsim.energy.validation.page import BEGIN, END, PAGE, markdown, renewed
from oscsim.energy.validation.replay import Validation, replay
from oscsim.energy.validation.row import QUANTITIES, Range, Row
from oscsim.energy.validation.words import number, remarks, row_cells
from oscsim.errors import ConfigError

PROJECT = Path(__file__).parents[3]


def test_page_is_up_to_date():
    page = (PROJECT / PAGE).read_text(encoding="utf-8")
    assert renewed(page, replay(load_constants())) == page, "run python -m oscsim.energy.validation.page"
    assert page.count("not validated") >= 3 and "Moy-1968-ROSC-Ising" in page


@pytest.mark.parametrize("page", ["", BEGIN, END, f"{END}{BEGIN}"])
def test_page_without_marks_is_refused(page):
    with pytest.raises(ConfigError, match="with the marks"):
        renewed(page, Validation("x", (), ()))


def test_rest_of_the_page_stays():
    found = Validation("x", (), ())
    page = renewed(f"a\n{BEGIN}\nold\n{END}\nb\n", found)
    assert page.startswith(f"a\n{BEGIN}\n") and page.endswith(f"{END}\nb\n") and "old" not in page
    assert renewed(page, found) == page and all(name in page for name in QUANTITIES)


def test_cells_cannot_break_a_table():
    rows = (Row("a|b[c]<d", "chip_power", None, 1.0, "independent", "why|not"),)
    lines = markdown(Validation("x", rows, ())).splitlines()
    (line,) = [text for text in lines if text.startswith("| a")]
    assert line.replace("\\|", "").count("|") == 7 and "&lt;d" in line and "\\[c]" in line


def test_rows_in_words():
    row = Row("x", "chip_power", Range(1e-3, 2e-3, 4e-2), 5e-2, "independent", notes=("n",))
    assert row_cells(row) == ["x", "1 mW, 2 mW, 40 mW", "50 mW", "0.04", "no (uninformative)", "independent"]
    none = Row("y", "chip_power", None, None, "independent", "nothing to compare", ("n",))
    assert row_cells(none) == ["y", "–", "–", "–", "–", "–"]
    assert remarks([row, none]) == ["all: n", "y: nothing to compare"]
    assert (number(9.996e-4, "W"), number(0.0, "W"), number(5e-20, "J")) == ("1 mW", "0 aW", "0.05 aJ")


@pytest.mark.parametrize("rows", [(), (Row("x", "chip_power", Range(1.0, 2.0, 3.0), 2.5, "independent"),)])
def test_picture(rows):
    assert png(Validation("x", rows, ())).startswith(b"\x89PNG")


@pytest.mark.parametrize("bound", [False, True])
def test_an_upper_bound_is_an_arrow_that_the_legend_explains(bound):
    row = Row("x", "chip_power", Range(1.0, 2.0, 3.0), 2.5, "independent", bound=bound, published_bound=bound)
    figure = Figure(layout="constrained")
    FigureCanvasAgg(figure)
    panels(figure, Validation("x", (row,), ()))
    arrows = [line for line in figure.axes[0].lines if line.get_marker() == "<" and len(line.get_xdata())]
    assert [float(line.get_xdata()[0]) for line in arrows] == ([1.0, 2.5] if bound else [])
    said = [text.get_text() for text in figure.legends[0].get_texts()]
    assert ("predicted: at most" in said) == ("published: at most" in said) == bound
    assert row_cells(row)[2] == ("at most 2.5 W" if bound else "2.5 W")


def test_what_is_not_compared_has_no_role():
    compared = Row("x", "chip_power", Range(1.0, 2.0, 3.0), 2.5, "independent")
    assert compared.to_json()["role"] == "independent"
    for other in (replace(compared, predicted=None), replace(compared, published=None)):
        assert other.to_json()["role"] is None and row_cells(other)[-1] == "–"
