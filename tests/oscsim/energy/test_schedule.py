"""Schedules: counts scale as they should, clocks follow their options, accuracy costs what the law says."""

import itertools

import numpy as np
import pytest
from relative import relative

from oscsim import ExplicitCoupling, FixedOrder, FrequencyCoupling, PhaseLayerSpec, solve
from oscsim.energy import EnergyError, OscillatorHardware, load_constants
from oscsim.energy.accuracy_curve import accuracy_curve
from oscsim.energy.clock import strongest_coupling
from oscsim.energy.network_settling import network_settling
from oscsim.energy.oscillator_terms import hardware_book
from oscsim.energy.resolution import bits_for
from oscsim.energy.schedule import schedule
from oscsim.locked_state import locked_state
from oscsim.pair_terms import coupling, network_matrix

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
    assert plan.counts["phase_conversions.9"] == plan.counts["programming_writes.7"] == cells
    assert plan.tuning_bits == 5 and plan.counts["programming_writes.5"] == cells  # mismatches up to 0.3
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
    assert counted(spec, epsilon=0.05).locked_share == 0.0
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
    with pytest.raises(EnergyError, match=r"1\.59 of the carrier.*--time-unit-s 4\.6e-09.*--epsilon 0\.35"):
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


def test_tuning_resolves_what_is_small_within_all_that_is_tuned():
    """Two clusters far apart: at 7 bits S would be off by 0.2, at the bits that are counted it is not."""
    omega = np.array([[[0.0], [0.6], [300.0], [300.6]]])
    spec = layer(omega=omega, time_unit_s=1e-6)
    for dynamics, bits in (("pair", 15), ("network", 16)):  # the other three of four pull with 3/4 K
        plan = schedule(spec, OscillatorHardware(), dynamics)
        assert plan.tuning_bits == bits and plan.coupling_bits == 7
        assert plan.counts[f"programming_writes.{bits}"] == plan.counts["oscillators"]

    def error(bits):
        step = 300.6 / (2**bits - 1)
        return np.abs(solve(spec).sync - solve(spec.replace(omega=step * np.round(omega / step))).sync).max()

    assert error(15) < 0.01 and error(7) > 0.19


def test_cells_on_their_own_clock_are_tuned_as_they_run():
    weak = layer(count=2, spread=0.04, coupling=ExplicitCoupling(np.array([[[1.0, 0.5], [0.1, 1.0]]])))
    assert counted(weak).tuning_bits == bits_for(0.04 / 0.01)
    # one of them ten times as fast, the other twice; an oscillator is never off from itself
    assert counted(weak, cell_clock="own").tuning_bits == bits_for(0.4 / (2.0 * 0.01))
    turning = layer(count=2, spread=0.5, coupling=ExplicitCoupling(np.array([[[1.0, 0.1], [0.1, 1.0]]])))
    assert counted(turning, epsilon=0.3).epsilon == 0.3  # 0.15 of the carrier away
    with pytest.raises(EnergyError, match=r"0\.3 of the carrier"):
        counted(turning, epsilon=0.3, cell_clock="own")


def test_a_locked_network_is_tuned_as_finely_as_its_phases_need():
    """Every frequency off by half a step, the worst way round: phases are off by the accuracy."""
    spec = layer(count=5, spread=0.3, mask="causal", dynamics="network")
    found = network_settling(spec, OscillatorHardware(accuracy=1e-4))
    assert found.tuning is not None and found.tuning.span == relative(0.3)
    half, matrix = 0.5e-4 * found.tuning.step, network_matrix(spec, coupling(spec))[0]
    rest = locked_state(matrix, spec.omega[0, :, 0], True)
    worst = 0.0
    for signs in itertools.product((-half, half), repeat=5):
        moved = locked_state(matrix, spec.omega[0, :, 0] + signs, True)
        change = moved.theta - rest.theta  # type: ignore[union-attr]
        worst = max(worst, float(np.ptp(change)))
    assert worst == relative(1e-4, rel=1e-3)


