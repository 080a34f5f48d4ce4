"""``oscsim energy``: tables, JSON, picture, and what it refuses."""

import csv
import re
from importlib import resources
from pathlib import Path

import numpy as np
import pytest

from oscsim import FixedOrder, FrequencyCoupling, PhaseLayerSpec
from oscsim.energy.measured import MeasuredEnergy

SHIPPED = (resources.files("oscsim.energy") / "constants.csv").read_text(encoding="utf-8").splitlines()


@pytest.fixture
def layer_file(tmp_path):
    """Two tokens: a firmly locked pair."""
    return save(tmp_path / "pair.phase")


def save(path, **changes):
    fields = {
        "omega": np.array([[[0.0], [0.3]]]), "theta": np.zeros((1, 2, 1)), "values": np.ones((1, 2, 2)),
        "coupling": FrequencyCoupling(alpha=[0.0]), "gain": [1.0],
        "order_parameter": FixedOrder(r=[1.0]), "time_unit_s": 2e-8,
    }  # fmt: skip
    PhaseLayerSpec(**fields | changes).save(path)
    return path


def one_row(path, name, **changes):
    """A file with one shipped constant, changed."""
    row = next(row for row in csv.DictReader(SHIPPED) if row["name"] == name) | changes
    with open(path, "w", newline="") as file:
        writer = csv.DictWriter(file, list(row))
        writer.writeheader()
        writer.writerow(row)
    return path


def totals(content):
    """Label -> best value, J, of the rows that have one."""
    return {row["label"]: row["total"]["value_j"] for row in content["rows"] if "total" in row}


def test_tables_and_json_of_one_layer(cli, layer_file):
    got = cli("energy", layer_file, "--details", "--json", "-", "--plot", layer_file.with_suffix(".png"))
    content = got.json()["layers"][0]
    assert got.code == 0 and content["path"] == str(layer_file)
    assert list(totals(content)) == [
        "ring, 65 nm, pair", "ring, 65 nm, network", "triton on H200 at its best", "brian2: as ring, 65 nm",
        "lava: Loihi 1 energies", "circuit: as ring, 65 nm", "spice: as ring, 65 nm",
        "digital int8, 7 nm",
    ]  # fmt: skip
    for said in (
        "joules per layer",
        "oscillator cycles",
        "not validated",
        "what matters",
        "[NEUROSIM,",
    ):
        assert said in got.err
    assert layer_file.with_suffix(".png").read_bytes().startswith(b"\x89PNG")


def test_several_layers_are_reported_one_after_the_other(cli, layer_file, tmp_path):
    other = save(tmp_path / "network.phase", dynamics="network")
    got = cli("energy", layer_file, other)
    assert got.code == 0
    assert got.out.index(str(layer_file)) < got.out.index(str(other))
    assert "[ 2/2] energy of" in got.err


def test_options_reach_the_report(cli, layer_file):
    def call(*options):
        return cli("energy", layer_file, *options, "--json", "-").json()["layers"][0]

    given = ("--family", "lc", "--node", 45, "--quality-factor", 8, "--epsilon", 0.05, "--cell", "mutual")
    content = call(*given, "--device", "a100")
    hardware = content["hardware"]
    assert [hardware[name] for name in ("family", "node_nm", "quality_factor", "epsilon", "cell")] == [
        "lc", 45.0, 8.0, 0.05, "mutual",
    ]  # fmt: skip
    assert content["constants"]["tank_quality_factor"]["citation"] == "option --quality-factor"
    assert "triton on A100 at its best" in totals(content)


def test_constants_of_ones_own(cli, layer_file, tmp_path):
    def call(*options):
        return cli("energy", layer_file, *options, "--json", "-").json()["layers"][0]

    twice = one_row(
        tmp_path / "mine.csv", "gate_cap_per_width_65nm", value="4e-15", low="4e-15", high="4e-15"
    )
    base, mine = call(), call("--constants", twice)
    assert totals(mine)["ring, 65 nm, pair"] > totals(base)["ring, 65 nm, pair"]
    recalled = one_row(tmp_path / "recalled.csv", "supply_65nm", how="recalled")
    refused = call("--constants", recalled)
    assert "--allow-recalled" in refused["rows"][0]["refused"]
    allowed = call("--constants", recalled, "--allow-recalled")
    assert totals(allowed)["ring, 65 nm, pair"] == totals(base)["ring, 65 nm, pair"]
    assert any("supply_65nm" in note and "memory" in note for note in allowed["rows"][0]["notes"])


