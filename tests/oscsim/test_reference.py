"""solve and integrate check each other: neither knows the other's method."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from layers import layer

from oscsim import (
    EmpiricalOrder,
    ExplicitCoupling,
    FixedOrder,
    FrequencyCoupling,
    SyncStatus,
    compare,
    integrate,
    solve,
)

seeds = st.integers(0, 2**20)
masks = st.sampled_from(["full", "causal"])


def agree(spec):
    comparison = compare(integrate(spec), solve(spec))
    assert comparison.conforms, comparison


@given(seeds, masks, st.integers(1, 5), st.integers(1, 3), st.booleans())
def test_pair_closed_form_is_the_settled_ode(seed, mask, count, channels, fixed):
    order = FixedOrder(r=[0.7, 0.9]) if fixed else EmpiricalOrder()
    agree(layer(count=count, channels=channels, seed=seed, mask=mask, order_parameter=order))


@given(seeds, masks, st.floats(0, 4), st.booleans())
def test_clamped_flow_is_the_integrated_ode(seed, mask, duration, signed):
    rate = np.random.default_rng(seed).standard_normal((2, 5, 2)) if signed else None
    agree(layer(count=5, seed=seed, mask=mask, dynamics="clamped", duration=duration, rate=rate))


@given(seeds, masks)
def test_locked_network_is_where_the_ode_ends(seed, mask):
    spec = layer(count=5, spread=0.1, seed=seed, mask=mask, dynamics="network")
    reference = solve(spec)
    assert reference.status is SyncStatus.SETTLED and reference.locked[:, 1, 0].all()
    agree(spec)


@pytest.mark.parametrize("spread", [0.2, 3.0])
@pytest.mark.parametrize("channels", [1, 2])
@pytest.mark.parametrize("mask", ["full", "causal"])
def test_two_oscillators_are_a_pair_in_both_regimes(spread, channels, mask):
    agree(layer(count=2, channels=channels, spread=spread, mask=mask, seed=4, dynamics="network"))


def test_two_oscillators_on_one_channel_are_the_pair_law_with_r_one():
    for spread in (0.3, 2.0):
        spec = layer(count=2, channels=1, spread=spread, order_parameter=FixedOrder(r=[1.0, 1.0]), seed=3)
        pair, network = solve(spec), solve(spec.replace(dynamics="network"))
        assert np.abs(pair.sync - network.sync).max() < 1e-12
        assert np.array_equal(pair.locked, network.locked)


def test_explicit_asymmetric_coupling_of_either_sign():
    matrix = np.random.default_rng(5).standard_normal((2, 6, 6))
    spec = layer(coupling=ExplicitCoupling(matrix=matrix), spread=0.4)
    agree(spec)
    agree(spec.replace(dynamics="clamped", duration=0.4))
    assert not np.allclose(solve(spec).sync, solve(spec).sync.swapaxes(1, 2))


def test_a_network_that_cannot_lock_says_so():
    spec = layer(count=5, spread=4.0, dynamics="network", seed=1)
    reference = solve(spec)
    assert reference.status is SyncStatus.NO_LOCKED_STATE and not reference.conditioning.exact
    comparison = compare(integrate(spec), reference)
    assert comparison.conforms is None and comparison.status == "finding" and comparison.mean_abs_error > 0


@pytest.mark.parametrize("dynamics", ["pair", "clamped", "network"])
def test_two_pi_periodicity(dynamics):
    spec = layer(spread=0.1, dynamics=dynamics, duration=0.7)
    turns = 2 * np.pi * np.random.default_rng(0).integers(-3, 4, spec.theta.shape)
    shifted = spec.replace(theta=spec.theta + turns)
    assert np.abs(solve(spec).sync - solve(shifted).sync).max() < 1e-12


@pytest.mark.parametrize("dynamics", ["pair", "clamped", "network"])
def test_permuting_tokens_permutes_the_answer(dynamics):
    spec = layer(spread=0.15, dynamics=dynamics, duration=0.7)
    order = np.array([3, 0, 5, 1, 4, 2])
    moved = spec.replace(omega=spec.omega[:, order], theta=spec.theta[:, order], values=spec.values[:, order])
    there, here = solve(moved), solve(spec)
    assert np.abs(there.sync - here.sync[:, order][:, :, order]).max() < 1e-11
    assert np.abs(there.output - here.output[:, order]).max() < 1e-11


@given(st.floats(1e-6, 1e6))
def test_scaling_time_changes_nothing(scale):
    for dynamics in ("pair", "clamped", "network"):
        spec = layer(spread=0.15, dynamics=dynamics, duration=0.7)
        faster = spec.replace(
            omega=spec.omega * scale,
            gain=spec.gain * scale,
            coupling=FrequencyCoupling(alpha=spec.coupling.alpha / scale**2),
            duration=0.7 / scale,
        )
        here, there = solve(spec), solve(faster)
        assert np.abs(here.sync - there.sync).max() < 1e-10
        assert np.abs(here.conditioning.condition / there.conditioning.condition - 1).max() < 1e-6


def test_identical_oscillators_share_evenly():
    spec = layer(omega=np.ones((2, 6, 2)))
    result = solve(spec)
    assert np.array_equal(result.sync, np.ones((2, 6, 6))) and np.allclose(result.weights, 1 / 6, atol=1e-15)
    agree(spec)


def test_without_coupling_only_identical_oscillators_lock():
    omega = np.array([0.0, 0.0, 1.0, 1e-300, 2.0, 2.0])[None, :, None]
    spec = layer(heads=1, channels=1, omega=omega, gain=[0.0], coupling=FrequencyCoupling(alpha=[0.0]))
    same = omega[0, :, 0][:, None] == omega[0, :, 0][None, :]
    result = solve(spec)
    assert np.array_equal(result.locked[0], same) and np.array_equal(result.sync[0], same.astype(float))
    agree(spec)


def test_causal_rows_do_not_see_later_tokens():
    """Bit for bit, in every dynamics that has rows."""
    for dynamics in ("pair", "clamped", "network"):
        spec = layer(spread=0.1, mask="causal", dynamics=dynamics, duration=0.5)
        omega, theta, values = spec.omega.copy(), spec.theta.copy(), spec.values.copy()
        omega[:, 5], theta[:, 5], values[:, 5] = 0.05, 1.0, 9.0
        other = solve(spec.replace(omega=omega, theta=theta, values=values))
        for name in ("sync", "weights", "output", "order_parameter"):
            assert np.array_equal(getattr(solve(spec), name)[:, :5], getattr(other, name)[:, :5])


def test_padding_is_as_if_the_token_were_not_there():
    padding = np.array([False, True, False, False, True, False])
    keep = np.flatnonzero(~padding)
    for dynamics in ("pair", "clamped", "network"):
        for mask in ("full", "causal"):
            spec = layer(spread=0.1, padding=padding, dynamics=dynamics, duration=0.5, mask=mask)
            cut = spec.replace(
                omega=spec.omega[:, keep],
                theta=spec.theta[:, keep],
                values=spec.values[:, keep],
                padding=None,
            )
            whole, small = solve(spec), solve(cut)
            assert np.abs(whole.sync[:, keep][:, :, keep] - small.sync).max() < 1e-12
            assert not whole.sync[:, padding].any() and not whole.weights[:, :, padding].any()
            assert np.abs(whole.output[:, keep] - small.output).max() < 1e-12


def test_rows_without_anything_to_attend_to_are_flagged():
    matrix = np.zeros((1, 3, 3))
    matrix[0, 1, 0] = 1.0
    spec = layer(heads=1, count=3, gain=[1.0], coupling=ExplicitCoupling(matrix=matrix), spread=0.1)
    result = solve(spec)
    assert result.zero_rows.tolist() == [[True, False, True]] and not result.weights[0, 0].any()


@pytest.mark.parametrize("dynamics", ["pair", "clamped", "network"])
def test_padded_tokens_leave_no_trace(dynamics):
    padding = np.array([False, True, False, False, True, False])
    spec = layer(spread=0.1, padding=padding, dynamics=dynamics, duration=0.5)
    omega, theta = spec.omega.copy(), spec.theta.copy()
    omega[:, padding], theta[:, padding] = 50.0, -2.0
    other = solve(spec.replace(omega=omega, theta=theta))
    assert np.array_equal(solve(spec).sync, other.sync)


def test_not_converged_is_said():
    spec = layer(heads=1, count=2, channels=1, omega=[[[0.0], [0.9999]]], gain=[1.0],
                 coupling=FrequencyCoupling(alpha=[0.0]), order_parameter=FixedOrder(r=[1.0]))  # fmt: skip
    result = integrate(spec, max_duration=20.0)
    assert result.status is SyncStatus.NOT_CONVERGED
    assert compare(result, solve(spec)).status == "not_settled"
