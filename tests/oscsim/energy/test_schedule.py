"""Schedules: counts scale as they should, clocks follow their options, accuracy costs what the law says."""

import numpy as np
import pytest
from relative import relative

from oscsim import ExplicitCoupling, FixedOrder, FrequencyCoupling, PhaseLayerSpec
from oscsim.energy import EnergyError, OscillatorHardware, load_constants
from oscsim.energy.accuracy_curve import accuracy_curve
from oscsim.energy.oscillator_terms import hardware_book
from oscsim.energy.schedule import bits_for, schedule

HARDWARE = OscillatorHardware(epsilon=0.1)


def layer(heads=1, count=4, channels=1, spread=0.3, **fields):
    """Every pair locks at spread 0.3; tokens equally far apart on one channel."""
    omega = np.zeros((heads, count, channels))
    omega[:, :, 0] = np.linspace(0.0, spread, count)
    defaults = {
        "omega": omega, "theta": np.zeros(omega.shape), "gain": np.ones(heads),
        "coupling": FrequencyCoupling(np.zeros(heads)), "order_parameter": FixedOrder(np.ones(heads)),
    }  # fmt: skip
    return PhaseLayerSpec(**(defaults | fields))


def counted(spec, dynamics=None, **options):
    return schedule(spec, OscillatorHardware(**({"epsilon": 0.1} | options)), dynamics)


@pytest.mark.parametrize(("heads", "count", "channels"), [(1, 3, 1), (2, 3, 1), (1, 6, 1), (1, 3, 4)])
def test_a_pair_array_has_a_cell_per_ordered_pair_and_head(heads, count, channels):
    plan = counted(layer(heads, count, channels))
    cells = heads * count**2  # whatever the channels: they are one mismatch
    assert plan.cells == plan.counts["oscillators"] == plan.counts["couplers.7"] == cells
    assert plan.counts["phase_conversions.9"] == cells and plan.counts["programming_writes.7"] == 2 * cells
    assert plan.counts["oscillator_cycles"] == relative(cells * plan.cycles)
    assert plan.counts["wire_spans"] == cells and plan.counts["dac_conversions.9"] == 0.0
    assert plan.counts["array_seconds"] == relative(plan.seconds) == plan.cycles / plan.carrier_hz


@pytest.mark.parametrize(("heads", "count", "channels"), [(1, 3, 1), (2, 3, 1), (1, 6, 1), (1, 3, 4)])
def test_a_network_has_an_oscillator_per_token_head_and_channel(heads, count, channels):
    plan = counted(layer(heads, count, channels), "network")
    oscillators, couplers = heads * count * channels, heads * count * (count - 1) * channels
    assert plan.dynamics == "network" and plan.cells == plan.counts["oscillators"] == oscillators
    assert plan.counts["couplers.7"] == couplers
    assert plan.counts["wire_spans"] == relative(couplers * 2.0 / 3.0 * np.sqrt(count))
    assert plan.counts["dac_conversions.9"] == plan.counts["phase_conversions.9"] == oscillators
    assert plan.counts["coupling_cycles.7"] == relative(couplers * plan.cycles)


def test_a_clamped_array_has_as_many_held_oscillators():
    plan = counted(layer(2, 3, 4, dynamics="clamped", duration=5.0, mask="causal"))
    free = 2 * 3 * 4
    assert plan.cells == free and plan.counts["oscillators"] == 2 * free
    assert plan.counts["couplers.7"] == 2 * (3 + 2 + 1) * 4
    assert plan.counts["phase_conversions.9"] == free and plan.counts["dac_conversions.9"] == 2 * free
    assert plan.cycles == relative(5.0 * plan.carrier_hz * plan.time_unit_s)


def test_masks_padding_and_absent_couplings_are_not_built():
    padding = np.array([False, False, False, True])
    assert counted(layer(mask="causal", padding=padding)).cells == 3 * 4 / 2
    assert counted(layer(mask="causal", padding=padding), "network").counts["couplers.7"] == 3
    matrix = np.ones((1, 4, 4))
    matrix[0, 0, 1:] = 0.0
    plan = counted(layer(coupling=ExplicitCoupling(matrix)))
    assert plan.counts["oscillators"] == 16 and plan.counts["couplers.7"] == 13


def test_a_mutual_cell_has_two_oscillators_and_one_coupler():
    one, two = counted(layer()), counted(layer(), cell="mutual")
    assert two.counts["oscillators"] == 2 * one.counts["oscillators"]
    assert two.counts["oscillator_cycles"] == relative(2 * one.counts["oscillator_cycles"])
    assert two.counts["couplers.7"] == one.counts["couplers.7"] and two.cycles == one.cycles
    assert two.counts["phase_conversions.9"] == one.counts["phase_conversions.9"]


def test_stopping_each_cell_counts_its_own_time():
    spec = layer(spread=0.9)
    together, each = counted(spec), counted(spec, stop="each")
    own = np.maximum(together.settle * together.carrier_hz * together.time_unit_s, 1.0)
    assert each.counts["oscillator_cycles"] == relative(own.sum())
    assert each.counts["oscillator_cycles"] < together.counts["oscillator_cycles"]
    assert each.cycles == together.cycles == relative(own.max())
    assert each.counts["array_seconds"] == relative(own.mean() / each.carrier_hz)


def test_cells_at_the_edge_run_as_long_as_the_slowest_other_and_are_counted():
    spec = layer(count=2, spread=1.0)
    for stop in ("together", "each"):
        plan = counted(spec, stop=stop)
        assert plan.left_out_share == 1.0 and plan.cells == 4
        assert plan.counts["oscillator_cycles"] == relative(4 * plan.cycles)
    assert counted(layer(count=2, spread=0.9)).left_out_share == 0.0


