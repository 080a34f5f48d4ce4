"""The text of a netlist, the plan, and what is refused."""

import json
import re
import subprocess

import numpy as np
import pytest
from layers import layer

from hw_targets import circuit_names, get_target
from hw_targets.spice.mos import MosLC, MosRing
from oscsim import ExplicitCoupling, FixedOrder, PhaseLayerSpec
from oscsim.errors import ConfigError, LoweringError

ONE_WAY = {"lc": "transconductance", "ring": "inverter", "relaxation": "transconductance"}


def text(spec, **options):
    target = get_target("spice")
    return target.lower(spec, target.config(**options)).netlist


def test_the_target_is_registered():
    assert "spice" in circuit_names()
    assert get_target("spice").install_command == "apt-get install ngspice"


def test_a_netlist_says_what_it_is(pair):
    spec = pair()
    lines = text(spec, mu=0.1, coupling_bits=4).splitlines()
    assert lines[0] == f"* oscsim layer {spec.digest}"
    assert "* family lc, model behavioural, coupler resistor" in lines
    assert "* options: coupling_bits=4, mu=0.1" in lines
    assert "* 0 1: +0.015, code +7" in lines  # of 7: the largest coupling of the chip
    assert lines[-1] == ".end"
    body = "\n".join(lines)
    assert "^" not in body.split("* one oscillator")[1].split("\n", 1)[1]  # V^3 fails where V < 0
    assert re.search(r"^\.tran \S+ \S+ \S+ \S+ uic$", body, re.MULTILINE)
    assert re.search(r"^\.options method=trap reltol=1e-06 ", body, re.MULTILINE)
    assert "interp" not in body
    assert body.count(" IC=") == 2 * spec.n_oscillators * 2  # C and L of two batches of two
    assert body.count(".measure tran period") == 4


def test_every_batch_says_which_cell_it_is(pair, network):
    alone = PhaseLayerSpec(
        omega=[[[0.0], [0.1], [0.25]]], theta=np.zeros((1, 3, 1)), gain=[0.1], mask="causal",
        coupling=ExplicitCoupling(matrix=np.ones((1, 3, 3))), order_parameter=FixedOrder(r=[1.0]),
    )  # fmt: skip
    lines = text(alone).splitlines()
    assert lines.count("* batch 0 = head 0, i 0, j 0, self-pairs (i = j) (and i 1, j 1; i 2, j 2)") == 2
    assert {"* batch 1 = head 0, i 1, j 0", "* batch 2 = head 0, i 2, j 1"} <= set(lines)
    assert "* the layer: 6 cells, 3 of them self-pairs (i = j); distinct ones: 4" in "\n".join(lines)
    assert "* batch 1 = head 0, i 0, j 1 (and i 1, j 0)" in text(pair())
    two = text(network(3, theta=np.zeros((1, 3, 2)), omega=np.zeros((1, 3, 2))))
    assert "* batch 1 = head 0, channel 1" in two and "1 heads x 2 channels, 3 oscillators each" in two


def test_a_negative_coupling_crosses_the_nodes(pair):
    assert re.search(r"^Bc1_0_1_0a v1_0 0 I=\S+\*\(V\(v1_0\)\+V\(v1_1\)\)$", text(pair(j=-1.0)), re.MULTILINE)
    crossed = text(pair(j=-1.0), model="mos")
    assert re.search(r"^Rc1_0_1_0 p1_0 n1_1 ", crossed, re.MULTILINE)
    assert re.search(r"^Rc1_0_1_0 p1_0 p1_1 ", text(pair(), model="mos"), re.MULTILINE)


@pytest.mark.parametrize("family", ONE_WAY)
def test_one_way_couplers_drive_one_side(network, family):
    body = text(network(3, mask="causal"), family=family, coupler=ONE_WAY[family])
    assert {tuple(line.split("_")[1:3]) for line in body.splitlines() if line.startswith("Gc")} == {
        ("1", "0"), ("2", "0"), ("2", "1"),
    }  # fmt: skip


def test_an_exported_netlist_runs_by_itself(target, pair, tmp_path):
    spec = pair(psi_0=np.full((1, 2, 2), 0.8))
    executable = target.lower(spec, target.config(mu=0.1))
    (tmp_path / "x.cir").write_text(executable.netlist)
    said = subprocess.run(
        ["ngspice", "-b", "x.cir"], cwd=tmp_path, capture_output=True, text=True, check=True
    ).stdout
    measured = {name: float(value) for name, value in re.findall(r"^(\w+)\s+=\s+(\S+)", said, re.MULTILINE)}
    result = executable.run()
    assert abs(np.cos(measured["psi1_1"])) == pytest.approx(result.sync[0, 0, 1], abs=3e-3)
    assert measured["period1_0"] == pytest.approx(measured["period1_1"], rel=1e-4)
    assert measured["high1_0"] == pytest.approx(1.0, rel=0.1)  # twice voltage_v, less what coupling takes


