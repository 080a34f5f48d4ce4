"""Counts of plans against what a run counted, and against a layout walked by hand."""

import numpy as np
import pytest

from hw_targets import get_target
from hw_targets.lava.chip import LOIHI2
from oscsim import ExplicitCoupling, FrequencyCoupling, PhaseLayerSpec

TARGET = get_target("lava")


def layer(heads=2, count=3, channels=2, **changes):
    rng = np.random.default_rng(1)
    shape = (heads, count, channels)
    fields = {
        "omega": rng.standard_normal(shape), "theta": rng.uniform(-1, 1, shape), "gain": np.ones(heads),
        "coupling": FrequencyCoupling(alpha=np.full(heads, 0.2)),
    }  # fmt: skip
    return PhaseLayerSpec(**(fields | changes))


def counts(spec, **options):
    return TARGET.lower(spec, TARGET.config(**options)).plan.counts()


def both(spec, **options):
    """Counts of a plan, and the same events as its run counted them."""
    executable = TARGET.lower(spec, TARGET.config(**options))
    executed = executable.run().provenance.counters
    planned = executable.plan.counts()
    pairs = {name: (planned[name], executed[name]) for name in ("neuron_updates", "sine_lookups", "spikes")}
    pairs["time_steps"] = planned["time_steps"], executed["lava_steps"]
    pairs["operations"] = planned.total("synaptic_operations"), executed["synaptic_operations"]
    return pairs


@pytest.mark.parametrize(
    ("changes", "options"),
    [
        ({}, {}),
        ({"padding": np.array([False, True, False]), "mask": "causal"}, {"integrator": "euler"}),
        ({"dynamics": "clamped", "duration": 0.7}, {"number_format": "floating_point"}),
        ({"dynamics": "clamped", "duration": 0.7}, {"held_sources": "synapses"}),
        ({"dynamics": "clamped", "duration": 0.7, "mask": "causal"},
         {"held_sources": "synapses", "synapses": "sparse"}),
    ],
)  # fmt: skip
def test_a_run_that_cannot_stop_early_counts_what_was_planned(changes, options):
    for planned, executed in both(layer(**changes), **options).values():
        assert planned == executed


@pytest.mark.parametrize("options", [{}, {"synapses": "sparse", "integrator": "euler", "delay_steps": 1}])
def test_a_network_never_does_more_than_planned_and_as_much_per_step(options):
    spec = layer(omega=np.zeros((2, 3, 2)), dynamics="network")
    found = both(spec, **options)
    share = found["time_steps"][1] / found["time_steps"][0]
    assert share < 1.0
    for planned, executed in found.values():
        assert executed == pytest.approx(share * planned)


def test_a_payload_of_zero_is_planned_as_a_spike():
    found = both(layer(theta=np.zeros((2, 3, 2)), dynamics="clamped", duration=0.7), held_sources="synapses")
    planned, executed = found["spikes"]
    assert executed < planned and found["neuron_updates"][0] == found["neuron_updates"][1]


@pytest.mark.parametrize(
    ("sizes", "growth"), [((4, 3, 2), 2), ((2, 6, 2), 4), ((2, 3, 4), 1)], ids=["H", "N^2", "D"]
)
def test_pair_cells_scale_with_heads_and_pairs(sizes, growth):
    small, large = (counts(layer(*size, omega=np.zeros(size))) for size in ((2, 3, 2), sizes))
    for name in ("programming_writes.24", "bytes.readout"):
        assert large[name] == growth * small[name]


@pytest.mark.parametrize(("sizes", "growth"), [((4, 3, 2), 2), ((2, 6, 2), 4), ((2, 3, 4), 2)])
def test_synapses_scale_with_heads_channels_and_pairs(sizes, growth):
    small, large = (counts(layer(*size, dynamics="network")) for size in ((2, 3, 2), sizes))
    assert large["programming_writes.8"] == growth * small["programming_writes.8"]
    assert large["synaptic_operations.dense"] == growth * small["synaptic_operations.dense"]
    assert small["spikes"] == 2 * 12 * small["time_steps"]


def test_sparse_synapses_are_those_that_are_not_zero():
    matrix = np.tile(np.eye(4) + np.eye(4, k=1) + np.eye(4, k=-1), (1, 1, 1))
    spec = layer(1, 4, 1, coupling=ExplicitCoupling(matrix), dynamics="network")
    dense, sparse = counts(spec), counts(spec, synapses="sparse")
    assert dense["synaptic_operations.dense"] == 2 * 16 * dense["time_steps"]
    assert sparse["synaptic_operations.sparse"] == 2 * 6 * sparse["time_steps"]
    assert sparse["messages"] == sparse["spikes"] == dense["spikes"]


def test_a_spike_is_a_message_to_every_core_and_walks_there():
    """512 tokens with 2 x 512 synapses of 6 bits each: 170 of them fill a core, the fourth gets two."""
    spec = layer(1, 512, 1, omega=np.zeros((1, 512, 1)), dynamics="network")
    plan = TARGET.lower(spec, TARGET.config(max_steps=128, weight_bits=6, steps_per_turn=16)).plan
    found, core = plan.counts(), np.arange(512) // 170
    assert plan["chip"]["cores"]["used"] == 4
    assert found["spikes"] == found["time_steps"] * 2 * 512
    assert found["messages"] == 4 * found["spikes"]
    walked = sum(abs(int(own) - other) for own in core for other in range(4))
    assert found["hops"] == 2 * walked * found["time_steps"]


def test_cells_exchange_nothing_and_without_a_chip_there_are_no_cores():
    cells = counts(layer())
    assert cells["spikes"] == cells["messages"] == cells["hops"] == 0 and cells["time_steps"] > 0
    network = counts(layer(dynamics="network"), chip="none")
    assert network["spikes"] > 0 and network["messages"] == network["hops"] == 0


def test_what_is_written_has_the_width_of_the_format():
    narrow = counts(layer(), phase_bits=20, parameter_bits=12)
    assert narrow["programming_writes.20"] == 18 and narrow["programming_writes.13"] == 36
    assert counts(layer(), number_format="floating_point").details("programming_writes") == ("64",)
    assert counts(layer(dynamics="network"), weight_bits=6)["programming_writes.6"] == 2 * 2 * 2 * 9


def test_the_mesh_is_the_most_square_one_of_the_published_number_of_cores():
    assert LOIHI2.mesh == (8, 16) and LOIHI2.mesh[0] * LOIHI2.mesh[1] == LOIHI2.cores
