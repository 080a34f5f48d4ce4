"""Every knob of an oscillator array moves the right item the right way, in joules."""

import math
import re

import pytest
from relative import relative

from oscsim.counts import Counts
from oscsim.energy import (
    ConstantError,
    EnergyError,
    OscillatorHardware,
    Scope,
    estimate,
    load_constants,
    try_estimate,
)
from oscsim.energy.oscillator_terms import clocked, hardware_book, oscillator_scope, oscillator_terms
from oscsim.energy.schedule import schedule
from oscsim.errors import ConfigError
from oscsim.spec import FrequencyCoupling, PhaseLayerSpec

BOOK = load_constants()
ITEMS = ("programming", "phase setting", "oscillators", "couplers", "wires", "leakage", "read-out")
FAMILIES = ("ring", "lc", "relaxation")


def near(number, rel=1e-9):
    """Relative only: joules are far below the absolute tolerance that approx adds."""
    return relative(number, rel=rel)


def array(n=100.0, couplers=200.0, cycles=40.0, spans=1.0, seconds=4e-8, bits=6, readout=8):
    """Counts of n oscillators and their couplers that run for some cycles."""
    return Counts({
        "oscillators": n, "oscillator_cycles": n * cycles,
        f"couplers.{bits}": couplers, f"coupling_cycles.{bits}": couplers * cycles,
        "wire_spans": couplers * spans, "wire_span_cycles": couplers * spans * cycles,
        "array_seconds": seconds, f"programming_writes.{bits}": n + couplers,
        f"phase_conversions.{readout}": n, f"dac_conversions.{readout}": n,
    })  # fmt: skip


def priced(counts=None, **options):
    """The estimate of some hardware, at 1 V unless a test says otherwise."""
    hardware = OscillatorHardware.of(**{"vdd_v": 1.0, "carrier_hz": 1e9, **options})
    counts = array() if counts is None else counts
    scope = Scope("array", "estimate", "array")
    return estimate(scope, counts, oscillator_terms(hardware, counts), hardware_book(hardware, BOOK))


def joules(counts=None, **options):
    return {item.name: item.interval.value_j for item in priced(counts, **options).items}


def ratios(changed, before):
    """How each item changed, and that those which a test does not name did not."""
    return {name: changed[name] / before[name] for name in ITEMS if before[name] > 0.0}


@pytest.mark.parametrize("family", FAMILIES)
def test_the_total_is_the_sum_of_its_items_and_each_costs_something(family):
    found = priced(family=family)
    assert tuple(item.name for item in found.items) == ITEMS
    assert all(item.interval.value_j > 0.0 for item in found.items)
    assert found.total.value_j == near(sum(item.interval.value_j for item in found.items))


@pytest.mark.parametrize("node", [65, 40, 22, 14, 7, 250])
@pytest.mark.parametrize("family", FAMILIES)
def test_supply_squared_where_charge_moves_and_to_the_first_power_where_current_leaks(family, node):
    once, twice = (joules(family=family, node_nm=node, vdd_v=v) for v in (1.0, 2.0))
    expected = dict.fromkeys(ITEMS, 4.0) | {"leakage": 2.0, "read-out": 1.0, "phase setting": 1.0}
    assert ratios(twice, once) == near(expected)


OPTIONS = [
    ("ring", {"stages": 5}, {"stages": 15}, {"oscillators": 3.0}),
    ("ring", {"width_um": 1.0}, {"width_um": 2.0}, {"oscillators": 2.0}),
    ("lc", {"quality_factor": 5.0}, {"quality_factor": 20.0}, {"oscillators": 0.25}),
    ("lc", {"impedance_ohm": 50.0}, {"impedance_ohm": 100.0}, {"oscillators": 0.5}),
    ("lc", {"carrier_hz": 1e9}, {"carrier_hz": 5e9}, {"oscillators": 0.2}),
    ("ring", {"carrier_hz": 1e9}, {"carrier_hz": 5e9}, {}),
    ("relaxation", {"carrier_hz": 1e9}, {"carrier_hz": 5e9}, {}),
    *[(family, {"activity": 1.0}, {"activity": 0.25}, {"couplers": 0.25}) for family in FAMILIES],
]


@pytest.mark.parametrize(
    ("family", "before", "after", "moved"), OPTIONS, ids=[f"{f}-{next(iter(b))}" for f, b, _, _ in OPTIONS]
)
def test_an_option_moves_its_item_by_its_power_and_no_other(family, before, after, moved):
    """Without couplers or rings that leak: leakage is looked at below."""
    counts = array(seconds=0.0)
    found = ratios(joules(counts, family=family, **after), joules(counts, family=family, **before))
    expected = {name: moved.get(name, 1.0) for name in found}
    assert found == near(expected)


