"""Limits of a chip: refused with the smallest change that fits, which then fits; and what a layer takes."""

import re
from dataclasses import replace

import numpy as np
import pytest

from hw_targets import get_target
from hw_targets.lava.chip import CHIPS, LOIHI2, cells_of, check_cells, usage
from hw_targets.lava.neuron_states import cell_states, oscillator_states
from hw_targets.lava.picks import Picked
from oscsim import ExplicitCoupling, FrequencyCoupling, PhaseLayerSpec
from oscsim.errors import LoweringError

TARGET = get_target("lava")


def flat(count: int, heads: int = 1, channels: int = 1, **changes) -> PhaseLayerSpec:
    """A network in which everybody drives everybody alike: the largest synaptic sums there are."""
    fields = {
        "omega": np.zeros((heads, count, channels)),
        "theta": np.zeros((heads, count, channels)),
        "coupling": FrequencyCoupling(alpha=[0.0] * heads),
        "gain": [1.0] * heads,
        "dynamics": "network",
    }
    return PhaseLayerSpec(**(fields | changes))


def refused(spec: PhaseLayerSpec, **options) -> str:
    with pytest.raises(LoweringError) as error:
        TARGET.lower(spec, TARGET.config(**options))
    return str(error.value)


def advised(message: str) -> dict[str, int | str]:
    """The options that a message says to set."""
    found = re.findall(r"(\w+)=('?)(\w+)\2", message.split("set ", 1)[1].split(", or chip", maxsplit=1)[0])
    assert found, message
    return {name: value if quote else int(value) for name, quote, value in found}


def test_the_default_format_is_within_published_limits():
    assert (LOIHI2.weight_bits, LOIHI2.graded_spike_bits, LOIHI2.state_bits) == (8, 32, 24)
    assert (LOIHI2.synapse_bytes_per_core, LOIHI2.neurons_per_core, LOIHI2.cores) == (131072, 8192, 128)
    plan = TARGET.lower(flat(5)).plan
    form, chip = plan["format"], plan["chip"]
    assert form["weight_bits"] <= 8 and form["phase_bits"] <= 24 and form["payload_bits"] <= 32
    assert form["synaptic_sum_bits"] == 24
    assert chip["chip"] == "loihi2" and chip["states_in_two_words"] == "none"


@pytest.mark.parametrize(
    ("count", "options", "limit"),
    [
        (4, {"phase_bits": 25}, "a state of a neuron on loihi2 has at most 24 bits"),
        (4, {"phase_bits": 31}, "set phase_bits=24, or chip='none'"),
        (
            4,
            {"payload_bits": 15},
            "could exceed the 24 bits of a state on loihi2; set payload_bits=14 or less",
        ),
        (40, {"payload_bits": 16}, "set payload_bits=10"),
        (258, {"payload_bits": 17, "chip": "none"}, "the 32 bits of Lava's accumulator; set payload_bits=16"),
        (300, {}, "could exceed the 24 bits of a state on loihi2; set weight_bits=7"),
        (300, {"payload_bits": 12}, "set weight_bits=7 and payload_bits=8"),
        (600, {}, "set weight_bits=6"),
    ],
)
def test_what_is_advised_fits_and_nothing_smaller_does(count, options, limit):
    message = refused(flat(count), **options)
    assert limit in message and str(options.get("payload_bits", "")) in message
    advice = advised(message)
    TARGET.lower(flat(count), TARGET.config(**(options | advice)))
    for name, value in advice.items():
        # one bit more is refused again
        with pytest.raises(LoweringError):
            TARGET.lower(flat(count), TARGET.config(**(options | advice | {name: value + 1})))
    if "chip" not in options:
        TARGET.lower(flat(count), TARGET.config(**(options | {"chip": "none"})))


