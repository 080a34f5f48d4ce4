"""Counts of ideal phase oscillators and of circuits: scaling, clocks, and what a run really took."""

import re

import numpy as np
import pytest

from hw_targets import get_target
from oscsim import ExplicitCoupling, FixedOrder, FrequencyCoupling, PhaseLayerSpec

IDEAL, CIRCUIT = get_target("brian2"), get_target("circuit")
PER_UNIT = 1.0 / (2.0 * np.pi * 0.02)  # carrier cycles per time unit: a = 1 is 2 % of the carrier


def layer(heads=1, count=3, channels=1, spread=0.3, **fields):
    omega = np.zeros((heads, count, channels))
    omega[:, :, 0] = np.linspace(0.0, spread, count)
    defaults = {
        "omega": omega, "theta": np.zeros(omega.shape), "gain": np.ones(heads),
        "coupling": FrequencyCoupling(np.zeros(heads)), "order_parameter": FixedOrder(np.ones(heads)),
        "time_unit_s": PER_UNIT * 1e-9, "carrier_hz": 1e9,
    }  # fmt: skip
    return PhaseLayerSpec(**(defaults | fields))


def counts(target, spec, **options):
    return target.lower(spec, target.config(**options)).plan.counts()


@pytest.mark.parametrize(("heads", "count", "channels"), [(1, 3, 1), (2, 3, 1), (1, 6, 1), (1, 3, 4)])
def test_ideal_oscillators_scale_with_the_layer(heads, count, channels):
    cells = counts(IDEAL, layer(heads, count, channels))
    assert cells["oscillators"] == cells["couplers.8"] == cells["phase_conversions.8"] == heads * count**2
    network = counts(IDEAL, layer(heads, count, channels, dynamics="network"))
    assert network["oscillators"] == heads * count * channels
    assert network["couplers.8"] == heads * count * (count - 1) * channels
    clamped = counts(IDEAL, layer(heads, count, channels, dynamics="clamped", duration=2.0))
    assert clamped["oscillators"] == 2 * heads * count * channels
    assert clamped["couplers.8"] == heads * count**2 * channels


def test_cycles_are_predicted_seconds_times_the_carrier():
    spec = layer(count=2, spread=0.6)
    plan = IDEAL.lower(spec).plan
    longest = plan["circuit"]["slowest_predicted_settling_s"] * spec.carrier_hz
    assert plan.counts()["oscillator_cycles"] == pytest.approx(
        2.0 * longest + 2.0
    )  # two rest: one cycle each
    twice = counts(IDEAL, spec.replace(carrier_hz=2e9))
    assert twice["oscillator_cycles"] == pytest.approx(4.0 * longest + 2.0)
    slower = counts(IDEAL, spec.replace(time_unit_s=3.0 * spec.time_unit_s))
    assert slower["oscillator_cycles"] == pytest.approx(6.0 * longest + 2.0)


@pytest.mark.parametrize("ratio", [0.6, 1.3])
def test_ideal_cells_are_counted_for_the_time_that_a_run_takes(ratio):
    """A run looks for rest every few steps and plans a margin: it takes a little longer, never half."""
    spec = layer(count=2, spread=ratio)
    executable = IDEAL.lower(spec)
    note = next(note for note in executable.run().provenance.notes if note.startswith("steps taken"))
    steps = {int(a): int(b) for a, b in re.findall(r"(\d+): (\d+)", note)}
    last = max(steps)
    own = steps[last] * executable.plan["classes"][f"class_{last}"]["step"]
    taken = own / max(ratio, 1.0) * PER_UNIT
    planned = (executable.plan.counts()["oscillator_cycles"] - 2.0) / 2.0
    assert 0.9 * taken < planned < 1.1 * taken


def test_a_clamped_layer_is_counted_for_its_duration():
    spec = layer(count=2, dynamics="clamped", duration=0.5, theta=np.array([[[0.0], [1.0]]]))
    found = counts(IDEAL, spec)
    assert found["oscillator_cycles"] == pytest.approx(4 * 0.5 * PER_UNIT)
    assert found["array_seconds"] == pytest.approx(0.5 * spec.time_unit_s)


