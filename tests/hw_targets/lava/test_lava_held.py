"""Clamped layers whose held sources are oscillators that send spikes through synapses."""

import numpy as np
import pytest

from hw_targets import get_target
from hw_targets.lava.program import NETWORK_ROWS
from hw_targets.lava.trace import traced_network
from oscsim import ExplicitCoupling, PhaseLayerSpec, SyncStatus, compare, solve
from oscsim.errors import LoweringError
from oscsim.phase import circular_distance
from oscsim.target import ConvergenceWarning

TARGET = get_target("lava")


def layer(count: int = 5, duration: float = np.inf, seed: int = 2, **changes) -> PhaseLayerSpec:
    """Both signs of coupling and of rate, sources many turns away, one token that stands still."""
    rng = np.random.default_rng(seed)
    shape = (2, count, 2)
    fields = {
        "omega": np.zeros(shape),
        "theta": rng.uniform(-9, 9, shape),
        "coupling": ExplicitCoupling(matrix=rng.uniform(-0.4, 1.0, (2, count, count))),
        "gain": [0.7, 1.9],
        "dynamics": "clamped",
        "phase_0": rng.uniform(-9, 9, shape),
        "rate": np.where(np.arange(count) == 1, 0.0, 1.0)[None, :, None] * rng.uniform(-1.5, 1.5, shape),
        "duration": duration,
    }
    return PhaseLayerSpec(**(fields | changes))


def pull(source: float, start: float, duration: float, **changes) -> PhaseLayerSpec:
    """One token that pulls itself: ``phi' = 0.8 sin(source - phi)``."""
    return PhaseLayerSpec(
        omega=[[[0.0]]],
        theta=[[[source]]],
        coupling=ExplicitCoupling(matrix=[[[1.0]]]),
        gain=[0.8],
        dynamics="clamped",
        phase_0=[[[start]]],
        duration=duration,
        **changes,
    )


def lowered(spec: PhaseLayerSpec, **options):
    return TARGET.lower(spec, TARGET.config(held_sources="synapses", **options))


@pytest.mark.parametrize(
    ("spec", "options"),
    [
        (layer(), {}),
        (layer(duration=0.6), {}),
        (layer(duration=0.6, mask="causal"), {"synapses": "sparse", "rounding": "floor"}),
        (layer(3, duration=2.0, padding=np.array([False, True, False])), {"integrator": "euler"}),
        (layer(duration=0.6), {"number_format": "floating_point"}),
        (layer(17, seed=5, duration=1.5), {}),
        (layer(1, duration=0.0), {}),
    ],
    ids=["to rest", "finite", "causal", "padded", "float", "17 tokens", "no time"],
)
def test_agrees_with_the_closed_form(spec, options):
    result = lowered(spec, **options).run()
    comparison = compare(result, solve(spec))
    assert comparison.conforms, comparison
    assert result.status is SyncStatus.SETTLED
    still = np.broadcast_to(spec.rate == 0, spec.theta.shape)
    assert np.array_equal(result.phase[still], spec.phase_0[still])


def test_the_moment_is_the_duration_and_not_a_step_earlier_or_later():
    spec = pull(0.3, 1.7, 2.0)
    result = lowered(spec, number_format="floating_point").run()
    tangent = np.tan(1.4 / 2) * np.exp(-0.8 * 2.0)
    assert result.phase[0, 0, 0] == pytest.approx(0.3 + 2 * np.arctan(tangent), abs=1e-6)
    step = lowered(spec).plan["clock"]["own_clock_step"]
    assert step == pytest.approx(1.6 / lowered(spec).plan["clock"]["steps"], rel=1e-5)
    assert step * np.sin(1.4) / 5 > 1e-2  # a step more or less would show


def test_folded_and_wired_sources_agree():
    spec = layer(duration=0.6)
    wired, folded = lowered(spec).run(), TARGET.lower(spec).run()
    distance = circular_distance(wired.phase, folded.phase).max()
    # folded parameters are not rounded to weights of 8 bits
    assert 1e-5 < distance < 20 * (wired.accuracy.epsilon + folded.accuracy.epsilon)
    assert np.array_equal(wired.locked, folded.locked)


def test_sources_stand_still_and_free_oscillators_reach_nobody():
    low = lowered(layer()).lowered
    row = dict(zip(NETWORK_ROWS, traced_network(low, 41).transpose(1, 0, 2), strict=True))
    free = len(low.held.free)
    assert (row["theta"][:, free:] == low.program.theta[free:]).all()
    assert not row["slope"][:, free:].any()
    assert np.abs(np.diff(row["theta"][:, :free], axis=0)).max() > 0
    assert not low.program.weights[:, :free].any() and not low.program.fan_out[:free].any()
    assert set(np.sign(low.program.gain)) == {-1, 0, 1}  # the gain carries the sign of the rate