@pytest.mark.parametrize("dynamics", ["network", "clamped"])
def test_fewer_tokens_are_advised_where_no_format_fits(dynamics):
    options = {"weight_bits": 6, "sine_bits": 7, "phase_bits": 20}
    options |= {"held_sources": "synapses"} if dynamics == "clamped" else {}
    small = replace(LOIHI2, state_bits=20)
    count = 90
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(CHIPS, "loihi2", small)
        message = refused(flat(count, dynamics=dynamics, duration=1.0), **options)
        (fits,) = re.findall(r"layers of (\d+) tokens \(the first \1 fit\)", message)
        TARGET.lower(flat(int(fits), dynamics=dynamics, duration=1.0), TARGET.config(**options))
        assert "layers of" in refused(flat(int(fits) + 1, dynamics=dynamics, duration=1.0), **options)


def pair(count: int, heads: int, **changes) -> PhaseLayerSpec:
    return flat(count, heads, **({"dynamics": "pair"} | changes))


@pytest.mark.parametrize(
    ("spec", "fits"),
    [
        (pair(1025, 1), "1050625 cells, 1050625 per head: loihi2 has 128 cores x 8192 neurons = 1048576"),
        (pair(1025, 1), "layers of one head of 1024 tokens"),
        (pair(1448, 1, mask="causal"), "layers of one head of 1447 tokens"),
        (pair(600, 3), "layers of 2 heads"),
    ],
)
def test_more_cells_than_neurons(spec, fits):
    assert fits in refused(spec)
    assert "one process" in refused(spec, chip="none")


@pytest.mark.parametrize("changes", [{}, {"mask": "causal"}, {"dynamics": "clamped", "duration": 1.0}])
@pytest.mark.parametrize(("count", "heads"), [(17, 1), (5, 4), (9, 2)])
def test_split_as_advised_the_cells_fit(changes, count, heads, monkeypatch):
    monkeypatch.setitem(CHIPS, "loihi2", replace(LOIHI2, cores=2, neurons_per_core=20 if heads > 1 else 4))
    spec = pair(count, heads, **changes)
    most = CHIPS["loihi2"].neurons
    if cells_of(spec) <= most:
        assert TARGET.lower(spec).plan["chip"]["neurons"]["used"] == cells_of(spec)
        return
    message = refused(spec)
    heads_fit, tokens_fit = re.findall(r"of (\d+) heads", message), re.findall(r"of (\d+) tokens", message)
    smaller = (
        pair(count, int(heads_fit[0]), **changes) if heads_fit else pair(int(tokens_fit[0]), 1, **changes)
    )
    TARGET.lower(smaller)
    larger = (
        pair(count, int(heads_fit[0]) + 1, **changes)
        if heads_fit
        else pair(int(tokens_fit[0]) + 1, 1, **changes)
    )
    with pytest.raises(LoweringError):
        check_cells(larger, Picked())


def test_too_many_cores_for_a_sparse_list(monkeypatch):
    # 24 rows of 2 x 24 synapses: 21 bits each sparse, 8 bits dense
    monkeypatch.setitem(CHIPS, "loihi2", replace(LOIHI2, cores=2, synapse_bytes_per_core=800))
    spec = flat(24, coupling=ExplicitCoupling(matrix=np.full((1, 24, 24), 0.5)))
    message = refused(spec, synapses="sparse")
    assert "fill 4 cores of 800 bytes and 8192 neurons; loihi2 has 2; set synapses='dense'" in message
    plan = TARGET.lower(spec, TARGET.config(synapses=advised(message)["synapses"])).plan
    assert plan["chip"]["cores"] == {"used": 2, "limit": 2}
    monkeypatch.setitem(CHIPS, "loihi2", replace(LOIHI2, cores=1, synapse_bytes_per_core=800))
    assert "split the layer into 2 layers of fewer heads" in refused(spec)


