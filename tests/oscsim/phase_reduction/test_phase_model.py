"""Networks of phases with a family's own coupling function."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from oscsim.oscillators import Ring
from oscsim.phase_reduction import (
    CouplingFunction,
    PairLaw,
    PhaseModel,
    locked_phases,
    reduce,
    settled_network,
)

OWN = CouplingFunction(np.array([0.2, 0.1 - 0.5j, 0.05j, 0.02 + 0.1j]), -0.4)


def network(size: int, batches: int = 3) -> tuple[PhaseModel, np.ndarray]:
    rng = np.random.default_rng(size)
    kappa = rng.normal(0.0, 1.0 / size, (2, size, size)) * ~np.eye(size, dtype=bool)
    detuning = rng.normal(0.0, 0.3, (batches, size))
    model = PhaseModel(OWN, detuning, kappa, np.arange(batches) % 2)
    return model, rng.uniform(-np.pi, np.pi, (batches, size))


def slow_rates(model: PhaseModel, theta: np.ndarray) -> np.ndarray:
    """The definition, one pair at a time."""
    out = model.detuning.copy()
    for b, which in enumerate(model.matrix):
        for i in range(theta.shape[1]):
            for j in range(theta.shape[1]):
                kappa = model.kappa[which, i, j]
                out[b, i] += (
                    kappa * model.coupling(theta[b, j] - theta[b, i]) + abs(kappa) * model.coupling.shift
                )
    return out


@pytest.mark.parametrize("size", [1, 3, 17])
def test_rates_are_the_definition(size):
    model, theta = network(size)
    np.testing.assert_allclose(model.rates(theta), slow_rates(model, theta), atol=1e-13)


def test_run_is_the_integral():
    model, theta = network(7)
    times = np.array([0.0, 0.3, 5.0, 11.0])
    path = model.run(theta, times, step=0.02)

    def slope(_: float, flat: np.ndarray) -> np.ndarray:
        return model.rates(flat.reshape(theta.shape)).ravel()

    exact = solve_ivp(
        slope, (0.0, 11.0), theta.ravel(), t_eval=times, method="DOP853", rtol=1e-12, atol=1e-12
    )
    np.testing.assert_allclose(path.reshape(4, -1), exact.y.T, atol=1e-6)
    np.testing.assert_allclose(model.run(theta, times), path, atol=1e-3)  # the step it would take itself


def test_order_is_four():
    model, theta = network(5)
    times = np.array([0.0, 2.0])
    coarse, fine, finest = (model.run(theta, times, step=h)[-1] for h in (0.1, 0.05, 0.025))
    ratio = np.abs(coarse - fine).max() / np.abs(fine - finest).max()
    assert np.log2(ratio) == pytest.approx(4.0, abs=0.2)


def test_two_oscillators_are_the_closed_form_of_a_pair():
    coupling = reduce(Ring(stages=3)).coupling
    detuning = np.array([0.1, 0.5, 0.9, 1.3]) * 2.0 * coupling.strength * 0.01
    kappa = 0.01 * (1.0 - np.eye(2))[None]
    model = PhaseModel(coupling, np.outer(detuning, [0.5, -0.5]), kappa, np.zeros(4, np.int64))
    state = settled_network(model, np.zeros((4, 2)), settle=3000.0, window=12_000.0)
    closed = locked_phases(PairLaw(detuning, *np.full((2, 4), 0.01), coupling), np.zeros(4))
    assert (state.at_rest == closed.locked).all() and closed.locked.tolist() == [True, True, True, False]
    np.testing.assert_allclose(state.mean[:, 0, 1].real, closed.mean_cosine, atol=2e-6)
    assert (state.error[:3] == 0.0).all() and 0.0 < state.error[3] < 1e-4


def test_too_short_a_window_is_admitted():
    model = PhaseModel(OWN, np.array([[0.5, 0.499]]), np.zeros((1, 2, 2)), np.zeros(1, np.int64))
    state = settled_network(model, np.zeros((1, 2)), settle=1.0, window=2000.0 * np.pi)
    assert not state.at_rest[0]
    assert state.error[0] == np.inf


def test_nothing_that_moves_is_at_rest():
    still = PhaseModel(OWN, np.zeros((1, 3)), np.zeros((1, 3, 3)), np.zeros(1, np.int64))
    assert settled_network(still, np.ones((1, 3)), 1.0, 1.0).at_rest[0]