def test_a_clock_that_no_oscillator_has_is_one_line_with_advice(cli, tmp_path):
    fast = save(tmp_path / "fast.phase", time_unit_s=1e-10)
    got = cli("energy", fast)
    first = next(line for line in got.out.splitlines() if "refused: " in line)
    assert got.code == 0 and first.startswith(
        "ring, 65 nm, pair; ring, 65 nm, network; brian2: as ring, 65 nm: "
    )
    assert "add --epsilon 0.02" in first and got.out.count("--epsilon") == 1
    # the whole reason, where it is asked for
    for option in ("--details", "--family=ring"):
        assert "expected at most 0.35, where oscillators still are phases" in " ".join(
            cli("energy", fast, option).out.split()
        )
    helped = cli("energy", fast, "--epsilon", 0.02, "--json", "-").json()["layers"][0]
    assert {"ring, 65 nm, pair", "ring, 65 nm, network", "brian2: as ring, 65 nm"} <= set(totals(helped))


def test_the_default_text_is_short_and_counts_what_it_leaves_out(cli, layer_file):
    short, long = cli("energy", layer_file).out, cli("energy", layer_file, "--details").out
    notes = [sum(line.startswith("* ") for line in text.splitlines()) for text in (short, long)]
    assert 3 <= notes[0] <= 6 and f"--details for {notes[1] - notes[0]} more notes" in short
    assert "more notes" not in long
    assert f"per token ({2}): " in short


def test_energy_of_a_token_in_json(cli, tmp_path):
    padded = save(tmp_path / "padded.phase", padding=np.array([False, True]))
    content = cli("energy", padded, "--json", "-").json()["layers"][0]
    assert content["layer"]["valid_tokens"] == 1
    rows = [row for row in content["rows"] if "total" in row]
    assert all(row["per_token"]["value_j"] == row["total"]["value_j"] for row in rows)


@pytest.mark.parametrize("validate", [False, True])
def test_a_picture_and_json_are_written_together_or_not_at_all(
    cli, layer_file, tmp_path, monkeypatch, validate
):
    picture, name = tmp_path / "x.png", tmp_path / f"{'n' * 250}.json"  # no room for a temporary name
    asked = ("--validate",) if validate else (layer_file,)
    got = cli("energy", *asked, "--plot", picture, "--json", name)
    assert got.code != 0 and str(name) in got.err and not picture.exists()
    assert cli("energy", *asked, "--plot", picture, "--json", tmp_path / "y.json").code == 0
    assert picture.exists() and (tmp_path / "y.json").exists()


def test_published_devices_are_replayed(cli, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    got = cli("energy", "--validate", "--json", "-", "--plot", "devices.png")
    assert got.code == 0 and got.json()["summaries"] and "not validated" in got.err
    assert Path("devices.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(("options", "said"), [
    ((), "FILE.phase"), (("no.phase",), "no.phase"), (("pair.phase", "--family", "spring"), "family"),
    (("pair.phase", "--family", "lc", "--stages", 5), "stages"), (("pair.phase", "--stages", 4), "odd"),
    (("pair.phase", "--epsilon", 0.1, "--time-unit-s", 1e-8), "give one"),
    (("pair.phase", "--accuracy", 2), "accuracy"), (("pair.phase", "--device", "z80"), "h200"),
    (("pair.phase", "--plot", "x.jpg"), ".png"), (("pair.phase", "pair.phase", "--plot", "x.png"), "--plot"),
    (("pair.phase", "--json", "pair.phase"), "--json"), (("pair.phase", "--chips", "x.csv"), "--chips"),
    (("--validate", "pair.phase"), "FILE.phase"), (("--validate", "--node", 45), "--node"),
    (("--validate", "--device", "a100"), "--device"), (("--validate", "--details"), "--details"),
    (("pair.phase", "--constants", "no.csv"), "no.csv"), (("--validate", "--chips", "no.csv"), "no.csv"),
    (("pair.phase", "--constants", "broken.csv"), "broken.csv"),
    (("clamped.phase", "--cell", "mutual"), "--cell"),
    (("clamped.phase", "--read-out", "beats"), "--read-out"),
    (("clamped.phase", "--stop", "each"), "--stop"), (("clamped.phase", "--edge-band", 0.1), "--edge-band"),
])  # fmt: skip
def test_bad_input_is_one_line_and_exit_2(cli, layer_file, tmp_path, monkeypatch, options, said):
    monkeypatch.chdir(tmp_path)
    save("clamped.phase", dynamics="clamped", duration=1.0)
    (tmp_path / "broken.csv").write_text("name,value\nx,1\n")
    before = sorted(tmp_path.iterdir())
    got = cli("energy", *options)
    assert (got.code, got.out) == (2, "") and said in got.err and len(got.err.splitlines()) == 1, got.err
    assert sorted(tmp_path.iterdir()) == before