def test_a_network_that_cannot_lock_is_counted_as_long_as_it_may_run():
    spec = layer(count=2, spread=3.0, dynamics="network")
    plan = IDEAL.lower(spec, IDEAL.config(max_duration=400.0)).plan
    longest = plan["clock"]["looks_at_steps"][-1] * plan["clock"]["dt_s"] * spec.carrier_hz
    assert plan.counts()["oscillator_cycles"] == pytest.approx(2.0 * longest)
    assert counts(IDEAL, layer(count=2, dynamics="network"))["oscillator_cycles"] < 2.0 * longest


def test_equal_frequencies_without_coupling_are_at_rest_whatever_their_mean_rounds_to():
    spec = layer(count=3, dynamics="network", gain=[0.0], omega=np.full((1, 3, 1), 0.1))
    assert counts(IDEAL, spec)["oscillator_cycles"] == 3.0


@pytest.mark.parametrize(("heads", "count"), [(1, 2), (2, 2), (1, 4)])
def test_a_chip_has_two_oscillators_per_cell_even_where_one_is_simulated(heads, count):
    plan = CIRCUIT.lower(layer(heads, count)).plan
    found, cells = plan.counts(), heads * count**2
    assert plan["circuit"]["oscillators"] < 2 * cells  # equal cells are simulated once
    assert found["oscillators"] == 2 * cells and found["couplers.8"] == cells == found["wire_spans"]
    one_way = counts(CIRCUIT, layer(heads, count), coupler="transconductance")
    assert one_way["couplers.8"] == 2 * cells == 2 * found["phase_conversions.8"]


def test_codes_replace_the_stand_in():
    found = counts(CIRCUIT, layer(), coupling_bits=5, frequency_bits=10, readout_bits=6)
    assert found["programming_writes.5"] == 9 and found["programming_writes.10"] == 18
    assert found.details("couplers") == ("5",) and found.details("phase_conversions") == ("6",)


def test_a_network_on_a_chip_counts_its_wires_by_topology():
    spec = layer(count=9, dynamics="network")
    everything = counts(CIRCUIT, spec)
    assert everything["couplers.8"] == 36 and everything["wire_spans"] == pytest.approx(72.0)  # 2 = 2/3 of 3
    kings = counts(CIRCUIT, spec, topology="kings_graph")
    assert kings["couplers.8"] == 20 and kings["wire_spans"] == 12 + 2 * 8  # straight ones and diagonals
    held = counts(
        CIRCUIT, layer(count=9, dynamics="clamped", duration=5.0, gain=[0.1]), coupler="transconductance"
    )
    assert held["couplers.8"] == 81 and held["wire_spans"] == pytest.approx(2 * 72.0 + 9.0)
    assert held["oscillators"] == held["dac_conversions.8"] == 18


def test_circuits_are_counted_about_as_long_as_a_run_takes():
    """Detuned by 0.6 of what locks, self-pairs missing: one kind of cell."""
    coupling = ExplicitCoupling(np.array([[[0.0, 1.0], [1.0, 0.0]]]))
    spec = layer(count=2, spread=0.6, coupling=coupling)
    executable = CIRCUIT.lower(spec, CIRCUIT.config(mu=0.3, phase_accuracy=1e-3))
    notes = " ".join(executable.run().provenance.notes)
    taken = max(float(cycles) for cycles in re.findall(r"([\d.e+]+) \(class", notes))
    planned = executable.plan.counts()["coupling_cycles.8"] / 2.0
    assert 0.5 * taken < planned < 2.0 * taken


def test_limits_of_a_run_are_limits_of_its_counts():
    slow = counts(CIRCUIT, layer(count=2, spread=0.99999), max_cycles=50.0)
    assert 2 * 2 * 50.0 < slow["oscillator_cycles"] <= 8 * 50.0