COUNTED = [
    ({"n": 300.0, "couplers": 600.0}, dict.fromkeys(ITEMS, 3.0)),
    ({"cycles": 120.0}, {"oscillators": 3.0, "couplers": 3.0, "wires": 3.0}),
    ({"spans": 3.0}, {"wires": 3.0}),
    ({"seconds": 1.2e-7}, {"leakage": 3.0}),
    ({"readout": 9}, {"read-out": 2.0, "phase setting": 2.0}),
    ({"readout": 5}, {"read-out": 0.125, "phase setting": 0.125}),
]


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize(
    ("change", "moved"), COUNTED, ids=[next(iter(c)) + str(k) for k, (c, _) in enumerate(COUNTED)]
)
def test_a_count_moves_its_item_by_its_power_and_no_other(family, change, moved):
    found = ratios(joules(array(**change), family=family), joules(family=family))
    assert found == near({name: moved.get(name, 1.0) for name in ITEMS})


def test_bits_of_a_coupler_are_2_to_the_bits_minus_1_units_and_bits_to_store():
    few, many = joules(array(bits=3), family="relaxation"), joules(array(bits=6), family="relaxation")
    moved = {"couplers": 63.0 / 7.0, "leakage": 63.0 / 7.0, "programming": 2.0}
    assert ratios(many, few) == near({name: moved.get(name, 1.0) for name in ITEMS})


def test_leakage_is_that_of_stages_and_couplers_together():
    both = joules(stages=5, width_um=1.0)["leakage"]
    stages = joules(array(couplers=0.0), stages=5, width_um=1.0)["leakage"]
    couplers = joules(family="relaxation")["leakage"]
    assert both == near(stages + couplers)
    assert joules(array(couplers=0.0), stages=15, width_um=2.0)["leakage"] == near(6.0 * stages)


def test_leakage_in_joules():
    """100 rings of 5 stages of 1 um, 4e-8 s at 1 V."""
    row = BOOK.usable("leakage_per_width_65nm")
    leaked = joules(array(couplers=0.0), stages=5, width_um=1.0)["leakage"]
    assert leaked == near(100 * 5 * 1.0 * row.value * 1.0 * 4e-8)


IN_JOULES = [
    ("ring", "oscillators", lambda x: 4000 * 5 * x["ring_cycle_energy_factor"] * x["ring_node_load"]
        * x["gate_cap_per_width_65nm"] * x["ring_width_65nm"]),
    ("lc", "oscillators", lambda x: 4000 * math.pi * x["lc_amplitude"] ** 2
        / (2 * math.pi * 1e9 * x["tank_impedance"]) / x["tank_quality_factor"] / x["lc_efficiency"]),
    ("relaxation", "oscillators", lambda x: 4000 * x["relaxation_capacitance"] * x["relaxation_swing"]
        * x["relaxation_overhead"]),
    ("ring", "wires", lambda x: 8000 * x["wire_cap"] * x["cell_pitch_65nm"]),
    ("ring", "programming", lambda x: 300 * 6 * x["latch_units"] * x["coupler_unit_width_65nm"]
        * x["ring_node_load"] * x["gate_cap_per_width_65nm"]),
    ("ring", "read-out", lambda x: 100 * 256 * x["phase_readout_step"]),
    ("ring", "phase setting", lambda x: 100 * 256 * x["phase_setting_step"]),
]  # fmt: skip


@pytest.mark.parametrize(
    ("family", "item", "formula"), IN_JOULES, ids=[f"{family}-{item}" for family, item, _ in IN_JOULES]
)
def test_an_item_in_joules(family, item, formula):
    """At 65 nm and 1 V, from the rows of the table: 100 oscillators, 200 couplers of 6 bits, 40 cycles."""
    values = {name: row.value for name, row in BOOK.items()}
    assert joules(family=family)[item] == near(formula(values))


def test_widths_shrink_with_the_node_and_a_shrunk_array_costs_less():
    energies = [joules(node_nm=node, vdd_v=None) for node in (65, 45, 32, 22)]
    for item in ("oscillators", "couplers", "wires", "programming"):
        assert [e[item] for e in energies] == sorted((e[item] for e in energies), reverse=True)
    wires = [e["wires"] for e in (joules(node_nm=65), joules(node_nm=32.5))]
    assert wires[0] / wires[1] == near(2.0)


