"""spice, and export --format spice."""

import json
import shutil
import subprocess

import numpy as np
import pytest

from oscsim import ExplicitCoupling, FixedOrder, PhaseLayerSpec, SyncResult


@pytest.fixture
def pair(tmp_path):
    """A saved layer of two tokens, coupled with 3 % of the carrier, half of that detuned."""
    k = 2.0 * np.pi * 0.03
    path = tmp_path / "pair.phase"
    PhaseLayerSpec(
        omega=[[[0.0], [0.5 * k]]], theta=np.zeros((1, 2, 1)), gain=[k], order_parameter=FixedOrder(r=[1.0]),
        coupling=ExplicitCoupling(matrix=np.ones((1, 2, 2))),
    ).save(path)  # fmt: skip
    return path


def test_spice_runs_and_saves(cli, pair, tmp_path):
    result = cli("spice", pair, "--set", "mu=0.1", "-o", tmp_path / "x.sync", "--json", "-")
    content = result.json()
    assert result.code == 0, result.err
    assert (content["source"], content["status"]) == ("spice", "settled")
    assert "oscillator cycles, about" in result.err
    saved = SyncResult.load(tmp_path / "x.sync")
    assert saved.sync[0, 0, 1] == pytest.approx(np.sqrt(0.75), abs=2e-3)


def test_plan_needs_no_ngspice(cli, pair, monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    plan = cli("spice", pair, "--plan", "--json", "-").json()
    assert plan["target"] == "spice" and plan["simulation"]["predicted_s"] > 0
    result = cli("spice", pair)
    assert result.code == 3 and "apt-get install ngspice" in result.err


def test_compare_and_run_take_the_target(cli, pair):
    content = cli("compare", pair, "--target", "spice", "--set", "spice.mu=0.1", "--json", "-").json()
    assert content["targets"]["spice"]["conforms"]


def test_export_of_a_layer(cli, pair, tmp_path):
    target = tmp_path / "x.cir"
    result = cli("export", pair, "--format", "spice", "-o", target, "--set", "family=ring", "--json", "-")
    assert result.code == 0, result.err
    assert result.json()["settings"]["family"] == "ring"
    assert target.read_text().startswith(f"* oscsim layer {PhaseLayerSpec.load(pair).digest}\n")


def test_export_says_what_is_in_a_netlist(cli, pair, tmp_path):
    target = tmp_path / "x.cir"
    result = cli("export", pair, "--format", "spice", "-o", target, "--set", "mu=0.1", "--json", "x.json")
    assert result.code == 0 and result.err == ""
    for words in ("4 x L = 15.9056 nH", "carrier cycles", "predicted", "about", f"ngspice -b {target}"):
        assert words in result.out.replace("\n", "")
    content = json.loads((tmp_path / "x.json").read_text())
    assert content["components"]["tank inductor"]["low"] == pytest.approx(15.9056e-9)
    assert content["spec_digest"] and content["exported"]["predicted_s"] > 0
    short = cli("export", pair, "--format", "spice", "-o", target, "--set", "max_cycles=20")
    assert "later than max_cycles=20" in short.err


def test_export_of_a_model_runs_in_ngspice(cli, checkpoint, tmp_path):
    result = cli(
        "export", checkpoint, "--text", "Al", "--format", "spice", "-o", tmp_path / "x.cir", "--json", "-"
    )
    assert result.code == 0, result.err
    assert "the shortest at which family lc represents this layer" in result.err
    assert result.json()["checkpoint"]["name"]
    if shutil.which("ngspice") is None:
        pytest.fail("ngspice is not installed. Install it with: apt-get install ngspice")
    said = subprocess.run(
        ["ngspice", "-b", "x.cir"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert "period0_0" in said.stdout and "rror" not in said.stdout + said.stderr


def test_export_with_a_time_unit(cli, checkpoint, tmp_path):
    out = tmp_path / "x.phase"
    assert cli("export", checkpoint, "--text", "Al", "--time-unit", "1e-6", "-o", out).code == 0
    assert PhaseLayerSpec.load(out).time_unit_s == 1e-6


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("export", "pair.phase", "-o", "y.phase"), "a layer already"),
        (("export", "pair.phase", "--format", "spice", "--text", "Al", "-o", "y.cir"), "--text"),
        (("export", "pair.phase", "--format", "spice", "--block", "0", "-o", "y.cir"), "--block"),
        (("export", "pair.phase", "--format", "spice", "--set", "muu=1", "-o", "y.cir"), "unknown option"),
        (("export", "pair.phase", "--format", "spice", "-o", "pair.phase"), "the same file"),
        (("export", "shipped", "-o", "y.phase"), "--text"),
        (("export", "shipped", "--text", "Al", "--set", "mu=0.1", "-o", "y.phase"), "--format spice"),
        (
            ("export", "shipped", "--text", "Al", "--time-unit", "100ns", "-o", "y.phase"),
            "--time-unit: given 100ns, expected seconds, for example 1e-7",
        ),
        (("spice", "pair.phase", "--plan", "-o", "y.sync"), "--plan"),
        (("spice", "pair.phase", "--set", "reltol=1e-3"), "reltol"),
        (("spice", "pair.phase", "--set", "largest=3"), "largest"),
    ],
)
def test_refusals(cli, pair, tmp_path, arguments, words):
    result = cli(*arguments)
    assert result.code == 2 and words in result.err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["pair.phase"]


@pytest.mark.parametrize(("chip", "steps"), [((), 2), (("--set", "coupling_bits=6"), 4)])
def test_explain_says_what_each_step_is(cli, pair, chip, steps):
    result = cli("run", pair, "--target", "circuit", "--explain", "--set", "family=stuart_landau", *chip)
    assert result.code == 0, result.err
    table = result.out.split("step to")[1]
    names = ("own law", "quantised", "mismatched", "circuit")
    assert sum(f"\n{name}  " in table for name in names) == steps
    assert "the phase reduction of the perfect circuit" in table and "self-pairs i = j are left out" in table
    assert ("no promise (see docs/circuits.md)" in result.out) == bool(chip)
