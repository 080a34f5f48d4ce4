"""The batched integrator of the regime map: its order, its averages, its exact answers."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import oscsim
from oscsim.errors import SpecError
from oscsim.locked_state import locked_state
from oscsim.ode import trajectory
from oscsim.regime import Cell, simulate, steady_states
from oscsim.regime.network import SAMPLE_EVERY, advance, networks
from oscsim.tolerance import ORACLE_EPSILON, REGIME_CAP, REGIME_RESIDUAL, REGIME_STEP_ERROR


def _drawn(cell, seeds):
    omega, theta = (np.stack(part) for part in zip(*(cell.draw(seed) for seed in seeds), strict=True))
    coupling = np.exp(-cell.alpha * np.square(omega[:, :, None] - omega[:, None, :]))
    return omega, theta, coupling


@pytest.mark.parametrize("n", [2, 3, 17, 130])
@pytest.mark.parametrize("alpha", [0.0, 1.313])
def test_the_factor_is_the_coupling(n, alpha):
    omega, _, coupling = _drawn(Cell(n, 1.0, 1.3, alpha), range(3))
    factor = networks(omega, coupling, 1.3).factor
    assert factor.shape[2] <= (2 if alpha == 0 else min(n, 25))  # rounding may add one
    assert np.abs(factor @ factor.swapaxes(1, 2) - coupling * (1.3 / n)).max() < 1e-13


def test_fourth_order_against_the_adaptive_oracle():
    cell, seeds = Cell(17, 1.0, 1.313, 1.313), (4, 9, 11)
    omega, theta, coupling = _drawn(cell, seeds)
    setup, steps = networks(omega, coupling, cell.gain), 40
    coarse = advance(setup, theta, steps)[-1]
    fine = advance(dataclasses.replace(setup, step=setup.step / 2), theta, 2 * steps)[-1]
    for place, seed in enumerate(seeds):
        times = np.array([0.0, steps * setup.step[place, 0]])
        exact = trajectory(cell.spec(seed), times)[1, 0, :, 0]
        errors = [np.abs(run[place] - exact).max() for run in (coarse, fine)]
        assert errors[0] <= REGIME_STEP_ERROR * steps * oscsim.tolerance.REGIME_STEP
        assert errors[0] / errors[1] == pytest.approx(16.0, rel=0.2)


def test_samples_begin_with_the_start_and_leave_no_gap():
    omega, theta, coupling = _drawn(Cell(3, 0.5, 1.0, 0.0), range(2))
    setup = networks(omega, coupling, 1.0)
    samples = advance(setup, theta, 3 * SAMPLE_EVERY)
    assert samples.shape == (4, 2, 3) and np.isfinite(samples).all() and (samples[0] == theta).all()
    again = advance(setup, samples[1], 2 * SAMPLE_EVERY)
    assert np.array_equal(again[1:], samples[2:])
    alone = advance(setup[np.array([1])], theta[1:], 3 * SAMPLE_EVERY)
    assert np.abs(alone[:, 0] - samples[:, 1]).max() < 1e-12


@pytest.mark.parametrize(("n", "spread", "gain"), [(3, 0.1, 1.0), (17, 0.1, 1.313), (64, 0.15, 1.313)])
def test_networks_at_rest_are_newtons(n, spread, gain):
    cell = Cell(n, spread, gain, 1.313)
    omega, theta, coupling = _drawn(cell, range(4))
    for w, j, state in zip(omega, coupling, steady_states(omega, theta, coupling, gain), strict=True):
        exact = locked_state(j * (gain / n), w, causal=False)
        assert state.at_rest and not state.change.any()
        away = np.exp(1j * (state.phase - exact.theta))
        distance = np.abs(np.angle(away * away.mean().conj()))
        assert (distance <= ORACLE_EPSILON * exact.condition).all()
        assert state.order == pytest.approx(np.abs(np.exp(1j * exact.theta).mean()), abs=1e-8)


@given(st.integers(0, 10_000), st.floats(0.05, 1.2), st.floats(0.0, 2.0))
@settings(max_examples=15, deadline=None)
def test_two_oscillators_obey_the_pair_law(seed, spread, alpha):
    (run,) = simulate(Cell(2, spread, 1.0, alpha), [seed])
    omega, _ = Cell(2, spread, 1.0, alpha).draw(seed)
    rho = abs(omega[0] - omega[1]) * np.exp(alpha * (omega[0] - omega[1]) ** 2)
    if abs(rho - 1.0) < 0.01:  # too slow for the longest span: the run has to say so, or be right
        assert not run.settled or run.oracle_error <= REGIME_CAP
        return
    assert run.settled and run.oracle_error <= REGIME_RESIDUAL
    assert run.agreement["one"].mean_error == run.oracle_error
    assert run.agreement["one"].lock_agreement == 1.0


def test_drifting_averages_are_those_of_the_oracle():
    cell, seeds = Cell(4, 1.0, 0.8, 0.3), range(4)
    omega, theta, coupling = _drawn(cell, seeds)
    states = steady_states(omega, theta, coupling, cell.gain)
    for seed, j, state in zip(seeds, coupling, states, strict=True):
        exact = oscsim.integrate(cell.spec(seed))
        assert exact.status is oscsim.SyncStatus.DRIFTING and not state.at_rest
        error = np.abs(j * state.mean.real - exact.sync[0])
        assert error.max() <= state.change.max() + exact.accuracy.averaging_error + REGIME_STEP_ERROR


def test_what_has_not_converged_says_so():
    (chaotic,) = simulate(Cell(32, 1.0, 1.313, 1.313), [0], longest_span=64.0)
    assert not chaotic.settled and chaotic.change > REGIME_CAP
    # one slow turn in all: the two halves agree by symmetry or not, an average it is not
    omega = 0.5 * np.array([[1.0, -1.0]]) * (1.0 + 2e-4)
    (state,) = steady_states(omega, np.zeros((1, 2)), np.ones((1, 2, 2)), 1.0, longest_span=512.0)
    assert state.change[0, 1] == 1.0


def test_a_symmetric_layer_keeps_one_diagonal():
    (run,) = simulate(Cell(3, 0.2, 1.313, 0.5), [1])
    for part in run.agreement.values():
        assert 0 <= part.locked_share <= 1 and part.mean_error <= part.max_error <= 2


@pytest.mark.parametrize(
    "matrix", [[[1.0, 0.5], [0.4, 1.0]], [[0.0, 1.0], [1.0, 0.0]], [[1.0, -2.0], [-2.0, 1.0]]]
)
def test_other_couplings_are_refused(matrix):
    with pytest.raises(SpecError, match="positive semidefinite"):
        steady_states(np.array([[0.1, -0.1]]), np.zeros((1, 2)), np.array([matrix]), 1.0)
