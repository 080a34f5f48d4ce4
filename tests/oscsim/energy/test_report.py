"""One layer on all hardware: refusals, what every number rests on, and that every option moves a number."""

import json
import re
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from relative import relative

from hw_targets import circuit_names, get_target, target_names
from oscsim import ExplicitCoupling, FixedOrder, FrequencyCoupling, PhaseLayerSpec
from oscsim.cli.hardware_options import OPTIONS
from oscsim.counts import EVENTS
from oscsim.energy import Estimate, OscillatorHardware, Refusal, load_constants
from oscsim.energy.estimate import EnergyError
from oscsim.energy.plan_counts import PlanCounts, counts_by_target
from oscsim.energy.report import clocked_layer, energy_report

BOOK = load_constants()
ACCURACIES = (0.05,)


def small(**changes):
    """Four tokens whose pairs lock firmly, lock near the edge (ratio 0.98), and turn."""
    fields = {
        "omega": np.array([[[0.0], [0.3], [0.9], [2.5]]]),
        "theta": np.array([[[0.0], [0.3], [-0.2], [0.1]]]),
        "values": np.ones((1, 4, 2)),
        "coupling": FrequencyCoupling(alpha=[0.1]),
        "gain": [1.0],
        "order_parameter": FixedOrder(r=[1.0]),
        "time_unit_s": 2e-8,
    }
    return PhaseLayerSpec(**fields | changes)


def report(spec=None, plans=None, **options):
    hardware = OscillatorHardware.of(**options)
    return energy_report(spec or small(), hardware, plans or {}, BOOK, accuracies=ACCURACIES)


@cache
def hardware_only(**options):
    """The report of options alone; several tests start from the same one."""
    return report(**options)


def numbers(found):
    """Everything in joules that the rows say, and the shares that were left out."""
    rows = []
    for row in found.rows:
        total = row.answer.total.to_json() if isinstance(row.answer, Estimate) else row.answer.reason
        floor = None if row.floor_interval is None else row.floor_interval.value_j
        left_out = None if row.schedule is None else row.schedule.left_out_share
        rows.append((total, floor, left_out))
    return rows


CHANGED = {
    "family": ({}, "lc"), "node_nm": ({}, 45.0), "vdd_v": ({}, 1.0), "stages": ({}, 7), "width_um": ({}, 2.0),
    "quality_factor": ({"family": "lc"}, 8.0), "impedance_ohm": ({"family": "lc"}, 50.0),
    "cell": ({}, "mutual"), "coupling_bits": ({}, 4), "readout_bits": ({}, 6), "activity": ({}, 0.5),
    "accuracy": ({}, 0.05), "edge_band": ({}, 0.1), "carrier_hz": ({}, 2e9), "time_unit_s": ({}, 4e-8),
    "epsilon": ({}, 0.05), "cell_clock": ({}, "own"), "read_out": ({}, "beats"), "stop": ({}, "each"),
    "temperature_k": ({}, 400.0),
}  # fmt: skip


def test_every_field_is_an_option_and_is_tried():
    assert set(OPTIONS) == set(OscillatorHardware.model_fields) == set(CHANGED)


def test_the_pages_have_every_option_and_event():
    docs = Path(__file__).parents[3] / "docs"
    page, counted = (docs / name for name in ("energy.md", "energy_counts.md"))
    options, events = page.read_text(encoding="utf-8"), counted.read_text(encoding="utf-8")
    assert [option for option, _ in OPTIONS.values() if f"| `{option}` |" not in options] == []
    assert [event for event in EVENTS if f"\n| {event} |" not in events] == []


@pytest.mark.parametrize("option", CHANGED)
def test_every_option_moves_a_number(option):
    others, value = CHANGED[option]
    assert numbers(hardware_only(**others)) != numbers(report(**others, **{option: value}))


