"""The phase response against what it predicts: the shift that a kick leaves behind."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from oscsim.oscillators import LC, Relaxation, Ring, StuartLandau, UserOscillator
from oscsim.phase_reduction import Reduction, reduce
from oscsim.phase_reduction.coupling_function import coupling_function


def nerve(x: np.ndarray) -> np.ndarray:
    """FitzHugh's model [FITZHUGH]."""
    return np.stack([x[0] - x[0] ** 3 / 3.0 - x[1] + 0.5, 0.08 * (x[0] + 0.7 - 0.8 * x[1])])


OSCILLATORS = [
    LC(mu=0.3),
    Ring(stages=3),
    Ring(stages=5),
    Relaxation(comparator_gain=40.0, comparator_time=0.02),
    StuartLandau(mu=0.5, shear=0.7),
    UserOscillator(nerve, (0.0, 0.0), 40.0, centre=(-0.8, -0.1)),
]  # fmt: skip


def kicked(reduction: Reduction, at: np.ndarray, size: float) -> np.ndarray:
    """(kicks, dimension) asymptotic phase shift per unit of each variable, kicked by +-size at samples."""
    cycle, oscillator = reduction.cycle, reduction.oscillator
    n, states = oscillator.dimension, cycle.states[at]
    kick = size * np.eye(n)
    x = np.stack([states[:, None, :] + sign * kick for sign in (1.0, -1.0)])  # (2, kicks, variable, n)
    turns = int(np.ceil(23.0 / (2.0 * np.pi * reduction.contraction))) + 1  # amplitudes fade to 1e-10

    def flow(_: float, flat: np.ndarray) -> np.ndarray:
        return oscillator.flow(flat.reshape(n, -1)).ravel()

    run = solve_ivp(
        flow, (0.0, turns * cycle.period), x.reshape(-1, n).T.ravel(), method="DOP853", rtol=1e-10, atol=1e-12
    )
    ahead, behind = run.y[:, -1].reshape(n, -1).T.reshape(x.shape)
    # after whole turns both are on the cycle again, a little ahead of and behind the state that was kicked
    along = oscillator.flow(states.T).T
    moved = np.einsum("kvi,ki->kv", ahead - behind, along) / np.square(along).sum(axis=1)[:, None]
    return cycle.frequency * moved / (2.0 * size)


@pytest.mark.parametrize("oscillator", OSCILLATORS, ids=lambda o: f"{o.name}-{o.dimension}")
def test_response_is_the_shift_that_a_kick_leaves(oscillator):
    reduction = reduce(oscillator)
    at = np.arange(37, 1024, 128)
    response = reduction.cycle.response[at]
    # central difference: the error of a kick of size s is of order s^2
    error = np.abs(kicked(reduction, at, 3e-5) - response).max(axis=0)
    assert (error <= 1e-4 * np.abs(reduction.cycle.response).max(axis=0)).all(), error


@pytest.mark.parametrize("oscillator", OSCILLATORS, ids=lambda o: f"{o.name}-{o.dimension}")
def test_response_along_the_flow_is_the_frequency(oscillator):
    cycle = reduce(oscillator).cycle
    along = (cycle.response * oscillator.flow(cycle.states.T).T).sum(axis=1)
    # normalised in one place only: it is the adjoint equation that keeps it everywhere
    np.testing.assert_allclose(along, cycle.frequency, rtol=1e-9)


def test_coupling_function_is_the_average_of_response_times_signal():
    rng = np.random.default_rng(5)
    phase = 2.0 * np.pi * np.arange(256) / 256
    waves = [sum(rng.normal() * np.cos(n * phase + rng.normal(0, 2)) for n in range(9)) for _ in range(6)]
    response, signal, load = (np.stack(waves[k : k + 2], axis=1) for k in (0, 2, 4))
    q = coupling_function(response, signal, load)
    for shift in (0, 1, 40, 200):
        average = (response * np.roll(signal, -shift, axis=0)).sum(axis=1).mean()
        assert q(2.0 * np.pi * shift / 256) == pytest.approx(average, abs=1e-12)
    assert q.shift == pytest.approx(-(response * load).sum(axis=1).mean(), abs=1e-14)
    x = np.linspace(0, 6, 11)
    np.testing.assert_allclose(q.odd(x), 0.5 * (q(x) - q(-x)), atol=1e-12)
    np.testing.assert_allclose(q.slope(x), (q(x + 1e-5) - q(x - 1e-5)) / 2e-5, atol=1e-7)


@pytest.mark.parametrize("oscillator", OSCILLATORS, ids=lambda o: f"{o.name}-{o.dimension}")
def test_states_and_phases_are_inverse(oscillator):
    reduction = reduce(oscillator)
    phase = np.random.default_rng(2).uniform(0.0, 2.0 * np.pi, (3, 17))
    state = reduction.state(phase)
    assert state.shape == (oscillator.dimension, 3, 17)
    tolerance = 1e-4 if oscillator.name in ("relaxation", "own") else 1e-6
    back = reduction.phase(state)
    assert np.abs(np.angle(np.exp(1j * (back - phase)))).max() < tolerance