def test_large_couplings_take_more_bits_and_both_signs_one_more():
    matrix = np.array([[[1.0, 8.0], [8.0, 1.0]]])
    plans = [
        counted(layer(count=2, coupling=ExplicitCoupling(m)))
        for m in (matrix, -matrix, matrix * [1, -1], matrix / 8)
    ]
    assert [plan.coupling_bits for plan in plans] == [10, 10, 11, 7]
    assert [plan.readout_bits for plan in plans] == [12, 12, 12, 9]
    assert [plan.largest_coupling for plan in plans] == [8.0, 8.0, 8.0, 1.0]
    masked = layer(count=2, coupling=ExplicitCoupling(np.array([[[1.0, -8.0], [1.0, 1.0]]])), mask="causal")
    assert counted(masked).coupling_bits == 7
    diagonal = layer(count=2, coupling=ExplicitCoupling(np.array([[[-8.0, 1.0], [1.0, -8.0]]])))
    assert counted(diagonal, "network").coupling_bits == 7  # no oscillator is coupled to itself
    assert any("each source alone" in note for note in plans[0].notes)
    alone = schedule(layer(count=1), OscillatorHardware(), "network")
    assert (alone.readout_bits, alone.largest_coupling) == (9, 1.0)  # nothing is coupled


def test_clamped_oscillators_all_turn_at_the_carrier_and_tune_their_rates_only():
    fields = {"dynamics": "clamped", "duration": 5.0, "count": 3}
    plain = counted(layer(**fields))
    assert plain.tuning_bits == 0 and plain.counts.total("programming_writes") == 9
    rate = np.array([[[1.0], [-4.0], [0.5]]])
    tuned = counted(layer(rate=rate, **fields))
    assert tuned.tuning_bits == bits_for(8.0 / 0.01) and tuned.counts["programming_writes.10"] == 3


def test_start_phases_of_pair_cells_are_set_where_a_layer_has_some():
    assert counted(layer()).counts["dac_conversions.9"] == 0.0
    assert counted(layer(psi_0=np.full((1, 4, 4), 0.3))).counts["dac_conversions.9"] == 16


def test_what_is_masked_or_padded_couples_nothing():
    matrix = np.ones((1, 4, 4))
    matrix[0, :3, 3] = matrix[0, 3, :3] = 50.0  # padded
    matrix[0, 0, 1] = 20.0  # not causal
    padding = np.array([False, False, False, True])
    spec = layer(coupling=ExplicitCoupling(matrix), padding=padding, mask="causal", dynamics="clamped")
    assert strongest_coupling(spec) == 3.0
    assert strongest_coupling(spec.replace(dynamics="pair")) == 1.0


def test_noise_of_pair_cells_piles_up_while_they_run():
    spec = layer(count=2, spread=0.3)
    plan = counted(spec, accuracy=0.04, epsilon=0.02)  # off by 0.046 at the start: lambda T = 0.44
    rate = np.sqrt(1.0 - 0.09) / plan.time_unit_s
    assert plan.slowest_rate == relative(rate) and rate * plan.seconds < 0.5
    at_rest = rate / (1.0 - np.exp(-2.0 * rate * plan.seconds))
    assert plan.noise_rate == pytest.approx(at_rest, rel=0.1) and plan.noise_rate != at_rest  # on its way
    as_plan = plan.of_plan(plan.counts, spec, OscillatorHardware(epsilon=0.02))
    assert as_plan.noise_rate == plan.slowest_rate  # a plan may run for longer
    own = counted(layer(count=3, spread=0.9), stop="each")
    ran = np.maximum(own.settle, 1.0 / (own.carrier_hz * own.time_unit_s))[0, 0, 2]
    slow = np.sqrt(1.0 - 0.81)
    at_rest = slow / (1.0 - np.exp(-2.0 * slow * ran)) / own.time_unit_s
    assert own.noise_rate == pytest.approx(at_rest, rel=0.1)


