"""Noise of a locked network: the Lyapunov equation against 1/lambda, matrix exponentials, Langevin runs."""

import numpy as np
import pytest
from relative import relative
from scipy.linalg import expm

from oscsim import ExplicitCoupling, FrequencyCoupling, PhaseLayerSpec
from oscsim.energy import OscillatorHardware, load_constants
from oscsim.energy.network_response import largest_variance
from oscsim.energy.noise import noise_floor
from oscsim.energy.schedule import schedule
from oscsim.locked_state import jacobian_at, locked_state
from oscsim.pair_terms import coupling, network_matrix

HARDWARE = OscillatorHardware(epsilon=0.01)


def network(count, mask="full", seed=2, **fields):
    rng = np.random.default_rng(seed)
    defaults = {
        "omega": 0.02 * rng.normal(size=(1, count, 1)), "theta": 0.1 * rng.normal(size=(1, count, 1)),
        "gain": [1.0], "coupling": FrequencyCoupling([0.0]), "mask": mask, "dynamics": "network",
    }  # fmt: skip
    return PhaseLayerSpec(**(defaults | fields))


def linearised(spec):
    matrix = network_matrix(spec, coupling(spec))[0]
    state = locked_state(matrix, spec.omega[0, :, 0], spec.mask == "causal")
    assert state is not None
    return jacobian_at(matrix, state.theta)


def test_all_to_all_it_is_one_over_the_slowest_rate():
    spec = network(6, omega=np.zeros((1, 6, 1)))
    plan = schedule(spec, HARDWARE)
    assert plan.noise_rate == relative(plan.slowest_rate) == relative(1.0 / plan.time_unit_s)


@pytest.mark.parametrize(("count", "more"), [(8, 1.44), (32, 1.97)])
def test_causal_networks_are_noisier_than_their_slowest_rate(count, more):
    spec = network(count, "causal")
    plan, jacobian = schedule(spec, HARDWARE), linearised(spec)
    assert plan.slowest_rate / plan.noise_rate == pytest.approx(more, rel=0.05)
    # integral of |e_i - e_j projected through exp(J t)|^2 over time, by the trapezoidal rule
    step = expm(0.05 * jacobian)
    answer, variance = np.eye(count), np.zeros((count, count))
    for k in range(4000):
        difference = ((answer[:, None, :] - answer[None, :, :]) ** 2).sum(axis=2)
        variance += 0.05 * (0.5 if k == 0 else 1.0) * difference
        answer = answer @ step
    assert plan.noise_rate * plan.time_unit_s == relative(1.0 / variance.max(), rel=1e-3)


def test_a_causal_network_with_noise_wanders_as_far_as_said():
    """3000 copies of the non-linear phases, Euler-Maruyama, little noise."""
    spec, copies, dt, diffusion = network(6, "causal"), 3000, 0.1, 1e-4
    matrix, rng = network_matrix(spec, coupling(spec))[0], np.random.default_rng(1)
    theta = np.zeros((copies, 6))
    for _ in range(300):
        pull = (matrix * np.sin(theta[:, :, None] - theta[:, None, :])).sum(axis=2)
        theta = theta + dt * (spec.omega[0, :, 0] - pull)
        theta = theta + np.sqrt(diffusion * dt) * rng.normal(size=theta.shape)
    variance = np.var(theta[:, :, None] - theta[:, None, :], axis=0).max() / diffusion
    assert largest_variance(linearised(spec), ~np.eye(6, dtype=bool)) == pytest.approx(variance, rel=0.1)


def test_a_chain_hands_its_noise_on_but_only_what_is_coupled_is_read():
    count = 16
    matrix = np.zeros((1, count, count))
    matrix[0, np.arange(1, count), np.arange(count - 1)] = float(count)
    spec = network(count, omega=np.zeros((1, count, 1)), coupling=ExplicitCoupling(matrix))
    every = largest_variance(linearised(spec), ~np.eye(count, dtype=bool))
    plan = schedule(spec, HARDWARE)
    assert every == pytest.approx(15.0, rel=0.1)  # of the two ends, lambda = 1
    # neighbours: sum of the squares of how each oscillator's noise arrives at both
    step, answer, variance = expm(0.01 * linearised(spec)), np.eye(count), np.zeros(count - 1)
    for k in range(6000):
        variance += 0.01 * (0.5 if k == 0 else 1.0) * (np.diff(answer, axis=0) ** 2).sum(axis=1)
        answer = answer @ step
    assert plan.noise_rate * plan.time_unit_s == relative(1.0 / variance.max(), rel=2e-3)


def test_the_floor_is_raised_as_much_and_says_what_it_covers():
    book, spec = load_constants(), network(8, "causal")
    plan = schedule(spec, HARDWARE)
    floor = noise_floor(HARDWARE, plan, book)
    fast, slow = schedule(network(8), HARDWARE), noise_floor(HARDWARE, schedule(network(8), HARDWARE), book)
    assert floor.cycle_energy is not None and slow.cycle_energy is not None
    ratio = floor.cycle_energy.value_j / slow.cycle_energy.value_j
    assert ratio == relative(fast.noise_rate / plan.noise_rate)
    assert any("Lyapunov" in note for note in floor.notes)
    assert not any("does not lock" in note for note in floor.notes)
    omega = np.concatenate([0.01 * spec.omega, 9.0 * np.arange(8.0).reshape(1, 8, 1)], axis=2)
    half = network(8, omega=omega, theta=np.zeros((1, 8, 2)))
    notes = noise_floor(HARDWARE, schedule(half, OscillatorHardware(epsilon=1e-3, accuracy=0.05)), book).notes
    assert any("50 % of what is compared does not lock" in note for note in notes)