def test_counters_by_hand():
    """Two tokens, causal: one source at 0, whose sine is zero and no spike, one elsewhere."""
    spec = PhaseLayerSpec(
        omega=np.zeros((1, 2, 1)),
        theta=[[[0.0], [1.0]]],
        coupling=ExplicitCoupling(matrix=[[[1.0, 0.5], [0.5, 1.0]]]),
        gain=[1.0],
        dynamics="clamped",
        phase_0=[[[0.4], [0.9]]],
        duration=0.3,
        mask="causal",
    )
    for synapses, operations in (("dense", 2 + 2 + 2), ("sparse", 2 + 1 + 1)):
        executable = lowered(spec, synapses=synapses, steps_per_turn=64)
        counters = executable.run().provenance.counters
        # own clock of token 1: 1.5 x 0.3 = 0.45, in steps of 2 pi / 64: 5 steps
        assert executable.plan["clock"]["steps"] == 5
        assert counters["lava_steps"] == 1 + 4 * 5
        assert counters["neuron_updates"] == 4 * 21 and counters["sine_lookups"] == 8 * 21
        assert counters["spikes"] == 3 * 21
        assert counters["synaptic_operations"] == operations * 21
        assert counters["payload_bits"] == 3 * 21 * executable.lowered.config.payload_bits


def test_too_few_steps_are_told():
    spec = layer(3, seed=1)
    with pytest.warns(ConvergenceWarning, match="oscillators had not settled after max_steps=16"):
        result = lowered(spec, max_steps=16).run()
    assert result.status is SyncStatus.NOT_CONVERGED


def test_sources_that_cancel_have_no_say():
    """What remains of weights that cancel is rounding: told in the plan, and no reason to wait."""
    spec = PhaseLayerSpec(
        omega=np.zeros((1, 2, 1)),
        theta=[[[0.0], [np.pi]]],
        coupling=ExplicitCoupling(matrix=[[[1.0, 1.0], [1.0, 0.5]]]),
        gain=[1.0],
        dynamics="clamped",
        phase_0=[[[0.4], [0.9]]],
    )
    executable = lowered(spec)
    assert executable.plan["held"]["cancelling_sources"] == 1
    assert executable.plan["clock"]["steps"] < 1000
    assert executable.run().status is SyncStatus.SETTLED


def test_weights_too_coarse_for_a_layer_are_refused():
    rng = np.random.default_rng(0)
    spec = layer(coupling=ExplicitCoupling(matrix=rng.uniform(0.01, 1.0, (2, 5, 5))), duration=2.0)
    fine, coarse = lowered(spec), lowered(spec, weight_bits=5)
    assert fine.lowered.accuracy.epsilon < 0.5 * coarse.lowered.accuracy.epsilon
    with pytest.raises(
        LoweringError, match="use more weight_bits or parameter_bits, or held_sources='folded'"
    ):
        lowered(spec, weight_bits=3, parameter_bits=4)


def test_a_layer_too_large_names_what_fits():
    shape = (1, 64, 20)
    spec = layer(
        64,
        omega=np.zeros(shape),
        theta=np.zeros(shape),
        phase_0=None,
        rate=None,
        gain=[1.0],
        coupling=ExplicitCoupling(matrix=np.ones((1, 64, 64))),
    )
    with pytest.raises(
        LoweringError, match=r"D = 20 .* 2 D N\^2 = 163840 .* D <= 16 channels or N <= 51 tokens"
    ):
        lowered(spec)


PAIR = {"dynamics": "pair", "phase_0": None, "rate": None, "duration": np.inf}
NETWORK = PAIR | {"dynamics": "network"}


@pytest.mark.parametrize(
    ("changes", "options"),
    [
        (PAIR, {"synapses": "sparse"}),
        (PAIR, {"gain_shift": 3}),
        (PAIR, {"weight_bits": 7}),
        (PAIR, {"held_sources": "synapses"}),
        (PAIR, {"delay_steps": 1, "integrator": "euler"}),
        (NETWORK, {"held_sources": "synapses"}),
        ({}, {"synapses": "sparse"}),
        ({}, {"gain_shift": 3}),
        ({}, {"delay_steps": 1, "integrator": "euler"}),
        ({}, {"delay_steps": 1, "integrator": "euler", "held_sources": "synapses"}),
    ],
)
def test_options_without_an_effect_are_refused(changes, options):
    option = next(iter(options))
    with pytest.raises(LoweringError, match=f"{option}: given .*; leave it at"):
        TARGET.lower(layer(3, **changes), TARGET.config(**options))
