"""The network circuit against its exact oracles: two oscillators, and the fully locked state."""

import numpy as np
import pytest

from hw_targets.registry import get_target
from oscsim import ExplicitCoupling, FrequencyCoupling, PhaseLayerSpec, SyncStatus, compare, integrate, solve
from oscsim.beat_average import pair_averages, slowest_beat, window
from oscsim.target import ConvergenceWarning

TARGET = get_target("brian2")


def network(omega, theta, **fields):
    omega, theta = np.asarray(omega, dtype=float), np.asarray(theta, dtype=float)
    heads = len(omega)
    defaults = {"coupling": FrequencyCoupling([0.0] * heads), "gain": [1.0] * heads, "dynamics": "network"}
    return PhaseLayerSpec(omega=omega, theta=theta, **{**defaults, **fields})


def agree(spec, **options):
    result = TARGET.lower(spec, TARGET.config(**options)).run()
    comparison = compare(result, solve(spec))
    assert comparison.conforms, comparison
    return result


@pytest.mark.parametrize("mask, strength", [("full", 1.0), ("causal", 0.5)])
@pytest.mark.parametrize("ratio", [0.0, 0.9, 0.998, 1.004, 1.2, 2.0, 40.0])
def test_two_oscillators(mask, strength, ratio):
    result = agree(network([[[0.0], [ratio * strength]]], [[[0.4], [-1.0]]], mask=mask))
    assert result.status is (SyncStatus.SETTLED if ratio < 1 else SyncStatus.DRIFTING)


def test_two_oscillators_just_outside_the_edge():
    result = agree(network([[[0.0], [1.00006]]], [[[0.0], [0.3]]]), trajectory_samples=0)
    assert result.status is SyncStatus.DRIFTING and not result.locked[0, 0, 1]


def test_two_oscillators_on_several_channels_heads_and_beside_padding():
    omega = [[[0.0, 0.0], [9.0, 9.0], [0.4, 1.9]], [[0.2, 0.1], [9.0, 9.0], [3.0, -1.5]]]
    padding = np.array([False, True, False])
    spec = network(omega, np.zeros((2, 3, 2)), gain=[1.0, 0.7], padding=padding)
    result = agree(spec)
    # one channel locked and one drifting: not locked, and half of S comes from the locked one
    assert not result.locked[0, 0, 2] and result.sync[0, 0, 2] == pytest.approx(
        0.5 * np.sqrt(1 - 0.16), abs=1e-6
    )


@pytest.mark.parametrize("mask", ["full", "causal"])
@pytest.mark.parametrize("count", [1, 3, 17])
def test_locked_networks(mask, count):
    rng = np.random.default_rng(count)
    spec = network(
        0.1 * rng.standard_normal((2, count, 2)),
        rng.uniform(-0.8, 0.8, (2, count, 2)),
        coupling=FrequencyCoupling([0.3, 0.0]),
        gain=[1.0, 3.0],
        mask=mask,
        values=rng.standard_normal((2, count, 2)),
    )
    result = agree(spec)
    assert result.status is SyncStatus.SETTLED


def test_starts_at_the_phases_of_the_spec():
    theta = np.array([[[0.3], [1.2], [7.0]]])
    spec = network([[[0.0], [0.1], [-0.1]]], theta)
    result = agree(spec)
    assert result.trajectory is not None and result.times is not None
    assert np.array_equal(result.trajectory[0], theta) and result.times[0] == 0.0
    assert len(result.times) == len(result.trajectory) <= 64 and np.all(np.diff(result.times) > 0)
    assert np.array_equal(result.trajectory[-1], result.phase)
    bare = agree(spec, trajectory_samples=0)
    assert bare.trajectory is None and bare.times is None


def test_nothing_coupled_drifts_and_nothing_at_all_rests():
    free = network([[[0.0], [1.0]]], [[[0.2], [0.5]]], gain=[0.0])
    assert agree(free).status is SyncStatus.DRIFTING
    same = free.replace(omega=np.ones((1, 2, 1)))
    result = agree(same)
    assert result.status is SyncStatus.SETTLED and result.sync[0, 0, 1] == pytest.approx(np.cos(0.3))


def test_start_on_an_unstable_state_is_said():
    spec = network(np.zeros((1, 2, 1)), [[[0.0], [np.pi]]])
    result = TARGET.lower(spec).run()
    assert result.sync[0, 0, 1] == pytest.approx(-1.0)
    assert any("unstable" in note for note in result.provenance.notes)


def test_repulsive_coupling_settles_in_antiphase():
    spec = network(
        np.zeros((1, 2, 1)),
        [[[0.0], [1.0]]],
        coupling=ExplicitCoupling([[[1.0, -0.5], [-0.5, 1.0]]]),
    )
    result = TARGET.lower(spec).run()
    assert result.status is SyncStatus.SETTLED
    assert result.sync[0, 0, 1] == pytest.approx(0.5) and result.locked.all()


def test_too_short_a_run_says_so_and_a_looser_tolerance_ends_sooner():
    rng = np.random.default_rng(6)
    spec = network(rng.standard_normal((1, 3, 1)), rng.uniform(-0.5, 0.5, (1, 3, 1)))
    with pytest.warns(ConvergenceWarning, match="drift_tolerance"):
        short = TARGET.lower(spec, TARGET.config(max_duration=40.0)).run()
    assert short.status is SyncStatus.NOT_CONVERGED
    loose = TARGET.lower(spec, TARGET.config(drift_tolerance=0.01)).run()
    assert loose.status is SyncStatus.DRIFTING and 1e-6 <= loose.accuracy.averaging_error <= 0.01


def test_window_removes_one_beat_exactly_and_others_quickly():
    samples = np.arange(4000.0)
    for beat in (1500.5, 211.3, 40.0):
        turning = np.stack([np.zeros_like(samples), 2 * np.pi * samples / beat], axis=1)
        assert slowest_beat(turning) == pytest.approx(beat, rel=1e-9)
        mean, change = pair_averages(turning)
        assert abs(mean[0, 1]) < 1e-8 and change < 1e-8 and mean[0, 0] == pytest.approx(1.0)
    assert abs(window(4000, 1500.0) @ np.cos(2 * np.pi * samples / 97.0)) < 1e-8


def test_a_beat_not_seen_often_enough_is_no_answer():
    turning = np.stack([np.zeros(400), np.linspace(0.0, 4 * np.pi, 400)], axis=1)
    assert slowest_beat(turning) is None and pair_averages(turning)[1] == float("inf")


def test_three_drifting_oscillators_agree_with_the_integrated_equations():
    rng = np.random.default_rng(2)
    spec = network(2.0 * rng.standard_normal((1, 3, 1)), rng.uniform(-0.5, 0.5, (1, 3, 1)))
    result, oracle = TARGET.lower(spec).run(), integrate(spec)
    assert result.status is oracle.status is SyncStatus.DRIFTING
    error = result.accuracy.averaging_error + oracle.accuracy.averaging_error
    assert np.abs(result.sync - oracle.sync).max() <= error <= 1e-3
