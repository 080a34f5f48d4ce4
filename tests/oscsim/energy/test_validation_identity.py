"""What was seen never validates, under any name; what is the same counts once; a bound tells nothing."""

from dataclasses import replace

import pytest

from oscsim.energy import load_constants
from oscsim.energy.validation.chips import replay, role_of
from oscsim.energy.validation.devices import load_chips
from oscsim.energy.validation.identity import publication, sources
from oscsim.energy.validation.row import Range, Row
from oscsim.energy.validation.summary import summaries
from oscsim.energy.validation.words import row_cells

BOOK = load_constants()
MOY = load_chips()[0]
OTHER = replace(MOY, name="other", doi="", citation="", n_osc=64, n_couplings=128, power_w=1e-3)
RING = replace(OTHER, node_nm=250.0, vdd_v=2.5, n_osc=1, n_couplings=0, f_osc_hz=1.33e9, power_w=0.025)


def summary(rows, quantity="chip_power"):
    return next(one for one in summaries(rows) if one.quantity == quantity)


@pytest.mark.parametrize(
    "changes",
    [
        {"name": "x", "doi": "", "citation": ""},
        {
            "name": "x",
            "citation": "",
            "doi": "https://www.nature.com/articles/s41928-022-00749-3",
            "n_osc": 7,
        },
        {"name": "x", "citation": "", "doi": "https://doi.org/10.1038%2FS41928-022-00749-3", "n_osc": 7},
        {"name": "x", "doi": "10.1/x", "citation": "", "node_nm": 28.0},
        {"name": "x", "doi": "10.1/x", "citation": "", "n_couplings": None},
        {"name": "x", "doi": "10.1/x", "citation": "", "power_w": 0.05},
        {"name": "Moy et al.", "doi": "", "citation": "", "n_osc": 7},
        {"name": "x", "doi": "", "citation": "moy", "n_osc": 7},
        {"name": "x", "doi": "https://ieeexplore.ieee.org/document/766813/", "citation": "", "n_osc": 7},
    ],
)
def test_the_calibration_chip_under_another_name(changes):
    assert role_of(replace(MOY, **changes)) == "calibration"


def test_fitted_rings_under_another_name():
    assert role_of(RING) == role_of(replace(RING, n_osc=4, power_w=0.1, doi="10.1/x")) == "calibration"
    assert role_of(replace(RING, f_osc_hz=1.5e9)) == role_of(replace(RING, power_w=0.03)) == "independent"
    assert role_of(replace(RING, name="Hajimiri ring 3", power_w=None)) == "calibration"
    assert role_of(OTHER) == role_of(replace(OTHER, name="Moy, second chip", doi="10.1/new")) == "independent"


def test_one_publication_and_one_device_count_once():
    twice = replace(OTHER, name="again", doi="10.1/b")
    paper = [
        replace(OTHER, name=f"p{k}", doi=doi, power_w=k * 1e-3)
        for k, doi in ((2, "10.1/P"), (3, "doi:10.1/p"))
    ]
    apart = replace(OTHER, name="apart", power_w=7e-3)
    chips = [OTHER, twice, *paper, apart]
    assert publication(paper[0]) == publication(paper[1]) == "10.1/p"
    found = sources(chips)
    assert found[0] == found[1] and found[2] == found[3] and len(set(found)) == 3
    one = summary([
        replace(row, source=source)
        for chip, source in zip(chips, found, strict=True)
        for row in replay(chip, BOOK)
    ])  # fmt: skip
    assert one.n_independent == 3 and "of 3 independent devices" in one.verdict


def test_a_publication_is_covered_where_all_its_rows_are():
    good, bad = (
        Row(n, "chip_power", Range(1.0, 2.0, 4.0), p, "independent", source="s")
        for n, p in (("a", 2.0), ("b", 9.0))
    )
    assert (summary([good]).covered, summary([good, bad]).covered, summary([good, bad]).n_independent) == (
        1,
        0,
        1,
    )


def test_an_upper_bound_is_neither_covered_nor_not():
    def bound(published):
        return Row("x", "chip_power", Range(2.0, 3.0, 4.0), published, "independent", bound=True)

    for published in (1.0, 3.0):
        one = summary([bound(published)])
        assert bound(published).covered is None and row_cells(bound(published))[4] == "upper bound"
        assert (one.n_independent, one.covered, one.n_bound) == (0, 0, 1)
        assert one.verdict.startswith("not validated") and "below a predicted upper bound" in one.verdict
    assert bound(5.0).covered is False and summary([bound(5.0)]).n_independent == 1
    chip = replace(OTHER, settle_is_bound=True, settle_s=1e-3, energy_per_solution_j=1e-9)
    row = replay(chip, BOOK)[-1]
    assert row.bound and row.covered is None and row.predicted.low > row.published


def test_recalled_numbers_are_named_in_the_notes():
    note = "from memory, not verified: 65 nm"
    assert all(note in row.notes for row in replay(MOY, BOOK))
    assert not any(note in row.notes for row in replay(replace(MOY, source_note="a, b"), BOOK))