def test_the_plan_is_deterministic_and_follows_every_option(pair):
    target = get_target("spice")

    def digest(**options):
        return target.lower(pair(), target.config(**options)).plan.digest

    assert digest() == digest()
    changes = (
        {"model": "mos"}, {"reltol": 1e-7}, {"method": "gear"}, {"steps_per_cycle": 100}, {"timeout_s": 1.0},
        {"largest": 64}, {"mu": 0.2}, {"voltage_v": 0.2}, {"impedance_ohm": 50.0}, {"coupling_bits": 3},
        {"max_cycles": 100.0}, {"phase_accuracy": 1e-3}, {"trim": "none"},
    )  # fmt: skip
    assert len({digest(), *(digest(**change) for change in changes)}) == 1 + len(changes)


def test_the_plan_counts_elements_and_predicts_the_time(pair):
    target = get_target("spice")
    plan = target.lower(pair(), target.config()).plan
    json.dumps(plan.to_json(), allow_nan=False)
    assert plan["netlists"]["netlist_1"]["elements"] == {"B": 2, "C": 2, "L": 2, "R": 1}
    assert 0.05 < plan["simulation"]["predicted_s"] < 5.0


def test_transistors_are_counted_like_components(pair):
    target = get_target("spice")
    plan = target.lower(pair(), target.config(model="mos", mu=0.1)).plan
    table, elements = plan["components"], [part["elements"] for part in plan["netlists"].values()]
    for letter, names in {
        "M": ("NMOS transistor",), "L": ("tank inductor",), "I": ("tail current",),
        "C": ("tank capacitor", "tail capacitor"), "R": ("tank loss", "coupling resistor"),
    }.items():  # fmt: skip
        assert sum(table[name]["count"] for name in names) == sum(part[letter] for part in elements)
    assert table["NMOS transistor"]["low"] == pytest.approx(
        393e-6, rel=1e-2
    )  # SI for programs, um for people
    assert "NMOS transistor    8 x W = 392.699 um" in str(plan)
    assert "wide" in plan["circuit"]["transistors"] and plan["circuit"]["width_over_length"] == 392.7
    narrow = target.lower(pair(), target.config(model="mos", mu=0.1, impedance_ohm=400.0)).plan
    assert "transistors" not in narrow["circuit"]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"reltol": 1e-4}, "7e-2 rad"),
        ({"family": "relaxation", "model": "mos"}, "family=lc or family=ring"),
        ({"family": "ring", "model": "mos", "stage_gain": 4.0}, "transistors decide"),
        ({"model": "mos", "coupler": "transconductance"}, "expected resistor"),
        ({"model": "bipolar"}, "behavioural"),
        ({"stages": 3}, "family lc"),
    ],
)
def test_refused_options(options, words):
    with pytest.raises(ConfigError, match=words):
        get_target("spice").config(**options)


@pytest.mark.parametrize(
    ("changes", "options", "words"),
    [
        ({}, {"noise_a_per_sqrt_hz": 1e-12}, "use target circuit"),
        ({}, {"model": "mos", "coupling_delay_s": 1e-10}, "model=behavioural"),
        ({"j": -1.0}, {"model": "mos", "family": "ring"}, "choose family=lc"),
        ({}, {"largest": 3}, r"about .* s; take a smaller layer"),
    ],
)
def test_refused_layers(pair, changes, options, words):
    target = get_target("spice")
    with pytest.raises(LoweringError, match=words):
        target.lower(pair(**changes), target.config(**options))


def test_a_layer_out_of_scale_names_the_nearest_valid_one():
    with pytest.raises(LoweringError, match="time_unit_s="):
        text(layer(heads=1, count=2, carrier_hz=1e9, time_unit_s=1e-9))


@pytest.mark.parametrize("oscillator", [MosLC(mu=0.2), MosRing(stages=3)])
def test_slopes_of_transistors(oscillator):
    x = np.linspace(-0.8, 0.9, oscillator.dimension)
    steps = 1e-6 * np.eye(len(x))
    slopes = np.stack([(oscillator.flow(x + e) - oscillator.flow(x - e)) / 2e-6 for e in steps], axis=1)
    np.testing.assert_allclose(oscillator.jacobian(x), slopes, atol=1e-8)