def test_usage_by_hand():
    # rows of 16, 16, 8 bits on cores of 32 bits
    chip = replace(LOIHI2, synapse_bytes_per_core=4, neurons_per_core=2)
    used = usage(4, np.array([2, 2, 1, 0]), Picked(), chip)
    assert (used.cores, used.synapses, used.synapse_bytes) == (2, 5, 5)
    assert (used.neurons_per_core, used.synapse_bytes_per_core) == (2, 4)
    assert usage(5, np.zeros(0, np.int64), Picked(), chip).cores == 3
    # a sparse synapse also names one of 8192 neurons
    assert usage(1, np.array([3]), Picked(synapses="sparse"), LOIHI2).synapse_bytes == -(-3 * 21 // 8)


def test_a_network_takes_two_d_n_squared_synapses_per_head():
    plan = TARGET.lower(flat(6, heads=2, channels=3, padding=np.arange(6) == 4)).plan
    assert plan["chip"]["synapses"] == 2 * (2 * 3 * 5**2) == plan["chip"]["synapse_bytes"]
    assert plan["chip"]["neurons"]["used"] == 2 * 3 * 5
    sparse = TARGET.lower(flat(6, heads=2, channels=3), TARGET.config(synapses="sparse")).plan
    assert sparse["chip"]["synapses"] == 2 * (2 * 3 * 6 * 5)


def test_held_sources_are_neurons_without_synapses_of_their_own():
    spec = flat(5, channels=2, dynamics="clamped", duration=1.0)
    plan = TARGET.lower(spec, TARGET.config(held_sources="synapses")).plan
    assert plan["chip"]["neurons"]["used"] == 2 * 2 * 5 and plan["chip"]["synapses"] == 2 * 2 * 5**2
    assert plan["read_out"]["row_normalisation"].startswith("off chip")


def test_sums_of_aligned_phases_are_as_wide_as_the_plan_says():
    lowered = TARGET.lower(flat(17)).lowered
    program, form = lowered.program, lowered.number_format.arithmetic
    sums = program.weights @ form.cosine(program.theta)
    states = oscillator_states(program, form)
    assert int(np.abs(sums).max()).bit_length() + 1 == states["cosine_sum"] <= 24
    for name in ("theta", "drift", "gain"):
        assert int(np.abs(getattr(program, name)).max()).bit_length() <= states[name]


def test_no_state_of_a_cell_outgrows_its_bits():
    spec = pair(4, 1, omega=np.array([[[0.0], [0.9], [1.1], [3.0]]]))
    lowered = TARGET.lower(spec).lowered
    program, form = lowered.program, lowered.number_format.arithmetic
    states = cell_states(program, form)
    phase, total = program.phase, form.cosine(program.phase)
    for step in range(int(program.steps.max())):
        after = form.advance(phase, form.sine(phase), program.mismatch, program.coupling)
        phase = np.where(step < program.steps, after, phase)
        total = total + np.where(step < program.steps, form.cosine(phase), 0)
    assert int(np.abs(total).max()).bit_length() < states["cosine_sum"]
    assert int(program.steps.max()).bit_length() < states["last_step"]
    assert int(program.coupling.max()).bit_length() <= states["coupling"]


def test_states_wider_than_a_word_take_two():
    chip = TARGET.lower(pair(3, 1), TARGET.config(max_steps=20000)).plan["chip"]
    assert chip["states_in_two_words"] == "none"
    slow = pair(2, 1, omega=np.array([[[0.0], [1.0 + 1e-4]]]))
    chip = TARGET.lower(slow).plan["chip"]
    assert "cosine_sum" in chip["states_in_two_words"]
    assert chip["state_bytes_per_neuron"]["used"] == 3 * (17 + 6)


@pytest.mark.parametrize("integrator", ["runge_kutta", "euler"])
def test_the_plan_of_cells_counts_as_the_run_does(integrator):
    executable = TARGET.lower(pair(3, 2), TARGET.config(integrator=integrator))
    counted = executable.run().provenance.counters
    assert counted == {name: executable.plan["resources"].get(name, 0) for name in counted}
