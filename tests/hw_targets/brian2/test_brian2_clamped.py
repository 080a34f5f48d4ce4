"""The clamped circuit against its closed-form flow."""

import math

import numpy as np
import pytest

from hw_targets.registry import get_target
from oscsim import ExplicitCoupling, FrequencyCoupling, PhaseLayerSpec, SyncStatus, compare, solve
from oscsim.target import ConvergenceWarning

TARGET = get_target("brian2")


def clamped(seed, heads=2, count=5, channels=2, **fields):
    rng = np.random.default_rng(seed)
    defaults = {
        "omega": rng.standard_normal((heads, count, channels)),
        "theta": rng.uniform(-3, 3, (heads, count, channels)),
        "phase_0": rng.uniform(-9, 9, (heads, count, channels)),
        "rate": rng.standard_normal((heads, count, channels)),
        "values": rng.standard_normal((heads, count, 2)),
        "coupling": FrequencyCoupling(rng.uniform(0, 0.5, heads)),
        "gain": rng.uniform(0.5, 2, heads),
        "duration": 0.7,
        "dynamics": "clamped",
    }
    return PhaseLayerSpec(**{**defaults, **fields})


def agree(spec, **options):
    result = TARGET.lower(spec, TARGET.config(**options)).run()
    comparison = compare(result, solve(spec))
    assert comparison.conforms, comparison
    return result


@pytest.mark.parametrize("duration", [0.0, 1e-3, 0.4, 3.0, 50.0, 1e9, math.inf])
@pytest.mark.parametrize("mask", ["full", "causal"])
def test_any_duration(duration, mask):
    result = agree(clamped(3, duration=duration, mask=mask))
    assert result.status is SyncStatus.SETTLED and result.times is not None and result.trajectory is not None
    assert np.array_equal(result.trajectory[0], clamped(3).phase_0) and result.times[0] == 0.0
    assert np.array_equal(result.trajectory[-1], result.phase) and len(result.times) <= 64
    if duration <= 3.0:  # some oscillator has not come to rest: everything runs in real time to the end
        assert result.times[-1] == duration


@pytest.mark.parametrize("count", [1, 3, 17])
def test_sizes_and_explicit_coupling(count):
    matrix = np.random.default_rng(count).standard_normal((2, count, count))
    agree(clamped(count, count=count, coupling=ExplicitCoupling(matrix)))


def test_snapshots_lie_on_the_flow():
    spec = clamped(9, duration=2.0)
    result = agree(spec, step=0.05)
    k = len(result.times) // 2
    part = solve(spec.replace(duration=float(result.times[k])))
    assert np.abs(np.exp(1j * result.trajectory[k]) - np.exp(1j * part.phase)).max() < 1e-5


def test_padding_and_undriven_oscillators_stay():
    padding = np.array([False, True, False, False, True])
    spec = clamped(6, padding=padding)
    result = agree(spec)
    assert np.array_equal(result.phase[:, padding], spec.phase_0[:, padding])
    still = agree(spec.replace(gain=[0.0, 1.0], rate=np.where(spec.rate > 0, spec.rate, 0.0)))
    assert np.array_equal(still.phase[0], spec.phase_0[0])
    assert np.array_equal(still.phase[1][spec.rate[1] < 0], spec.phase_0[1][spec.rate[1] < 0])


def test_negative_rate_ends_opposite_to_the_drive():
    ahead, away = (clamped(7, rate=np.full((2, 5, 2), r), duration=math.inf) for r in (1.0, -1.0))
    turned = agree(ahead).phase - agree(away).phase
    assert np.allclose(np.exp(1j * turned), -1.0, atol=1e-6)


def test_start_on_the_unstable_point_is_said():
    spec = clamped(1, heads=1, count=1, phase_0=None, rate=-np.ones((1, 1, 2)), duration=math.inf)
    result = TARGET.lower(spec.replace(theta=np.zeros((1, 1, 2)))).run()
    assert any("unstable" in note for note in result.provenance.notes)
    assert np.array_equal(result.phase, np.zeros((1, 1, 2)))


def test_start_next_to_the_unstable_point_takes_longer_and_still_rests():
    spec = clamped(1, heads=1, count=1, rate=None, duration=math.inf, theta=np.zeros((1, 1, 2)))
    near = spec.replace(phase_0=np.array([[[math.pi - 1e-5, 1.0]]]))
    result = agree(near)
    assert abs(result.phase[0, 0, 0]) < 1e-6
    with pytest.warns(ConvergenceWarning, match="max_duration"):
        wild = spec.replace(phase_0=np.array([[[math.pi - 1e-13, 1.0]]]))
        assert TARGET.lower(wild, TARGET.config(max_duration=40.0)).run().status is SyncStatus.NOT_CONVERGED


@pytest.mark.parametrize("samples", [0, 2, 7])
def test_number_of_snapshots(samples):
    result = TARGET.lower(clamped(2), TARGET.config(trajectory_samples=samples)).run()
    if samples == 0:
        assert result.trajectory is None and result.times is None
    else:
        assert 2 <= len(result.times) <= samples and result.trajectory.shape[1:] == (2, 5, 2)