def test_every_number_rests_on_constants_of_the_report():
    plans = {"lava": PlanCounts(get_target("lava").lower(small()).plan.counts(), 1e-3)}
    content = report(plans=plans).to_json()
    assert content == json.loads(json.dumps(content, allow_nan=False))
    estimates = [row for row in content["rows"] if "refused" not in row]
    assert len(estimates) >= 3
    for row in estimates:
        assert sum(item["value_j"] for item in row["items"]) == relative(row["total"]["value_j"])
        for item in row["items"]:
            assert item["constants"] or item["value_j"] == 0.0
            for constant in item["constants"]:
                assert content["constants"][constant["name"]]["citation"] == constant["citation"]


def test_pair_and_network_are_two_machines_for_one_layer():
    pair, network = report().rows[:2]
    assert (pair.schedule.dynamics, network.schedule.dynamics) == ("pair", "network")
    assert pair.answer.counts["oscillators"] == 16 and network.answer.counts["oscillators"] == 4
    assert [row.schedule.dynamics for row in report(small(dynamics="network")).rows[:2]] == [
        "network",
        "pair",
    ]


def test_clamped_layers_have_one_array_and_no_digital_rest():
    rows = report(small(dynamics="clamped", duration=2.0)).rows
    assert [row.group for row in rows] == ["oscillators", "baseline"]
    assert rows[0].schedule.dynamics == "clamped"
    assert rows[0].answer.counts.total("multiply_accumulates") == 0.0
    assert isinstance(rows[1].answer, Refusal)


def test_the_digital_rest_is_in_it_or_left_out_with_the_reason():
    answer = report().rows[0].answer
    assert answer.counts["multiply_accumulates.int8"] == 32 and "7 nm logic" in answer.boundary
    absent = BOOK.replaced([BOOK["int8_mul_7nm"].__class__(**{
        **vars(BOOK["int8_mul_7nm"]), "how": "recalled"})])  # fmt: skip
    found = energy_report(small(), OscillatorHardware(), {}, absent, accuracies=ACCURACIES)
    answer = found.rows[0].answer
    assert answer.counts.total("multiply_accumulates") == 0.0
    assert "synchronization only" in answer.boundary and "int8_mul_7nm" in dict(answer.left_out).popitem()[1]
    assert "int8_mul_7nm" in found.rows[-1].answer.reason


def test_a_clock_that_is_too_fast_is_refused_with_what_helps():
    found = report(small(time_unit_s=1e-10))
    assert all(isinstance(row.answer, Refusal) and "--epsilon" in row.answer.reason for row in found.rows[:2])
    assert clocked_layer(small(time_unit_s=1e-10), OscillatorHardware()).time_unit_s == 1e-10
    assert clocked_layer(small(), OscillatorHardware(epsilon=0.1)).time_unit_s == relative(
        1 / (2 * np.pi * 1e9 * 0.1)
    )


def test_no_number_is_below_the_noise_floor_without_a_word():
    loud = report(accuracy=0.007, readout_bits=9).rows[0]
    assert "NOT ATTAINABLE (noise)" in loud.status and "NOT ATTAINABLE" in loud.verdict
    assert loud.status_codes == ("noise",) and loud.to_json()["status_code"] == ["noise"]
    assert loud.floor_interval.low_j > loud.oscillators.high_j
    others = loud.answer.total.value_j - loud.oscillators.value_j
    assert loud.at_floor.value_j == relative(others + loud.floor_interval.value_j)


@pytest.mark.parametrize("dynamics", ["pair", "network", "clamped"])
@pytest.mark.parametrize("family", ["ring", "relaxation"])
def test_advice_against_noise_helps_when_it_is_followed(dynamics, family):
    spec, options = small(dynamics=dynamics), {"accuracy": 0.007, "readout_bits": 9, "family": family}
    row = report(spec, **options).rows[0]
    if "noise" not in row.status_codes:
        assert row.remedies == () and row.advice == ""
        return
    assert row.remedies and all(remedy.option in row.advice for remedy in row.remedies)
    for remedy in row.remedies:
        words = remedy.option.replace("--", "").replace("-", "_").split()
        given = dict(zip(words[::2], words[1::2], strict=True))
        followed = report(spec, **options | given).rows[0]
        assert followed.oscillators.value_j >= followed.floor_interval.value_j
        assert followed.answer.total.value_j == relative(remedy.total.value_j)


