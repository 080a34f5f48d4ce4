"""Studies: contributions, sweeps, and going on after being stopped."""

import csv
import io
import json

import numpy as np
import pytest
from chip_layers import pair
from matplotlib.figure import Figure

from oscsim import pair_terms
from oscsim.circuits import CircuitDesign
from oscsim.cli.describe import describe
from oscsim.errors import ConfigError, SchemaError
from oscsim.monte_carlo import Study, contributions, csv_text, sweep, swept
from oscsim.monte_carlo.figure import panels, png
from oscsim.monte_carlo.sweep import chip_count

DESIGN = CircuitDesign(coupling_bits=4, frequency_mismatch=2e-3, missing_couplers=0.05, missing_seed=1)


def _study(chips=9, layer=None):
    return Study(layer or pair(tokens=8), "ideal", contributions(DESIGN), chips)


def test_parts_tell_what_the_whole_is_made_of():
    rows = sweep(Study(pair(tokens=24), "ideal", contributions(DESIGN), 12))
    assert [row.label for row in rows] == [
        "none",
        "coupling_bits",
        "frequency_mismatch",
        "missing_couplers",
        "all",
    ]
    assert [row.chips for row in rows] == [1, 1, 12, 12, 12]
    assert rows[0].error < 1e-7 and rows[0].agreement == 1.0
    parts = sum(row.error**2 for row in rows[1:-1])
    assert parts == pytest.approx(rows[-1].error ** 2, rel=0.2)


def test_progress_counts_chips():
    study, calls = _study(), []
    sweep(study, report=lambda done, text: calls.append((done, text)))
    assert chip_count(study) == 1 + 1 + 9 + 9 + 9 == calls[-1][0]
    assert [done for done, _ in calls] == sorted({done for done, _ in calls})


def test_a_stopped_sweep_goes_on_and_gives_the_same_numbers(tmp_path):
    class Stop(Exception):
        pass

    def stop(done, text):
        if done > 15:
            raise Stop

    whole = sweep(_study())
    folder = str(tmp_path / "kept")
    with pytest.raises(Stop):
        sweep(_study(), folder, stop)
    first = {path: path.stat().st_mtime_ns for path in (tmp_path / "kept").glob("ideal-*")}
    assert len(first) == 3
    assert sweep(_study(), folder) == whole
    assert all(path.stat().st_mtime_ns == time for path, time in first.items())
    assert sweep(_study(), folder) == whole  # everything from the folder


def test_other_settings_are_other_points(tmp_path):
    sweep(_study(), str(tmp_path))
    count = len(list(tmp_path.glob("ideal-*")))
    sweep(_study(chips=3), str(tmp_path))
    assert len(list(tmp_path.glob("ideal-*"))) == count + 3  # what is not random is the same
    sweep(_study(layer=pair(tokens=7)), str(tmp_path))
    assert len(list(tmp_path.glob("ideal-*"))) == 2 * count + 3


