"""The neuromorphic program at energies of Loihi 1: power laws, range, what is left out."""

import pytest
from relative import relative

from oscsim.counts import Counts
from oscsim.energy import EnergyError, Estimate, Refusal, load_constants
from oscsim.energy.baselines import boundary_note, gpu_estimate, loihi_estimate

BOOK = load_constants()
COUNTS = Counts(
    {
        "neuron_updates": 1e6, "synaptic_operations.dense": 2e6, "synaptic_operations.sparse": 3e6,
        "spikes": 4e4, "messages": 5e4, "hops": 6e4, "sine_lookups": 4e6, "time_steps": 100.0,
        "programming_writes.8": 10.0, "bytes.readout": 200.0,
    }
)  # fmt: skip
LEFT_OUT = {"sine_lookups", "time_steps", "programming_writes", "bytes.readout"}
PRICED = [name for name in COUNTS if not {name, name.partition(".")[0]} & LEFT_OUT]


def estimate(counts: Counts = COUNTS, **options: float) -> Estimate:
    result = loihi_estimate(counts, BOOK, **options)
    assert isinstance(result, Estimate), result
    return result


def value(name: str) -> float:
    number = BOOK[name].value
    assert number is not None
    return number


def test_the_best_value_is_the_fit_to_silicon() -> None:
    hop = (value("loihi1_hop_east_west") + value("loihi1_hop_north_south")) / 2
    expected = (
        1e6 * (value("loihi1_soma_access") + value("loihi1_soma_update"))
        + 2e6 * value("loihi1_synaptic_op")
        + 3e6 * value("loihi1_synaptic_op_sparse")
        + 4e4 * value("loihi1_spike_out")
        + 5e4 * value("loihi1_axon_message")
        + 6e4 * hop
    )
    assert estimate().total.value_j == relative(expected, rel=1e-12)


@pytest.mark.parametrize("event", PRICED)
def test_energy_is_proportional_to_events(event: str) -> None:
    once = estimate(Counts({event: 7.0})).total
    assert estimate(Counts({event: 21.0})).total.value_j == relative(3 * once.value_j, rel=1e-12)
    assert once.low_j < once.median_j < once.high_j


def test_the_ranges_reach_to_what_was_simulated_before_silicon() -> None:
    for event, name in (
        ("synaptic_operations.dense", "loihi1_synaptic_op_presilicon"),
        ("synaptic_operations.sparse", "loihi1_synaptic_op_presilicon"),
        ("neuron_updates", "loihi1_neuron_update_active_presilicon"),
    ):
        constants = estimate(Counts({event: 1.0})).constants.values()
        assert sum(c.low or 0.0 for c in constants) <= value(name) <= sum(c.high or 0.0 for c in constants)


def test_it_is_inherited_and_says_what_is_missing() -> None:
    result = estimate(accuracy=0.0078, asked=0.001)
    assert result.kind == "inherited" and result.accuracy == 0.0078
    assert result.boundary == "cores, dynamic; sine look-ups and static power left out"
    assert estimate(Counts({"neuron_updates": 1.0})).boundary == "cores, dynamic"
    left_out = dict(result.left_out)
    assert LEFT_OUT | {"read-out", "row normalisation and values"} == set(left_out)
    notes = "; ".join(result.notes)
    assert "no public energy per event of Loihi 2" in notes and "not scaled" in notes
    assert "promises 0.0078, asked 0.001" in notes
    assert "less accurate" not in "; ".join(estimate(accuracy=0.001, asked=0.01).notes)
    assert not any("loihi2" in name for name in result.constants)


def test_nothing_costs_nothing_by_accident() -> None:
    with pytest.raises(EnergyError, match="oscillator_cycles"):
        loihi_estimate(Counts({"oscillator_cycles": 1.0}), BOOK)


def test_unlike_boundaries_are_said() -> None:
    gpu = gpu_estimate(Counts({"bytes.hbm": 1e6}), BOOK)
    note = boundary_note([gpu, estimate(), Refusal("digital", "no constants")])
    assert "different things" in note and "Only triton on H200 at its best includes a whole board" in note
    assert boundary_note([estimate(), estimate()]).startswith("Every row includes the same: cores, dynamic")


def test_unlike_errors_are_said() -> None:
    coarse, fine = estimate(accuracy=0.01), estimate(accuracy=1e-5)
    assert "errors of S differ (1e-05 to 0.01)" in boundary_note([coarse, fine])
    assert "no advantage" in boundary_note([coarse, fine])
    assert "errors" not in boundary_note([coarse, coarse])
