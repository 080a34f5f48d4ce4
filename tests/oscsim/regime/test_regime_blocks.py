"""A sweep that is killed goes on to the same numbers; what does not belong to it is refused."""

import json
import os
import signal
import subprocess
import sys

import pytest

import oscsim.regime.grid as sweeping
from oscsim.errors import ConfigError, SchemaError
from oscsim.regime import Cell, Grid, csv_text, read_csv, sweep

GRID = {"n": (2, 3), "spread": (0.1, 0.5), "gain": (1.313,), "seeds": 6}
_KILLED = """
import os, signal, sys
from pathlib import Path
from oscsim.regime import Grid, sweep
def report(done, text):
    if done == 3:
        (Path(sys.argv[1]) / ".block.json.half").write_text("{")  # what a kill within a write leaves
        os.kill(os.getpid(), signal.SIGKILL)
sweep(Grid(n=(2, 3), spread=(0.1, 0.5), gain=(1.313,), seeds=6), sys.argv[1], report)
"""


def test_killed_and_started_again(tmp_path, monkeypatch):
    folder, computed = tmp_path / "map", []
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    died = subprocess.run(
        [sys.executable, "-c", _KILLED, str(folder)], env=environment, check=False, timeout=120
    )
    assert died.returncode == -signal.SIGKILL
    assert len([name for name in os.listdir(folder) if name.startswith("n")]) == 3
    simulate = sweeping.simulate

    def counted(cell, seeds, span):
        computed.append((cell, seeds))
        return simulate(cell, seeds, span)

    monkeypatch.setattr(sweeping, "simulate", counted)
    resumed = sweep(Grid(**GRID), str(folder))
    assert len(computed) == len(Grid(**GRID).cells) * 2 - 3
    assert resumed == sweep(Grid(**GRID)) and len(resumed) == 16
    computed.clear()
    assert sweep(Grid(**GRID), str(folder)) == resumed and not computed


@pytest.fixture
def folder(tmp_path):
    sweep(Grid(n=(2,), spread=(0.1,), gain=(1.313,), seeds=1), str(tmp_path / "map"))
    return tmp_path / "map"


def _again(folder, **longest):
    return sweep(Grid(n=(2,), spread=(0.1,), gain=(1.313,), seeds=1), str(folder), **longest)


def _block(folder):
    (path,) = folder.glob("n2-*.json")
    return path


def test_a_foreign_folder_is_refused(tmp_path):
    (tmp_path / "thesis.tex").write_text("x")
    with pytest.raises(SchemaError, match="not a regime map; name another folder"):
        _again(tmp_path)
    assert os.listdir(tmp_path) == ["thesis.tex"]
    (tmp_path / "regime.json").write_text('{"format": "postcards"}')
    with pytest.raises(SchemaError, match="not of a regime map"):
        _again(tmp_path)


def test_results_computed_in_another_way_are_refused(folder):
    with pytest.raises(SchemaError, match=r"longest_span = 8192.0, this program computes with 64.0"):
        _again(folder, longest_span=64.0)
    manifest = folder / "regime.json"
    manifest.write_text(manifest.read_text().replace('"version": 2', '"version": 0'))
    with pytest.raises(SchemaError, match="version = 0"):
        _again(folder)


def test_a_damaged_block_is_refused(folder):
    path = _block(folder)
    whole = path.read_text()
    path.write_text(whole[: len(whole) // 2])
    with pytest.raises(SchemaError, match="not JSON: truncated"):
        _again(folder)
    content = json.loads(whole)
    content["results"][0]["agreement"]["one"]["mean_error"] += 0.1
    path.write_text(json.dumps(content))
    with pytest.raises(SchemaError, match="checksum"):
        _again(folder)
    content = json.loads(whole)
    content["settings"]["cell"]["spread"] = 0.2
    path.write_text(json.dumps(content))
    with pytest.raises(SchemaError, match="settings its name says"):
        _again(folder)
    path.write_text("[]")
    with pytest.raises(SchemaError, match="settings"):
        _again(folder)


def test_csv_there_and_back(tmp_path):
    rows = sweep(Grid(n=(2, 3), spread=(1.0,), gain=(0.6,), seeds=2))
    (tmp_path / "map.csv").write_text(csv_text(rows))
    again = read_csv(tmp_path / "map.csv")
    assert csv_text(again) == csv_text(rows) and [row.cell for row in again] == [row.cell for row in rows]
    assert {row.oracle_error for row in again if row.n == 3} == {None}
    lines = csv_text(rows).splitlines()
    for text, word in {
        "a,b\n1,2\n": "line 1",
        "\n".join([lines[0], lines[1] + ",7"]): "line 2: given 23 fields",
        "\n".join([lines[0], lines[1].replace("given", "given").replace("2,", "x,", 1)]): "line 2",
    }.items():
        (tmp_path / "bad.csv").write_text(text)
        with pytest.raises(SchemaError, match=word):
            read_csv(tmp_path / "bad.csv")


@pytest.mark.parametrize(
    ("values", "word"),
    [
        ({"n": (1,)}, "n: given 1"), ({"n": (5000,)}, "2 to 1024"), ({"spread": (0.0,)}, "spread"),
        ({"spread": (float("nan"),)}, "spread"), ({"gain": (-1.0,)}, "gain"), ({"alpha": (-0.1,)}, "alpha"),
        ({"seeds": 0}, "seeds"), ({"gain": ()}, "gain: given no value"),
    ],
)  # fmt: skip
def test_impossible_grids(values, word):
    with pytest.raises(ConfigError, match=word):
        Grid(**values)


def test_a_grid_is_sorted_and_has_no_repetitions():
    grid = Grid(n=(8, 2, 8), spread=(0.1,), gain=(1.0,), alpha=(0.0,), seeds=9)
    assert grid.cells == [Cell(2, 0.1, 1.0, 0.0), Cell(8, 0.1, 1.0, 0.0)]
    assert [list(block) for block in grid.blocks] == [[0, 1, 2, 3], [4, 5, 6, 7], [8]]