def test_foreign_stale_and_altered_results_are_refused(tmp_path):
    (tmp_path / "foreign").mkdir()
    (tmp_path / "foreign" / "thesis.txt").write_text("mine")
    with pytest.raises(SchemaError, match="not a study"):
        sweep(_study(), str(tmp_path / "foreign"))
    kept = tmp_path / "kept"
    sweep(_study(), str(kept))
    manifest = kept / "imperfections.json"
    manifest.write_text(json.dumps({"format": "oscsim imperfections", "version": 1}))
    with pytest.raises(SchemaError, match="version = 1"):
        sweep(_study(), str(kept))
    manifest.write_text(json.dumps({"format": "oscsim regime map"}))
    with pytest.raises(SchemaError, match="not of a study"):
        sweep(_study(), str(kept))
    manifest.write_text(json.dumps({"format": "oscsim imperfections", "version": 3}))
    point = next(kept.glob("ideal-all-*"))
    text = point.read_text()
    point.write_text(text.replace('"agree":', '"agree":1'))
    with pytest.raises(SchemaError, match="altered"):
        sweep(_study(), str(kept))
    point.write_text(text[: len(text) // 2])
    with pytest.raises(SchemaError, match="not JSON"):
        sweep(_study(), str(kept))
    point.write_text(text.replace('"chips":9', '"chips":8'))
    with pytest.raises(SchemaError, match="settings"):
        sweep(_study(), str(kept))


@pytest.mark.parametrize(("option", "values"), [
    ("mismatch_seed", [1]), ("mu", [0.1]), ("coupling_bits", []), ("coupling_bits", [3, 3]),
    ("coupling_bits", ["many"]), ("degree", [3]), ("topology", ["ring"]),
])  # fmt: skip
def test_impossible_sweeps(option, values):
    with pytest.raises(ConfigError, match=option):
        swept(CircuitDesign(), option, values)


def test_impossible_studies():
    with pytest.raises(ConfigError, match="chips"):
        _study(chips=0)
    with pytest.raises(ConfigError, match="none"):
        Study(pair(), "ideal", [])


def _title_and_scale(study, rows):
    figure = Figure()
    panels(figure, study, rows)
    right = figure.axes[1]
    return figure.get_suptitle(), right.get_xscale(), right.get_ylabel()


def test_csv_and_pictures():
    layer = pair(tokens=4)
    studies = [
        Study(layer, "ideal", points, 2)
        for points in (
            swept(CircuitDesign(), "frequency_mismatch", [1e-4, 1e-2]),
            swept(CircuitDesign(), "topology", ["all", "kings_graph"]),
            contributions(DESIGN),
            contributions(DESIGN)[:1],
        )
    ]
    numbers = sweep(studies[0])
    table = list(csv.DictReader(io.StringIO(csv_text(numbers))))
    assert [float(line["value"]) for line in table] == [1e-4, 1e-2]
    assert float(table[1]["error"]) == pytest.approx(numbers[1].error, rel=1e-5)
    for study in studies:
        assert png(study, sweep(study)).startswith(b"\x89PNG")


@pytest.mark.parametrize(("option", "values", "scale"), [
    ("frequency_mismatch", [1e-3, 1e-2], "log"), ("frequency_mismatch", [0.0, 1e-3, 1e-2], "symlog"),
    ("frequency_mismatch", [1e-3, 3e-3], "linear"), ("coupling_bits", [3, 8], "linear"),
    ("topology", ["all", "kings_graph"], "linear"),
])  # fmt: skip
def test_a_picture_says_what_it_shows(option, values, scale):
    layer = pair(tokens=4)
    study = Study(layer, "phase", swept(CircuitDesign(family="ring"), option, values), 2)
    title, found, label = _title_and_scale(study, sweep(study))
    assert found == scale
    assert "family ring" in title and "level phase" in title and layer.digest[:12] in title
    largest = np.abs(pair_terms.coupling(layer))[0][~np.eye(4, dtype=bool)].max()
    assert f"{largest:.3g}" in label
    assert "family" not in _title_and_scale(Study(layer, "ideal", study.points, 2), sweep(study))[0]


@pytest.mark.parametrize("mask", ["full", "causal"])
def test_the_diagonal_does_not_count(mask):
    layer = pair(tokens=7, mask=mask, padding=np.arange(7) == 2)
    (row,) = sweep(Study(layer, "ideal", contributions(CircuitDesign()), 1))
    said = describe(layer)
    assert row.cells == (30 if mask == "full" else 15) and 0.0 < row.locked < 1.0
    assert row.locked == pytest.approx(said["locked_fraction"], abs=1e-12)
    # no couplers and no match: only cells that the ideal layer leaves unlocked are right
    broken = CircuitDesign(missing_couplers=1.0, frequency_mismatch=1e-3)
    row = sweep(Study(layer, "ideal", contributions(broken), 1))[-1]
    assert row.locked == 0.0
    assert row.agreement == pytest.approx(1.0 - said["locked_fraction"], abs=1e-12)


@pytest.mark.parametrize("layer", [pair(tokens=1), pair(tokens=3, padding=np.array([True, False, True]))])
def test_a_layer_without_pairs_is_refused(layer):
    with pytest.raises(ConfigError, match="no pair"):
        sweep(Study(layer, "ideal", contributions(DESIGN), 1))
