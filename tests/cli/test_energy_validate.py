"""oscsim energy --validate: comparisons for people and for programs, and files that hold no devices."""

import pytest

from oscsim.energy.validation.devices import CHIP_COLUMNS

HEADER = ",".join(CHIP_COLUMNS)
RING = "ring of nobody,2031,10.0/a,45,1.0,128,448,4,5e8,2e-3,<1e-7,2e-10,"


@pytest.fixture
def chips(tmp_path):
    path = tmp_path / "chips.csv"
    path.write_text(f"{HEADER}\n{RING}\ngates,2031,,28,0.9,5,4,5,5e7,0.5,,,FPGA\n")
    return path


def test_people_get_every_verdict(cli):
    result = cli("energy", "--validate")
    assert (result.code, result.err) == (0, "")
    for words in (
        "ring 10 [HAJIMIRI]",
        "Moy-1968-ROSC-Ising",
        "calibration",
        "n_independent",
        "prior, not measured",
    ):
        assert words in result.out
    lines = [line for line in result.out.splitlines() if "not validated: 0 independent" in line]
    assert [line.split()[0] for line in lines] == [
        "ring_cycle_energy",
        "ring_phase_noise",
        "chip_power",
        "chip_energy_per_solution",
    ]
    assert "covers 5 of 7 measured in a paper whose theory" in " ".join(result.out.split())


def test_programs_get_every_number(cli, chips):
    plot = chips.parent / "x.png"
    result = cli("energy", "--validate", "--chips", chips, "--json", "-", "--plot", plot)
    assert plot.read_bytes().startswith(b"\x89PNG")
    assert result.code == 0 and "ring of nobody" in result.err
    content = result.json()
    assert content["chips"] == str(chips) and content["feasible_splits"] == []
    rows = {(row["device"], row["quantity"]): row for row in content["rows"]}
    power, energy = (rows["ring of nobody", f"chip_{name}"] for name in ("power", "energy_per_solution"))
    assert power["ratio"] == pytest.approx(power["predicted"]["median"] / 2e-3)
    assert (power["published"], power["unit"], power["role"]) == (2e-3, "W", "independent")
    assert power["covered"] == (power["predicted"]["low"] <= 2e-3 <= power["predicted"]["high"])
    assert energy["role"] == "repeated" and energy["notes"][0].startswith("settling time is an upper bound")
    gates = rows["gates", "chip_power"]
    assert gates["predicted"] is None and gates["covered"] is None and "FPGA" in gates["reason"]
    found = {one["quantity"]: one for one in content["summaries"]}
    assert found["ring_cycle_energy"]["verdict"].startswith("not validated")
    assert (found["ring_cycle_energy"]["n_used_in_fit"], found["ring_phase_noise"]["n_same_paper"]) == (5, 7)
    assert (found["chip_power"]["n_independent"], found["chip_power"]["n_used_in_fit"]) == (1, 0)
    assert found["chip_energy_per_solution"]["n_independent"] == 0


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "the file is empty"),
        (HEADER, "no devices"),
        (f"{HEADER.replace('vdd_v', 'vdd')}\n{RING}", "line 1: unknown columns: 'vdd'"),
        (f"{HEADER}\n{RING.replace('2e-3', '-2e-3')}", "line 2: power_w: given '-2e-3'"),
        (f"{HEADER}\n{RING}\n{RING}", "line 3: name"),
        (None, "No such file"),
    ],
)
def test_other_files_are_refused(cli, tmp_path, text, words):
    path = tmp_path / "chips.csv"
    if text is not None:
        path.write_text(text)
    result = cli("energy", "--validate", "--chips", path, "--json", tmp_path / "out.json")
    assert (result.code, result.out, result.err.count("\n")) == (2, "", 1), result.err
    assert str(path) in result.err and words in result.err
    assert not (tmp_path / "out.json").exists()


def test_chips_alone_do_nothing(cli, chips, saved):
    result = cli("energy", saved(), "--chips", chips)
    assert result.code == 2 and "--chips" in result.err
