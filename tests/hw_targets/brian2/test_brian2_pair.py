"""The pair circuit against the closed form, in both regimes and at every kind of edge."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hw_targets.registry import get_target
from oscsim import (
    ExplicitCoupling,
    FixedOrder,
    FrequencyCoupling,
    PhaseLayerSpec,
    SyncStatus,
    compare,
    solve,
)
from oscsim.target import ConvergenceWarning
from oscsim.tolerance import EDGE_BAND, FLOAT64_EPSILON

TARGET = get_target("brian2")


def line(offsets, **fields):
    """One head, one channel, J = 1 and K r = 1: the ratio d/|a| is the difference of two offsets."""
    defaults = {
        "omega": np.array(offsets, dtype=float)[None, :, None],
        "theta": np.zeros((1, len(offsets), 1)),
        "coupling": FrequencyCoupling([0.0]),
        "gain": [1.0],
        "order_parameter": FixedOrder([1.0]),
    }
    return PhaseLayerSpec(**{**defaults, **fields})


def random_layer(rng, heads, count, channels, **fields):
    defaults = {
        "omega": 0.6 * rng.standard_normal((heads, count, channels)),
        "theta": rng.uniform(-0.7, 0.7, (heads, count, channels)),
        "values": rng.standard_normal((heads, count, 3)),
        "coupling": FrequencyCoupling(rng.uniform(0.1, 0.5, heads)),
        "gain": rng.uniform(0.8, 2.0, heads),
    }
    return PhaseLayerSpec(**{**defaults, **fields})


def agree(spec, **options):
    result = TARGET.lower(spec, TARGET.config(**options)).run()
    comparison = compare(result, solve(spec))
    assert comparison.conforms, comparison
    return result


@pytest.mark.parametrize("ratio", [0.0, 0.3, 0.9, 0.999, 0.99994, 1.00006, 1.001, 1.03, 1.12, 1.7, 9.0, 1e5])
def test_both_regimes_up_to_the_edge(ratio):
    result = agree(line([0.0, ratio]))
    assert result.status is SyncStatus.SETTLED
    assert result.accuracy.epsilon == FLOAT64_EPSILON and result.accuracy.band == EDGE_BAND
    assert result.locked[0, 0, 1] == (ratio <= 1.0)


@pytest.mark.parametrize("start", [-3.0, 2.0, 3.1, 1e4])
@pytest.mark.parametrize("ratio", [0.8, 1.3])
def test_any_start_reads_the_same(start, ratio):
    agree(line([0.0, ratio], psi_0=np.full((1, 2, 2), start)))


@pytest.mark.parametrize("count", [1, 3, 17])
@pytest.mark.parametrize("mask", ["full", "causal"])
def test_sizes_masks_heads(count, mask):
    result = agree(random_layer(np.random.default_rng(count), 2, count, 3, mask=mask))
    if mask == "causal":
        assert not result.sync[:, np.triu_indices(count, 1)[0], np.triu_indices(count, 1)[1]].any()


def test_padding_takes_part_in_nothing():
    padding = np.array([False, True, False, True, False])
    spec = random_layer(np.random.default_rng(5), 1, 5, 2, padding=padding, mask="causal")
    result = agree(spec)
    assert not result.sync[:, padding].any() and not result.sync[:, :, padding].any()
    other = spec.replace(omega=np.where(padding[None, :, None], 77.0, spec.omega))
    assert np.array_equal(TARGET.lower(other).run().sync, result.sync)


def test_explicit_asymmetric_coupling_with_negative_entries():
    rng = np.random.default_rng(11)
    matrix = rng.standard_normal((2, 6, 6)) * 2.0
    matrix[:, 2, 4] = 0.0
    result = agree(random_layer(rng, 2, 6, 2, coupling=ExplicitCoupling(matrix)))
    assert (matrix < 0).any() and result.locked[matrix < 0].any()


def test_identical_tokens_and_no_coupling():
    spec = random_layer(np.random.default_rng(3), 1, 5, 2)
    omega = spec.omega.copy()
    omega[:, 2:] = omega[:, :1]
    result = agree(spec.replace(omega=omega, gain=[0.0]))
    assert np.array_equal(result.locked[0], np.equal.outer([0, 1, 0, 0, 0], [0, 1, 0, 0, 0]))
    assert np.array_equal(result.sync[0][result.locked[0]], np.ones(result.locked.sum()))


def test_start_on_the_unstable_point_is_said():
    spec = line([0.0, 0.0, 0.5], psi_0=np.full((1, 3, 3), np.pi))
    result = agree(spec)
    assert any("unstable" in note for note in result.provenance.notes)
    assert not any("unstable" in note for note in agree(line([0.0, 0.5])).provenance.notes)


def test_shorter_runs_declare_a_wider_band():
    inside, outside = line([0.0, 0.95]), line([0.0, 0.8])
    short = TARGET.config(max_duration=40.0)
    result = TARGET.lower(inside, short).run()
    assert result.accuracy.band > 0.05 and result.status is SyncStatus.SETTLED
    assert any("edge band" in note for note in result.provenance.notes) and not result.locked[0, 0, 1]
    # a start next to the unstable point takes longer than a cell outside the band is given
    slow = outside.replace(psi_0=np.full((1, 2, 2), np.pi - np.arcsin(0.8) + 1e-4))
    with pytest.warns(ConvergenceWarning, match="not_converged"):
        assert TARGET.lower(slow, short).run().status is SyncStatus.NOT_CONVERGED
    agree(slow)


@pytest.mark.parametrize("step", [0.05, 0.25, 0.5])
def test_declared_accuracy_follows_the_step(step):
    spec = random_layer(np.random.default_rng(8), 1, 9, 2)
    result = agree(spec, step=step)
    assert result.accuracy.epsilon == pytest.approx(1e-6 * max(1.0, (step / 0.1) ** 4))


def test_results_do_not_depend_on_the_physical_scale():
    spec = random_layer(np.random.default_rng(4), 1, 6, 2)
    slow = spec.replace(time_unit_s=1e-3, carrier_hz=1e6)
    fast, other = TARGET.lower(spec), TARGET.lower(slow)
    ratio = other.plan["classes"]["class_0"]["dt_s"] / fast.plan["classes"]["class_0"]["dt_s"]
    assert ratio == pytest.approx(1e6, rel=1e-8)
    assert np.allclose(fast.run().sync, other.run().sync, rtol=0, atol=1e-9)


@settings(max_examples=5, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), count=st.integers(1, 5), causal=st.booleans())
def test_random_layers_conform(seed, count, causal):
    rng = np.random.default_rng(seed)
    agree(random_layer(rng, 1, count, 2, mask="causal" if causal else "full"))
