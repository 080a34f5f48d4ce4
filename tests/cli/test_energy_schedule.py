"""``oscsim energy`` says how long an array runs, what it leaves out, and when it promises nothing."""

import re

import numpy as np

from oscsim import FixedOrder, FrequencyCoupling, PhaseLayerSpec


def save(path, omega, **changes):
    omega = np.reshape(omega, (1, -1, 1))
    fields = {
        "omega": omega, "theta": np.zeros(omega.shape), "coupling": FrequencyCoupling(alpha=[0.0]),
        "gain": [1.0], "order_parameter": FixedOrder(r=[1.0]), "time_unit_s": 2e-8,
    }  # fmt: skip
    PhaseLayerSpec(**fields | changes).save(path)
    return path


def lines(out):
    """The text with its line breaks undone."""
    return re.sub(r"\s+", " ", out)


def test_every_array_says_how_long_it_runs_and_what_it_leaves_out(cli, tmp_path):
    got = lines(cli("energy", save(tmp_path / "a.phase", [0.0, 1.0, 1.6])).out)
    assert "ring, 65 nm, pair: runs 2933 cycles (2.93 µs) at epsilon 0.00796; 33.3 % of pairs near the" in got
    assert "left out; bits: couplers 7, tuning 8, read-out 9" in got
    assert "ring, 65 nm, network: runs" in got and "nothing left out" in got


def test_a_layer_at_the_edge_promises_nothing(cli, tmp_path):
    got = cli("energy", save(tmp_path / "edge.phase", [0.0, 1.0]), "--json", "-")
    row = got.json()["layers"][0]["rows"][0]
    assert row["label"] == "ring, 65 nm, pair" and row["accuracy"] is None
    assert "no accuracy" in row["status"] and "no_accuracy" in row["status_code"]
    assert row["schedule"]["left_out_share"] == 1.0 and row["schedule"]["tuning_bits"] == 7
    assert "100 % of pairs near the edge left out" in lines(got.err)


def test_what_no_circuit_is_tuned_to_is_refused_with_what_helps(cli, tmp_path):
    path = save(tmp_path / "far.phase", [0.0, 50.0, 100.0], time_unit_s=1e-9)
    got = lines(cli("energy", path, "--details").out)
    assert "ring, 65 nm, pair" in got and "15.9 of the carrier" in got and "--epsilon 0.002" in got
    assert "ring, 65 nm, pair: runs" in lines(cli("energy", path, "--epsilon", 0.002).out)