def test_shares_count_neither_diagonal_nor_mask():
    spec = layer(count=3, spread=2.4)  # neighbours 1.2 apart: nothing locks but i = j
    assert counted(spec).locked_share == 0.0
    assert counted(layer(count=3, spread=1.8)).locked_share == relative(4 / 6)


def test_epsilon_chooses_the_time_unit_and_cycles_go_as_its_inverse():
    spec = layer()
    weak, strong = counted(spec, epsilon=0.05), counted(spec, epsilon=0.1)
    assert weak.time_unit_s == relative(2.0 * strong.time_unit_s)
    assert weak.cycles == relative(2.0 * strong.cycles)
    assert strong.time_unit_s == relative(1.0 / (2.0 * np.pi * 1e9 * 0.1))
    as_given = schedule(spec, OscillatorHardware(time_unit_s=strong.time_unit_s))
    assert as_given.epsilon == relative(0.1) and as_given.cycles == relative(strong.cycles)


def test_a_faster_carrier_at_one_epsilon_takes_as_many_cycles_and_less_time():
    slow, fast = counted(layer(), carrier_hz=1e8), counted(layer(), carrier_hz=1e10)
    assert fast.cycles == relative(slow.cycles) and fast.seconds == relative(slow.seconds / 100.0)
    assert fast.slowest_rate == relative(100.0 * slow.slowest_rate)


def test_the_slowest_rate_is_that_of_the_closed_form_in_seconds():
    plan = counted(layer(count=2, spread=0.6))
    assert plan.slowest_rate == relative(0.8 / plan.time_unit_s)


def test_too_strong_a_coupling_is_refused_with_the_smallest_change_that_helps():
    spec = layer(gain=[10.0])
    with pytest.raises(EnergyError, match=r"1\.59 of the carrier.*time_unit_s=4\.6e-09.*--epsilon 0\.35"):
        schedule(spec, OscillatorHardware())
    assert schedule(spec, OscillatorHardware(time_unit_s=4.6e-9)).epsilon <= 0.35
    with pytest.raises(EnergyError, match="nothing in this layer is coupled"):
        schedule(layer(gain=[0.0]), HARDWARE)


def test_bits_follow_the_accuracy_unless_they_are_given():
    plan = counted(layer(), accuracy=1e-3)
    assert (plan.coupling_bits, plan.readout_bits) == (10, 12) == (bits_for(1e3), bits_for(np.pi * 1e3))
    given = counted(layer(), accuracy=1e-3, coupling_bits=5, readout_bits=6)
    assert given.counts.details("coupling_cycles") == ("5",)
    assert given.counts.details("phase_conversions") == ("6",)
    assert given.cycles == plan.cycles


def test_locked_layers_take_logarithmically_longer_for_accuracy():
    spec = layer(count=2, spread=0.6)  # lambda = 0.8
    cycles = [counted(spec, accuracy=x).cycles for x in (1e-3, 1e-5, 1e-7)]
    step = np.log(100.0) / 0.8 / (2.0 * np.pi * 0.1)
    assert np.diff(cycles) == relative([step, step], rel=1e-3)


def test_turning_layers_take_inversely_longer_for_accuracy_or_one_beat():
    spec = layer(count=2, spread=1.25, gain=[0.75])
    window = [counted(spec, accuracy=x).cycles for x in (1e-2, 1e-3)]
    assert window[1] == relative(10.0 * window[0])
    beats = [counted(spec, accuracy=x, read_out="beats").cycles for x in (1e-2, 1e-3)]
    assert beats[0] == beats[1] == relative(0.75 / (2.0 * np.pi * 0.1) * 2.0 * np.pi)


def test_a_network_that_turns_is_read_pair_by_pair():
    plan = counted(layer(count=3, spread=9.0), "network")
    assert plan.locked_share == 0.0 and plan.counts["phase_conversions.9"] == 3
    assert plan.slowest_rate == 0.0 and any("do not lock" in note for note in plan.notes)
    four = counted(layer(count=4, spread=9.0), "network")
    assert four.counts["phase_conversions.9"] == 6


def test_nothing_is_read_sooner_than_after_one_cycle():
    assert counted(layer(spread=0.0)).cycles == 1.0


def test_options_without_effect_are_said():
    notes = " ".join(counted(layer(), "network", cell_clock="own", read_out="beats").notes)
    assert "'cell_clock'" in notes and "'read_out'" in notes and "'cell'" not in notes
    assert any("tuning reaches" in note for note in counted(layer(spread=3.0)).notes)


def test_schedules_are_plain_json():
    plan = counted(layer()).to_json()
    assert plan["counts"]["oscillators"] == 16 and "settle" not in plan


def test_energy_grows_with_accuracy_until_a_constant_ends():
    spec, book = layer(count=2, spread=0.6), hardware_book(HARDWARE, load_constants())
    points = accuracy_curve(spec, HARDWARE, book, accuracies=(0.1, 0.03, 0.01, 0.001))
    energies = [point.energy.value_j for point in points[:3]]
    assert energies == sorted(energies) and energies[0] < energies[2]
    assert points[3].energy is None and "bits = 12" in points[3].why and points[3].cycles > points[2].cycles
    assert [point.coupling_bits for point in points] == [4, 6, 7, 10]
    assert points[0].to_json()["energy"]["value_j"] == energies[0]
