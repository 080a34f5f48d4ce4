"""The locked state of a network: found, stable, unique up to rotation; its condition number is honest."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oscsim.locked_state import locked_state


def _network(seed, count=6, spread=0.15):
    rng = np.random.default_rng(seed)
    matrix = rng.uniform(0.5, 1.0, (count, count)) / count
    return matrix, spread * rng.standard_normal(count)


def _rates(matrix, omega, theta):
    return omega + (matrix * np.sin(theta[None, :] - theta[:, None])).sum(axis=1)


@given(st.integers(0, 2**20), st.booleans())
def test_all_rotate_at_one_frequency(seed, causal):
    matrix, omega = _network(seed)
    matrix = np.tril(matrix) if causal else matrix
    state = locked_state(matrix, omega, causal)
    if state is None:
        return
    assert np.abs(_rates(matrix, omega, state.theta) - state.frequency).max() < 1e-12


def test_most_narrow_networks_have_one():
    found = [locked_state(*_network(seed), causal=False) is not None for seed in range(50)]
    assert sum(found) >= 48


@pytest.mark.parametrize("causal", [False, True])
def test_condition_bounds_the_response(causal):
    matrix, omega = _network(3, spread=0.02)
    matrix = np.tril(matrix) if causal else matrix
    state, rng, epsilon = locked_state(matrix, omega, causal), np.random.default_rng(0), 1e-7
    for _ in range(20):
        noisy = locked_state(
            matrix * (1 + epsilon * rng.choice([-1, 1], matrix.shape)),
            omega + epsilon * (omega - state.frequency) * rng.choice([-1, 1], omega.shape),
            causal,
        )
        moved = noisy.theta - state.theta
        assert (np.abs(moved - moved.mean()) <= epsilon * state.condition * 1.01 + 1e-12).all()


def test_a_common_offset_changes_only_the_frequency():
    matrix, omega = _network(1)
    here, there = locked_state(matrix, omega, False), locked_state(matrix, omega + 2.0**20, False)
    assert np.abs(here.theta - there.theta).max() < 1e-8
    assert there.frequency - here.frequency == pytest.approx(2.0**20, abs=1e-8)


def test_states_that_do_not_exist_or_do_not_hold():
    matrix, omega = _network(1)
    assert locked_state(matrix, 100 * omega, False) is None
    assert locked_state(-matrix, omega, False) is None  # repulsive: the solution near 0 is unstable
    assert locked_state(np.zeros_like(matrix), omega, False) is None
    split = np.kron(np.eye(2), np.ones((3, 3))) / 6  # two groups that do not see each other
    assert locked_state(split, np.zeros(6), False) is None


def test_one_oscillator_is_locked_to_itself():
    state = locked_state(np.array([[0.7]]), np.array([2.0]), False)
    assert state.theta.tolist() == [0.0] and state.frequency == 2.0