def test_advice_against_noise_has_every_kind():
    tried = {remedy.option.split()[0] for remedy in report(accuracy=0.007, readout_bits=9).rows[0].remedies}
    assert {"--accuracy", "--family", "--width-um"} <= tried


def test_a_read_out_without_a_price_says_which_accuracy_has_one():
    reason = report(accuracy=0.002).rows[0].answer.reason
    assert reason.startswith("accuracy 0.002 needs 11 read-out bits, prices reach 9: ")
    for option in ({"accuracy": 0.0062}, {"accuracy": 0.002, "readout_bits": 9}):
        assert all(f"--{k.replace('_', '-')} {v}" in reason for k, v in option.items() if v != 0.002)
        assert isinstance(report(**option).rows[0].answer, Estimate)
    assert isinstance(report(accuracy=0.0061).rows[0].answer, Refusal)
    assert "given 12" in report(readout_bits=12).rows[0].answer.reason


def test_constants_of_another_node_are_extrapolations():
    def said(**options):
        answer = hardware_only(**options).rows[0].answer
        return [note for note in answer.notes if note.startswith("extrapolated from")]

    assert said() == ["extrapolated from 250 nm: ring_cycle_energy_factor"]
    assert any("250 nm" in note for note in said(node_nm=45.0))
    assert not any("250 nm" in note for note in said(node_nm=250.0))
    assert said(family="lc") == []


def test_a_plan_says_which_options_it_does_not_know():
    def notes(**options):
        hardware = OscillatorHardware(**options)
        plans = counts_by_target([get_target("brian2")], small(), hardware)
        return "; ".join(energy_report(small(), hardware, plans, BOOK, accuracies=ACCURACIES).rows[2].notes)

    given = notes(cell_clock="own", stop="each", accuracy=0.05)
    assert "does not know --accuracy, --cell-clock, --stop" in given and "cheaper" not in given
    assert "does not know" not in notes() and "may be cheaper" in notes()


def test_status_codes_and_what_is_included():
    plans = counts_by_target([get_target("lava")], small(), OscillatorHardware())
    found = report(plans=plans)
    array, lava = found.rows[0], found.rows[2]
    assert array.includes == "array + 7 nm logic"
    assert lava.includes == "cores, dynamic" and lava.status_codes == ("lower_bound",)
    assert lava.status == "sine look-ups and static power left out"
    refused = report(small(time_unit_s=1e-10)).rows[0]
    assert refused.status_codes == ("refused",)
    assert found.to_json()["hardware"]["carrier_hz"] == small().carrier_hz
    assert report(carrier_hz=2e9).to_json()["hardware"]["carrier_hz"] == 2e9


def test_what_is_not_validated_is_said_in_every_report():
    found = report()
    assert "not validated" in found.validation
    assert any(found.validation in note for note in found.notes)
    assert found.boundary in found.notes


def test_all_targets_have_a_number_or_a_reason():
    targets = [get_target(name) for name in (*target_names(), *circuit_names())]
    hardware = OscillatorHardware(epsilon=0.02, family="ring", stages=5)
    plans = counts_by_target(targets, clocked_layer(small(), hardware), hardware)
    assert all(isinstance(plan, PlanCounts) for plan in plans.values())
    found = energy_report(small(), hardware, plans, BOOK, "a100", ACCURACIES)
    kinds = {re.split(":| on ", row.label)[0]: row.answer.kind for row in found.rows if row.group == "target"}
    assert kinds == {
        "triton": "best case", "brian2": "estimate", "lava": "inherited", "circuit": "estimate",
        "spice": "estimate",
    }  # fmt: skip
    assert "A100" in found.rows[2].label and "best case" in found.rows[2].answer.kind


def test_a_plan_that_cannot_be_is_a_refusal():
    mixed = small(coupling=ExplicitCoupling(matrix=np.zeros((1, 4, 4))))
    plans = counts_by_target([get_target("circuit")], mixed, OscillatorHardware())
    row = report(mixed, plans).rows[2]
    assert row.label.startswith("circuit") and (
        isinstance(row.answer, Refusal) or row.answer.total.value_j > 0.0
    )
    slow = counts_by_target([get_target("circuit")], small(time_unit_s=1e-11), OscillatorHardware())
    assert isinstance(slow["circuit"], Refusal) and "time_unit_s" in slow["circuit"].reason


