"""The generalised closed form of whole layers, against exact answers and against the circuit itself."""

import numpy as np
import pytest

from oscsim import ExplicitCoupling, FixedOrder, FrequencyCoupling, PhaseLayerSpec, solve
from oscsim.circuits import CircuitDesign, lower_circuit
from oscsim.convergence import own_law
from oscsim.convergence.layers import network_layer, pair_layer
from oscsim.convergence.order import fit_order
from oscsim.convergence.own_law import own_answer


def _own(layer: PhaseLayerSpec, **options):
    return own_answer(layer, lower_circuit(layer, CircuitDesign(**options)))


def _random_layer(**fields) -> PhaseLayerSpec:
    rng = np.random.default_rng(5)
    given = {
        "omega": rng.normal(0, 0.4, (2, 7, 2)),
        "theta": rng.uniform(-1, 1, (2, 7, 2)),
        "coupling": FrequencyCoupling(alpha=[0.3, 0.6]),
        "gain": [1.0, 0.7],
        "order_parameter": FixedOrder(r=[0.9, 0.8]),
        "time_unit_s": 20e-9,
    }
    return PhaseLayerSpec(**{**given, **fields})


@pytest.mark.parametrize("mask", ["full", "causal"])
def test_a_sinusoidal_family_has_the_closed_form_as_its_own_law(mask: str) -> None:
    layer = _random_layer(mask=mask, padding=np.arange(7) == 5)
    own, closed = _own(layer, family="stuart_landau"), solve(layer)
    assert np.abs(own.sync - closed.sync).max() < 1e-11
    assert (own.locked == closed.locked).all()


def test_negative_couplings_lock_in_antiphase_with_the_magnitude_of_the_closed_form() -> None:
    matrix = -np.abs(np.random.default_rng(1).uniform(0.5, 1.0, (1, 4, 4)))
    layer = _random_layer(
        omega=np.array([0.0, 0.2, 0.3, 0.6]).reshape(1, 4, 1), theta=np.zeros((1, 4, 1)),
        coupling=ExplicitCoupling(matrix=matrix), gain=[1.0], order_parameter=FixedOrder(r=[1.0]),
    )  # fmt: skip
    assert np.abs(_own(layer, family="stuart_landau").sync - solve(layer).sync).max() < 1e-11


def test_a_sinusoidal_network_rests_in_the_exact_locked_state() -> None:
    layer = network_layer(12, 0.35, 0.02, seed=3)
    exact = solve(layer)
    assert exact.conditioning is not None and exact.conditioning.exact
    own = _own(layer, family="stuart_landau")
    assert np.abs(own.sync - exact.sync).max() < 1e-8
    assert own.locked.all()


@pytest.mark.parametrize("duration", [1.5, np.inf])
def test_a_sinusoidal_clamped_layer_follows_the_exact_flow(duration: float) -> None:
    layer = _random_layer(dynamics="clamped", duration=duration, phase_0=np.zeros((2, 7, 2)))
    own = _own(layer, family="stuart_landau", coupler="transconductance")
    assert np.abs(own.sync - solve(layer).sync).max() < 1e-5


def test_slow_driven_oscillators_get_the_time_they_need() -> None:
    rate = np.ones((2, 7, 2))
    rate[0, 3] = 1e-4
    layer = _random_layer(dynamics="clamped", duration=np.inf, phase_0=np.zeros((2, 7, 2)), rate=rate)
    own = _own(layer, family="stuart_landau", coupler="transconductance")
    assert own.settled and np.abs(own.sync - solve(layer).sync).max() < 1e-6


def test_held_sources_that_drift_apart_give_no_answer() -> None:
    layer = _random_layer(dynamics="clamped", duration=np.inf)
    own = _own(layer, family="stuart_landau", coupler="transconductance", frequency_mismatch=1e-3)
    assert not own.settled


@pytest.mark.parametrize(("weak", "settled"), [(0.02, True), (1e-7, False)])
def test_a_network_with_a_weak_row_is_waited_for_or_said_to_be_undecided(
    weak: float, settled: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(own_law, "_DOUBLINGS", 1)  # hopeless cases are given up sooner
    matrix = np.ones((1, 4, 4))
    matrix[0, 3], matrix[0, :, 3] = weak, weak
    layer = _random_layer(
        dynamics="network", coupling=ExplicitCoupling(matrix=matrix), gain=[1.0],
        omega=np.array([0.1, -0.1, 0.0, 0.0]).reshape(1, 4, 1), order_parameter=FixedOrder(r=[1.0]),
        theta=np.array([0, 0, 0, 2.0]).reshape(1, 4, 1),
    )  # fmt: skip
    own = _own(layer, family="stuart_landau")
    assert own.settled is settled
    if settled:
        assert np.abs(own.sync - solve(layer).sync).max() < 1e-6


def _waveform_cosines(layer: PhaseLayerSpec, design: CircuitDesign, cycles: float) -> np.ndarray:
    """<cos psi> of every pair from the circuit's own differential equations, Runge-Kutta in plain numpy."""
    circuit = lower_circuit(layer, design)
    steps = 40
    h = 2 * np.pi / circuit.reduction.cycle.frequency / steps
    x, phasors = circuit.start, []
    last = steps * 20
    total = int(cycles * steps)
    for k in range(total):
        a = circuit.flow(x)
        b = circuit.flow(x + h / 2 * a)
        c = circuit.flow(x + h / 2 * b)
        x = x + h / 6 * (a + 2 * b + 2 * c + circuit.flow(x + h * c))
        if k >= total - last:
            phase = circuit.reduction.phase(x)
            phasors.append(np.exp(1j * (phase[:, 0] - phase[:, 1])))
    mean = np.mean(phasors, axis=0)
    return np.cos(np.angle(mean))[circuit.array.cell[:, 0, 1]]


def test_an_lc_pair_follows_its_own_law_to_first_order_in_the_coupling() -> None:
    ratios, epsilon, errors = (0.3, 0.6, 0.8, 0.9), np.array([0.03, 0.015, 0.0075]), []
    for value in epsilon:
        layer, design = pair_layer(ratios, value), CircuitDesign(mu=0.1)
        own = own_answer(layer, lower_circuit(layer, design)).sync[:, 0, 1]
        errors.append(np.sqrt(np.mean((_waveform_cosines(layer, design, 4.5 / value) - own) ** 2)))
    order = fit_order(epsilon, np.array(errors))
    assert order is not None and 0.75 < order.exponent < 1.25
    assert errors[-1] < 2e-4
