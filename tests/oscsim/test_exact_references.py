"""Exact references against each other, and oscsim.integrate against them: rad per condition, 1e-8."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import oscsim
from oscsim import ExplicitCoupling, FrequencyCoupling, PhaseLayerSpec, SyncStatus
from oscsim.basin import Basin, basin
from oscsim.errors import SpecError
from oscsim.kuramoto_order import uniform_locked_state
from oscsim.locked_state import locked_state

PHASE_ERROR = 1e-8  # rad per unit of condition


def _layer(kind, n, seed):
    """Networks that lock: three kinds, frequencies within a fraction of what the gain can hold."""
    rng = np.random.default_rng([seed, n])
    omega, theta = 0.15 * rng.standard_normal((1, n, 1)), rng.uniform(-0.5, 0.5, (1, n, 1))
    matrix = rng.uniform(0.4, 1.0, (1, n, n))
    coupling = ExplicitCoupling(matrix=matrix)
    if kind == "signed":
        # weak links of the other sign: the strong ones hold the state
        matrix[rng.random(matrix.shape) < 0.2] *= -0.3
        coupling = ExplicitCoupling(matrix=matrix)
    if kind == "frequency":
        coupling = FrequencyCoupling(alpha=[1.313])
    mask = "causal" if kind == "causal" else "full"
    if kind == "causal":
        omega *= 0.3  # row 1 hangs on one link
    return PhaseLayerSpec(
        omega=omega, theta=theta, coupling=coupling, gain=[1.313], dynamics="network", mask=mask
    )


@pytest.mark.parametrize("n", [2, 3, 17, 64])
@pytest.mark.parametrize("kind", ["frequency", "causal", "signed"])
def test_integration_ends_in_the_newton_state(kind, n):
    layer = _layer(kind, n, seed=1)
    exact, run = oscsim.solve(layer), oscsim.integrate(layer)
    assert exact.status is SyncStatus.SETTLED and run.status is SyncStatus.SETTLED
    assert exact.conditioning.law == "locked_network"
    away = np.exp(1j * (run.phase - exact.phase))
    distance = np.abs(np.angle(away * away.mean(axis=1, keepdims=True).conj()))
    assert (distance <= PHASE_ERROR * exact.conditioning.phase_condition).all()
    assert np.abs(run.sync - exact.sync).max() <= PHASE_ERROR * exact.conditioning.condition.max()


@given(st.integers(0, 2**20), st.integers(2, 64), st.floats(0.05, 1.2))
@settings(max_examples=60, deadline=None)
def test_the_scalar_equation_and_newton_agree(seed, n, width):
    omega, gain = width * np.random.default_rng(seed).uniform(-1.0, 1.0, n) + 0.3, 1.313
    scalar = uniform_locked_state(omega, gain)
    newton = locked_state(np.full((n, n), gain / n), omega, causal=False)
    if scalar is None or newton is None:
        # they may differ only where the two states of a saddle-node meet
        assert scalar is newton or (newton or _wider(omega, gain)).slowest_rate < 1e-5
        return
    allowed = 1e-12 * max(1.0, newton.condition.max())
    assert abs(np.abs(np.exp(1j * newton.theta).mean()) - scalar.order) <= allowed
    assert abs(newton.frequency - scalar.frequency) <= 1e-12
    away = np.exp(1j * (newton.theta - scalar.theta))
    assert np.abs(np.angle(away * away.mean().conj())).max() <= allowed


def _wider(omega, gain):
    return locked_state(np.full((len(omega),) * 2, gain / len(omega)), (1 - 1e-9) * omega, causal=False)


def test_the_order_parameter_of_well_locked_networks_to_twelve_digits():
    for seed in range(10):
        omega = 0.2 * np.random.default_rng(seed).standard_normal(32)
        newton = locked_state(np.full((32, 32), 1.313 / 32), omega, causal=False)
        r = uniform_locked_state(omega, 1.313).order
        assert abs(np.abs(np.exp(1j * newton.theta).mean()) - r) < 1e-12
        assert abs(r - np.sqrt(1 - np.square((omega - omega.mean()) / (1.313 * r))).mean()) < 1e-14


def test_where_no_uniform_state_can_be():
    assert uniform_locked_state(np.array([0.0, 1.0, -1.0]), 1.0) is None  # as fast as the largest pull
    assert uniform_locked_state(np.array([0.0, 0.9, -0.9]), 1.0) is None
    assert uniform_locked_state(np.full(5, 7.0), 1.0).order == 1.0
    with pytest.raises(SpecError, match="gain"):
        uniform_locked_state(np.zeros(3), 0.0)


def test_eigenvalues_are_those_of_the_flow():
    rng = np.random.default_rng(5)
    matrix, omega = rng.uniform(-0.2, 1.0, (7, 7)) / 7, 0.05 * rng.standard_normal(7)
    state = locked_state(matrix, omega, causal=False)
    assert abs(state.eigenvalues[0]) < 1e-12 and state.slowest_rate == -state.eigenvalues[1].real > 0

    def flow(theta):
        return omega + (matrix * np.sin(theta[None, :] - theta[:, None])).sum(axis=1)

    step = 1e-6 * np.eye(7)
    columns = [(flow(state.theta + e) - flow(state.theta - e)) / 2e-6 for e in step]
    numeric = np.linalg.eigvals(np.array(columns).T)
    assert np.abs(np.sort(numeric.real) - np.sort(state.eigenvalues.real)).max() < 1e-8


def test_the_slowest_rate_is_the_one_that_is_seen():
    layer = _layer("signed", 8, seed=2)
    from oscsim.ode import trajectory
    from oscsim.pair_terms import coupling, network_matrix

    state = locked_state(network_matrix(layer, coupling(layer))[0], layer.omega[0, :, 0], causal=False)
    times = np.array([0.0, 8.0, 12.0]) / state.slowest_rate
    _, early, late = trajectory(layer, times)[:, 0, :, 0]

    def distance(theta):
        away = np.exp(1j * (theta - state.theta))
        return np.abs(np.angle(away * away.mean().conj())).max()

    assert np.log(distance(early) / distance(late)) == pytest.approx(4.0, rel=0.02)


def _layer_of(matrix, omega, theta):
    return PhaseLayerSpec(
        omega=np.reshape(omega, (1, -1, 1)), theta=np.reshape(theta, (1, -1, 1)),
        coupling=ExplicitCoupling(matrix=[matrix]), gain=[float(len(omega))], dynamics="network",
    )  # fmt: skip


_TURN = 2 * np.pi * np.arange(8) / 8
_RING = np.roll(np.eye(8), 1, axis=1) + np.roll(np.eye(8), -1, axis=1)  # two neighbours each


def test_a_ring_at_rest_in_its_twisted_state_has_missed():
    rest, twist = 0.1 * np.sin(_TURN), _TURN + 0.1 * np.sin(_TURN)
    assert basin(_layer_of(0.5 * _RING, np.zeros(8), rest)) is Basin.REACHED
    assert basin(_layer_of(0.5 * _RING, np.zeros(8), twist)) is Basin.MISSED
    assert basin(_layer_of(0.5 * _RING, 3.0 * np.arange(8), rest)) is Basin.NO_STATE


def test_a_network_that_rotates_has_missed():
    """A ninth oscillator driven by the ring: with 8 in phase it locks, by a twisted ring it is not driven."""
    matrix = np.zeros((9, 9))
    matrix[:8, :8], matrix[8, :8] = 0.5 * _RING, 0.1
    omega = np.append(np.zeros(8), 0.5)
    assert basin(_layer_of(matrix, omega, np.zeros(9))) is Basin.REACHED
    assert basin(_layer_of(matrix, omega, np.append(_TURN, 0.0)), max_duration=500.0) is Basin.MISSED


def test_a_network_that_creeps_is_followed_to_its_end():
    """Two that hold each other, and a third on a thread: its rate is 0.002 of the largest."""
    matrix = 1e-3 * np.ones((3, 3)) + np.array([[0, 1, 0], [1, 0, 0], [0, 0, 0]])
    layer = _layer_of(matrix, np.zeros(3), [0.0, 0.5, 2.0])
    assert basin(layer) is Basin.REACHED
    assert basin(layer, max_duration=30.0) is Basin.UNDECIDED


def test_only_networks_have_a_basin():
    with pytest.raises(SpecError, match="dynamics"):
        basin(_layer_of(_RING, np.zeros(8), _TURN).replace(dynamics="pair"))