def test_what_cannot_be_built_has_no_price_as_a_plan_either():
    """The phase model of brian2 knows no carrier: at a coupling of ten carriers it still has a plan."""
    fast = small(time_unit_s=1e-10)
    plans = counts_by_target([get_target("brian2")], fast, OscillatorHardware())
    assert isinstance(plans["brian2"], PlanCounts)
    row = report(fast, plans).rows[2]
    assert isinstance(row.answer, Refusal) and "--epsilon" in row.answer.reason


def test_plans_of_oscillators_meet_the_noise_floor_too():
    plans = counts_by_target([get_target("brian2"), get_target("circuit")], small(), OscillatorHardware())
    array, _, brian2, circuit = report(small(), plans).rows[:4]
    per_cycle = [row.floor.energy.value_j / row.answer.counts["oscillator_cycles"] for row in (array, brian2)]
    assert per_cycle[0] == relative(per_cycle[1], rel=1e-6)
    # a cell of a circuit is two oscillators with noise of their own: kappa^2/lambda, not half of it
    mutual = circuit.floor.energy.value_j / circuit.answer.counts["oscillator_cycles"]
    assert mutual == relative(2.0 * per_cycle[1])
    assert "noise" in brian2.verdict and "noise" in circuit.status


@pytest.mark.parametrize("options", [{"cell_clock": "own"}, {"cell": "mutual"}, {"stop": "each"}])
def test_the_floor_of_a_plan_knows_no_option_that_the_plan_does_not_know(options):
    weak = small(coupling=ExplicitCoupling(matrix=np.where(np.eye(4) > 0.0, 1.0, 0.25)[None]))
    plans = counts_by_target([get_target("brian2"), get_target("circuit")], weak, OscillatorHardware())
    plain, given = report(weak, plans).rows, report(weak, plans, **options).rows
    for k in (2, 3):
        assert given[k].floor.energy.value_j == relative(plain[k].floor.energy.value_j)


def test_a_plan_is_no_more_accurate_than_its_read_out():
    plans = counts_by_target([get_target("brian2"), get_target("triton")], small(), OscillatorHardware())
    assert plans["brian2"].accuracy == relative(np.pi / 2**8), "read with eight bits"
    assert plans["triton"].accuracy == 1e-5
    strong = small(coupling=ExplicitCoupling(matrix=np.full((1, 4, 4), 8.0)), time_unit_s=1e-6)
    plans = counts_by_target([get_target("brian2")], strong, OscillatorHardware())
    assert plans["brian2"].accuracy == relative(8 * np.pi / 2**8), "of J = 8 as much more is lost"


def test_the_counts_of_a_network_on_lava_are_a_bound():
    network = small(dynamics="network")
    for layer, words in ((network, "at most"), (small(), "Loihi 1")):
        plans = counts_by_target([get_target("lava")], layer, OscillatorHardware())
        assert words in report(layer, plans).rows[2].label
    assert "at most" not in report(small(), plans).rows[2].label


def test_a_duration_that_is_a_lower_bound_is_said_in_the_status():
    row = report().rows[0]
    assert "at least" not in row.status
    bound = replace(row, schedule=replace(row.schedule, lower_bound=True))
    assert bound.status.startswith("at least")


def test_unknown_device():
    plans = {"triton": PlanCounts(get_target("triton").lower(small()).plan.counts(), 1e-5)}
    with pytest.raises(EnergyError, match="h200, a100"):
        energy_report(small(), OscillatorHardware(), plans, BOOK, "z80", ACCURACIES)


def test_the_curve_is_of_the_layers_own_array():
    found = energy_report(small(), OscillatorHardware(), {}, BOOK, accuracies=(0.05, 0.01, 0.001))
    coarse, fine, finest = found.curve
    assert fine.energy.value_j > coarse.energy.value_j
    assert fine.energy.value_j == relative(found.main.total.value_j)
    assert finest.energy is None and "bits" in finest.why