def test_what_is_left_out_is_said():
    half = counted(layer(count=3, spread=2.0))
    assert (
        half.left_out_share == relative(4 / 6) and "66.7 % of pairs near the edge left out" in half.sentence
    )
    assert half.promised == 0.01 and any(note.startswith("66.7 % of pairs are near") for note in half.notes)
    everything = counted(layer(count=2, spread=1.0))
    assert everything.promised is None and everything.accuracy == 0.01
    none = counted(layer())
    assert "; nothing left out;" in none.sentence and not any("%" in note for note in none.notes)


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
    plan = counted(layer(count=3, spread=9.0), "network", epsilon=0.01)
    assert plan.locked_share == 0.0 and plan.counts["phase_conversions.9"] == 3
    assert plan.slowest_rate == 0.0 and any("do not lock" in note for note in plan.notes)
    four = counted(layer(count=4, spread=9.0), "network", epsilon=0.01)
    assert four.counts["phase_conversions.9"] == 6


def test_nothing_is_read_sooner_than_after_one_cycle():
    assert counted(layer(spread=0.0)).cycles == 1.0


def test_options_without_effect_are_said():
    notes = " ".join(counted(layer(), "network", cell_clock="own", read_out="beats").notes)
    assert "'cell_clock'" in notes and "'read_out'" in notes and "'cell'" not in notes


@pytest.mark.parametrize(
    ("dynamics", "cell", "away"),
    [("pair", "injection", 0.3), ("pair", "mutual", 0.15), ("network", "injection", 0.3)],
)
def test_frequencies_that_no_tuning_reaches_are_refused_with_what_helps(dynamics, cell, away):
    spec, scale = layer(spread=3.0), 1.0 if away > 0.2 else 2.0  # at epsilon 0.1 the carrier is 10 K away
    counted(layer(spread=1.9 * (0.3 / away)), dynamics, cell=cell)
    found = rf"{away * scale:.3g} of the carrier.*reaches 0\.2; set --time-unit-s 2\.4e-09.*--epsilon 0\.066$"
    with pytest.raises(EnergyError, match=found):
        counted(layer(spread=3.0 * scale), dynamics, cell=cell)
    counted(spec, dynamics, cell=cell, epsilon=0.066)
    schedule(spec, OscillatorHardware(time_unit_s=2.4e-9, cell=cell), dynamics)


def test_a_clamped_layer_that_ends_within_a_cycle_is_refused_with_what_helps():
    def short(duration, **fields):
        return layer(dynamics="clamped", duration=duration, gain=[0.01], time_unit_s=1e-9, **fields)

    found = r"0\.05 of a carrier cycle.*set --time-unit-s 2e-08.*--epsilon 0\.00031, or --carrier-hz 2e\+10;"
    with pytest.raises(EnergyError, match=found):
        schedule(short(0.05), OscillatorHardware())
    for option in ({"time_unit_s": 2e-8}, {"epsilon": 0.00031}, {"carrier_hz": 2e10}):
        assert schedule(short(0.05), OscillatorHardware(**option)).cycles >= 1.0
    with pytest.raises(EnergyError, match="nothing to run"):
        schedule(short(0.0), OscillatorHardware())


def test_schedules_are_plain_json():
    plan = counted(layer()).to_json()
    assert plan["counts"]["oscillators"] == 16 and "settle" not in plan


def test_energy_grows_with_accuracy_until_a_constant_ends():
    spec, book = layer(count=2, spread=0.6), hardware_book(HARDWARE, load_constants())
    points = accuracy_curve(spec, HARDWARE, book, accuracies=(0.1, 0.03, 0.01, 0.001))
    energies = [point.energy.value_j for point in points[:3]]
    assert energies == sorted(energies) and energies[0] < energies[2]
    assert points[3].energy is None and "12 read-out bits" in points[3].why
    assert points[3].cycles > points[2].cycles and [point.tuning_bits for point in points] == [3, 5, 6, 10]
    assert [point.coupling_bits for point in points] == [4, 6, 7, 10]
    assert points[0].to_json()["energy"]["value_j"] == energies[0]