@pytest.mark.parametrize("family", FAMILIES)
def test_options_are_exact_and_cited_as_options(family):
    given = {"ring": {"stages": 7, "width_um": 1.0}, "lc": {"quality_factor": 9.0, "impedance_ohm": 60.0}}
    found = priced(family=family, **given.get(family, {})).constants
    chosen = {name for name, row in found.items() if row.how == "chosen"}
    names = {"ring": {"ring_stages", "ring_width"}, "lc": {"tank_quality_factor", "tank_impedance"}}
    assert chosen == {"supply"} | names.get(family, set())
    assert found["supply"].citation == "option --vdd"
    assert all(found[name].low == found[name].high for name in chosen)


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("node", [130, 90, 16, 5])
def test_an_unknown_node_is_refused_not_extrapolated(family, node):
    with pytest.raises(ConstantError, match=f"given {node} nm"):
        priced(family=family, node_nm=node)


@pytest.mark.parametrize("bits", [4, 10])
def test_a_resolution_outside_the_survey_is_refused(bits):
    with pytest.raises(ConstantError, match=f"bits = {bits}"):
        priced(array(readout=bits))


def test_unknown_families_events_and_halves_of_counts_are_errors():
    with pytest.raises(ConfigError, match="family"):
        OscillatorHardware.of(family="spin_torque")
    with pytest.raises(EnergyError, match="'spikes' have no price"):
        priced(array() + Counts({"spikes": 1.0}))
    with pytest.raises(EnergyError, match="couplers are built"):
        priced(Counts({"oscillator_cycles": 5, "couplers.6": 2}))
    with pytest.raises(EnergyError, match="wire_spans are built"):
        priced(Counts({"oscillator_cycles": 5, "wire_spans": 2}))
    with pytest.raises(EnergyError, match="no carrier_hz"):
        priced(family="lc", carrier_hz=None)


@pytest.mark.parametrize(
    ("option", "below", "above"),
    [
        ("node_nm", 0.5, 1e6), ("vdd_v", 1e-3, 1e200), ("stages", 1, 999999999), ("width_um", 1e-3, 1e308),
        ("quality_factor", 1e-320, 1e7), ("impedance_ohm", 1e-320, 1e8), ("activity", 1e-300, 1.1),
        ("accuracy", 1e-300, 1.0), ("edge_band", 1e-300, 0.5), ("carrier_hz", 1e-3, 1e13),
        ("time_unit_s", 1e-300, 1e300), ("epsilon", 1e-300, 0.4), ("temperature_k", 1e-9, 1e9),
    ],
)  # fmt: skip
def test_what_nobody_builds_is_refused(option, below, above):
    family = "lc" if option in ("quality_factor", "impedance_ohm") else "ring"
    for value in (below, above):
        with pytest.raises(ConfigError, match=f"option '{option}': given {re.escape(str(value))}"):
            OscillatorHardware.of(family=family, **{option: value})


@pytest.mark.parametrize(("node", "fins"), [(14, 2.0), (7, 2.0)])
def test_a_stage_of_fins_has_both_of_its_transistors(node, fins):
    """``N kappa load C_fin (n + p fins) V^2``: a stage has an n and a p device of so many fins each."""
    value = {name: row.value for name, row in BOOK.items()}
    capacitance = value["ring_node_load"] * value[f"gate_cap_per_fin_{node}nm"] * 2.0 * fins
    stage = value["ring_cycle_energy_factor"] * capacitance
    assert value["fins_per_device"] == fins
    assert joules(node_nm=node)["oscillators"] == near(4000.0 * value["ring_stages"] * stage)


def test_the_speed_of_oscillators_is_not_claimed():
    spec = PhaseLayerSpec(
        omega=[[[0.1], [0.0]]], theta=[[[0.0], [0.5]]], coupling=FrequencyCoupling([0.3]), gain=[1.5]
    )
    for family in FAMILIES:
        hardware = OscillatorHardware(family=family, epsilon=0.05)
        notes = oscillator_scope(hardware, schedule(spec, hardware, "pair")).notes
        assert any(note.startswith("not checked: whether oscillators") for note in notes)


def test_a_missing_constant_refuses_the_estimate():
    hardware = OscillatorHardware(node_nm=130)
    found = try_estimate(
        Scope("array", "estimate", "array"), array(), oscillator_terms(hardware, array()), BOOK
    )
    assert "given 130 nm" in found.reason  # pyright: ignore[reportAttributeAccessIssue]


def test_a_tank_takes_the_carrier_of_the_layer_unless_it_has_its_own():
    assert clocked(OscillatorHardware(family="lc"), 2e9).carrier_hz == 2e9
    assert clocked(OscillatorHardware(family="lc", carrier_hz=1e9), 2e9).carrier_hz == 1e9
