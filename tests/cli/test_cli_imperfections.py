"""``oscsim imperfections``: table, files, resuming, and what it refuses."""

import json
from pathlib import Path

import numpy as np
import pytest
from chip_layers import network, pair


@pytest.fixture
def layer_file(tmp_path):
    pair(tokens=5).save(tmp_path / "pair.phase")
    return tmp_path / "pair.phase"


def test_contributions_of_a_chip(cli, layer_file):
    options = ("--set", "coupling_bits=4", "--set", "frequency_mismatch=0.002", "--chips", 3)
    got = cli("imperfections", layer_file, *options, "--json", "-", "--csv", "rows.csv", "--plot", "x.png")
    content = got.json()
    assert got.code == 0 and content["level"] == "phase"
    assert [row["label"] for row in content["rows"]] == ["none", "coupling_bits", "frequency_mismatch", "all"]
    assert [row["chips"] for row in content["rows"]] == [1, 1, 3, 3]
    for row in content["rows"]:
        assert row["agreement_low"] <= row["agreement"] <= row["agreement_high"]
        assert row["error_low"] <= row["error"] <= row["error_high"]
    assert content["design"]["family"] == "lc" and content["design"]["coupling_bits"] == 4
    assert (
        "root of the summed squares" in got.err
        and "20 cells a chip: unmasked, without the diagonal" in got.err
    )
    assert Path("rows.csv").read_text().splitlines()[1].startswith("none,,,phase,1,20,")
    assert Path("x.png").read_bytes().startswith(b"\x89PNG")


def test_a_sweep_and_the_same_again_from_its_folder(cli, layer_file):
    sweep = ("--sweep", "coupling_bits=3,5", "--level", "ideal", "-o", "kept", "--json")
    first = cli("imperfections", layer_file, *sweep, "one.json")
    again = cli("imperfections", layer_file, *sweep, "two.json")
    assert (first.code, again.code) == (0, 0)
    one, two = (json.loads(Path(name).read_text()) for name in ("one.json", "two.json"))
    assert one == two and [row["value"] for row in one["rows"]] == [3, 5]
    assert len(list(Path("kept").glob("ideal-coupling_bits-*"))) == 2
    assert "coupling_bits=5" in first.out and "mask agreement" in first.out


def test_words_and_off_values_can_be_swept(cli, layer_file):
    got = cli("imperfections", layer_file, "--sweep", "topology=all,kings_graph", "--json", "-")
    assert [row["value"] for row in got.json()["rows"]] == ["all", "kings_graph"]
    got = cli("imperfections", layer_file, "--sweep", "frequency_bits=null,8", "--json", "-")
    assert got.json()["rows"][0]["error"] < got.json()["rows"][1]["error"]


def test_a_network_says_how_many_had_not_settled(cli, tmp_path):
    layer = network(tokens=3, omega=0.05 * np.arange(3.0)[None, :, None], coupling=np.ones((1, 3, 3)))
    layer.save(tmp_path / "n.phase")
    got = cli("imperfections", tmp_path / "n.phase", "--set", "coupling_mismatch=0.1", "--chips", 2)
    assert got.code == 0 and "unsettled" in got.out and "6 cells a chip" in got.out


@pytest.mark.parametrize(("options", "said"), [
    (["--level", "sine"], "level"), (["--chips", 0], "chips"), (["--sweep", "coupling_bits"], "--sweep"),
    (["--sweep", "coupling_bits=3,3"], "twice"), (["--sweep", "voltage_v=1"], "voltage_v"),
    (["--set", "crossbar_size=4"], "crossbar_size"), (["--set", "no_such=4"], "no_such"),
    (["--set", "coupling_bits=99"], "coupling_bits"), (["--set", "noise_a_per_sqrt_hz=1e-12"], "noise"),
    (["--plot", "x.jpg"], ".png"), (["--csv", "no/such/folder.csv"], "--csv"),
    (["-o", "pair.phase"], "--output"),
    (["--set", "mu=3", "--level", "ideal"], "mu"), (["--set", "family=ring", "--set", "mu=1"], "mu"),
])  # fmt: skip
def test_bad_input_is_named_and_costs_nothing(cli, layer_file, options, said):
    got = cli("imperfections", layer_file, *options)
    assert got.code == 2 and said in got.err and len(got.err.splitlines()) == 1
    assert not Path("runs").exists()


def test_a_layer_no_circuit_can_be_exits_2(cli, tmp_path):
    pair(tokens=3, strength=0.5).save(tmp_path / "strong.phase")
    got = cli("imperfections", tmp_path / "strong.phase", "--set", "coupling_bits=4")
    assert got.code == 2 and "nearest valid" in got.err


def test_circuits_need_their_backend(cli, layer_file, without_backends):
    assert cli("imperfections", layer_file, "--level", "circuit").code == 3
