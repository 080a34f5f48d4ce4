"""The clamped kernels: flow map, read-out, limits of time, rate and drive."""

import math

import numpy as np
import pytest

from oscsim import ExplicitCoupling, FrequencyCoupling, PhaseLayerSpec
from oscsim.phase import circular_distance


def flow(phase_0, drive, rate, duration):
    """Section 3 of the semantics, in float64."""
    x = rate * np.abs(drive) * duration
    u = phase_0 - np.angle(drive)
    return np.angle(drive) + 2.0 * np.arctan2(np.exp(-x) * np.sin(u / 2), np.cos(u / 2))


@pytest.mark.parametrize("mask", ["full", "causal"])
@pytest.mark.parametrize("explicit", [False, True])
@pytest.mark.parametrize(("count", "channels"), [(1, 1), (17, 3), (45, 33)])
def test_masks_padding_and_explicit_coupling_conform(layer, conforms, mask, explicit, count, channels):
    rng = np.random.default_rng(2)
    shape = (2, count, channels)
    fields = {
        "mask": mask,
        "dynamics": "clamped",
        "duration": 1.5 / count,
        "phase_0": rng.uniform(-2.0, 2.0, shape),
        "rate": rng.uniform(-1.0, 1.5, shape),
        "padding": np.arange(count) % 6 == 3,
    }
    if explicit:
        fields["coupling"] = ExplicitCoupling(matrix=rng.uniform(-0.2, 1.0, (2, count, count)))
    comparison = conforms(layer(2, count, channels, **fields))
    assert comparison.max_phase_error < 3e-6


def test_wide_layers_conform(layer, conforms):
    values = np.random.default_rng(4).standard_normal((1, 35, 128))
    conforms(layer(1, 35, 128, dynamics="clamped", duration=0.02, values=values))


def test_phase_is_the_flow_map_for_signed_rates_and_any_time(layer, run):
    rng = np.random.default_rng(7)
    shape = (1, 9, 2)
    phase_0, rate = rng.uniform(-1.0, 1.0, shape), rng.uniform(-2.0, 2.0, shape)
    for duration in (0.01, 0.3, 2.0):
        spec = layer(1, 9, 2, dynamics="clamped", duration=duration, phase_0=phase_0, rate=rate)
        j = np.exp(-0.2 * np.square(spec.omega[0, :, None] - spec.omega[0, None]).sum(axis=2))
        drive = (spec.gain[0] * j) @ np.exp(1j * spec.theta[0])
        expected = flow(phase_0[0], drive, rate[0], duration)
        distance = circular_distance(run(spec).phase[0], expected)
        growth = np.exp(np.abs(rate[0]) * np.abs(drive) * duration)
        assert (distance <= 1e-6 * np.minimum(growth, 100.0)).all()


def test_infinite_time_ends_on_the_stable_point_and_stays_continuous(layer, run):
    rng = np.random.default_rng(8)
    shape = (1, 9, 2)
    phase_0 = rng.uniform(-40.0, 40.0, shape)
    rate = rng.choice([-1.5, 0.0, 1.0], shape)
    spec = layer(1, 9, 2, dynamics="clamped", duration=math.inf, phase_0=phase_0, rate=rate)
    phase = run(spec).phase
    j = np.exp(-0.2 * np.square(spec.omega[0, :, None] - spec.omega[0, None]).sum(axis=2))
    stable = np.angle(j @ np.exp(1j * spec.theta[0])) + np.where(rate[0] < 0, np.pi, 0.0)
    moves = rate[0] != 0
    assert circular_distance(phase[0], stable)[moves].max() < 2e-6
    assert np.array_equal(phase[0][~moves], phase_0[0][~moves])
    assert np.abs(phase - phase_0).max() <= np.pi + 1e-5


def test_zero_time_zero_gain_and_zero_drive_leave_every_phase_exactly(layer, run):
    phase_0 = np.random.default_rng(9).uniform(-9.0, 9.0, (2, 5, 3))
    base = {"dynamics": "clamped", "phase_0": phase_0}
    for change in (
        {"duration": 0.0},
        {"gain": [0.0, 0.0]},
        {"coupling": ExplicitCoupling(matrix=np.zeros((2, 5, 5)))},
    ):
        result = run(layer(2, 5, 3, **base | change))
        assert np.array_equal(result.phase, phase_0)
        assert result.locked.all()


def held_at(source, rate, duration):
    """One oscillator at 0, held source at ``source``, unit drive."""
    return PhaseLayerSpec(
        omega=[[[0.0]]],
        theta=[[[source]]],
        coupling=FrequencyCoupling(alpha=[0.0]),
        gain=[1.0],
        dynamics="clamped",
        phase_0=[[[0.0]]],
        rate=[[[rate]]],
        duration=duration,
    )


@pytest.mark.parametrize("duration", [1.0, 500.0, math.inf])
def test_a_start_exactly_on_the_unstable_point_stays(run, duration):
    result = run(held_at(0.0, -1.0, duration))
    assert result.phase[0, 0, 0] == 0.0
    assert result.sync[0, 0, 0] == pytest.approx(1.0, abs=1e-6)


def test_the_smallest_push_off_the_unstable_point_decides_the_way(run):
    for source in (1e-7, 1e-30, -1e-30):
        result = run(held_at(source, -1.0, math.inf))
        assert result.phase[0, 0, 0] == pytest.approx(-math.copysign(math.pi, source), abs=1e-6)
        assert result.sync[0, 0, 0] == pytest.approx(-1.0, abs=1e-6)


def test_huge_and_tiny_numbers_keep_the_answer(layer, run, conforms):
    base = layer(1, 7, 2, dynamics="clamped", duration=0.2)
    reference = run(base)
    for power in (-90, -30, 30, 60):
        c = 10.0**power
        scaled = base.replace(
            omega=base.omega * c,
            gain=base.gain * c,
            coupling=FrequencyCoupling(alpha=base.coupling.alpha / c**2 if abs(power) < 50 else [0.0]),
            duration=base.duration / c,
        )
        conforms(scaled)
        if abs(power) < 50:
            assert np.allclose(run(scaled).phase, reference.phase, atol=1e-6)


def test_sync_may_be_negative_and_weights_use_its_positive_part(layer, run):
    result = run(
        layer(1, 12, 1, theta=np.linspace(-3, 3, 12)[None, :, None], dynamics="clamped", duration=0.0)
    )
    assert result.sync.min() < -0.5
    positive = np.maximum(result.sync, 0.0)
    assert np.allclose(result.weights, positive / positive.sum(axis=2, keepdims=True))
    assert np.allclose(result.output, result.weights @ layer(1, 12, 1).values, atol=1e-5)


def test_tile_size_does_not_change_the_answer(layer, run):
    spec = layer(1, 50, 3, dynamics="clamped", duration=0.05, mask="causal")
    first, second = run(spec), run(spec, block_m=64, block_n=16)
    assert np.abs(first.phase - second.phase).max() < 1e-6
    assert np.abs(first.sync - second.sync).max() < 1e-6
    assert not np.array_equal(first.phase, np.asarray(spec.theta))