def test_measuring_without_a_gpu_says_what_is_missing(cli, layer_file, monkeypatch):
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    got = cli("energy", layer_file, "--measure", "--json", layer_file.with_suffix(".json"))
    assert (got.code, got.out) == (3, "") and "GPU" in got.err
    assert not layer_file.with_suffix(".json").exists()


def test_a_measured_energy_stands_beside_the_estimates_and_not_among_them(cli, layer_file, monkeypatch):
    meter = MeasuredEnergy("op", "GPU of the test", "1", "board", (2.0, 3.0, 4.0), 10, 0.1, 70.0, False)
    monkeypatch.setattr("hw_targets.triton.bench.layer_energy.layer_energy", lambda layer: meter)
    got = cli("energy", layer_file, "--measure", "--json", "-")
    content = got.json()["layers"][0]
    assert content["measured"]["measured_j"] == 3.0 and "GPU of the test" in got.err
    assert "measured" not in cli("energy", layer_file, "--json", "-").json()["layers"][0]
    assert all("measured" not in row["label"] for row in content["rows"])


@pytest.mark.parametrize(("dynamics", "options"), [
    ("pair", ()), ("pair", ("--time-unit-s", 1e-10)), ("network", ()), ("clamped", ()),
])  # fmt: skip
def test_a_slower_clock_that_a_line_advises_is_one_for_everything_in_that_line(
    cli, tmp_path, dynamics, options
):
    spread = np.array([[[0.0], [9.0]]])  # more than tuning reaches where the coupling is just weak enough
    extra = {} if dynamics != "clamped" else {
        "phase_0": np.full((1, 2, 1), 0.4), "rate": np.ones((1, 2, 1)), "duration": 0.3,
    }  # fmt: skip
    fast = save(tmp_path / "fast.phase", time_unit_s=1e-10, omega=spread, dynamics=dynamics, **extra)
    lines = [line for line in cli("energy", fast, *options).out.splitlines() if "add --epsilon" in line]
    epsilon, instead = re.search(r"add --epsilon (\S+?)( instead of --time-unit-s)?,", lines[0]).groups()
    assert (instead is not None) == bool(options) and len(lines) == 1
    helped = totals(cli("energy", fast, "--epsilon", epsilon, "--json", "-").json()["layers"][0])
    assert f"ring, 65 nm, {dynamics}" in helped


def test_advice_against_noise_is_taken_by_the_command(cli, tmp_path):
    extra = {"phase_0": np.full((1, 2, 1), 0.4), "rate": np.ones((1, 2, 1)), "duration": np.inf}
    layers = [save(tmp_path / "pair.phase"), save(tmp_path / "clamped.phase", dynamics="clamped", **extra)]
    for layer in layers:
        asked = ("energy", layer, "--accuracy", 0.007, "--readout-bits", 9, "--json", "-")
        for remedy in cli(*asked).json()["layers"][0]["rows"][0]["remedies"]:
            got = cli(*asked, *remedy["option"].split())
            assert got.code == 0 and "noise" not in got.json()["layers"][0]["rows"][0]["status_code"]
