"""The integrator keeps its order: fourth, also through the coupling of a network."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from hw_targets.brian2.network_circuit import NetworkRun
from hw_targets.brian2.network_lowering import lower_network
from hw_targets.brian2.pair_circuit import PairClassRun
from hw_targets.brian2.pair_lowering import CellClass, lower_pair
from hw_targets.brian2.run import numpy_codegen
from hw_targets.registry import get_target
from oscsim import FixedOrder, FrequencyCoupling, PhaseLayerSpec

TARGET = get_target("brian2")
STEPS = (32, 64, 128)


def exact(slope, start, duration):
    return solve_ivp(slope, (0.0, duration), start, method="DOP853", rtol=1e-13, atol=1e-13).y[:, -1]


def assert_fourth_order(errors):
    orders = np.log2(np.array(errors[:-1]) / np.array(errors[1:]))
    assert np.all(np.abs(orders - 4.0) <= 0.2), (errors, orders)


@pytest.mark.parametrize("ratio", [0.7, 1.6])
def test_pair_phase_and_mean(ratio):
    spec = PhaseLayerSpec(
        omega=[[[0.0], [ratio]]],
        theta=np.zeros((1, 2, 1)),
        coupling=FrequencyCoupling([0.0]),
        gain=[1.0],
        order_parameter=FixedOrder([1.0]),
        psi_0=np.full((1, 2, 2), 0.5),
    )
    lowering, own = lower_pair(spec, TARGET.config()), 4.0
    fastest = max(1.0, ratio)
    end = exact(
        lambda t, y: [(ratio - np.sin(y[0])) / fastest, np.cos(y[0])],
        [0.5, 0.0],
        own,
    )
    errors = []
    for count in STEPS:
        part = CellClass(0, np.array([1]), own / count, own)
        with numpy_codegen():
            run = PairClassRun(lowering, part)
            run.run(count)
        assert run.steps == count
        psi, area = run.state()
        errors.append(np.hypot(psi[0] - end[0], area[0] - end[1]))
    assert_fourth_order(errors)


def test_clamped_phase():
    rng = np.random.default_rng(2)
    spec = PhaseLayerSpec(
        omega=np.zeros((2, 4, 2)),
        theta=rng.uniform(-2, 2, (2, 4, 2)),
        phase_0=rng.uniform(-2, 2, (2, 4, 2)),
        rate=rng.standard_normal((2, 4, 2)),
        coupling=FrequencyCoupling([0.0, 0.0]),
        gain=[1.0, 0.5],
        duration=1.0,
        dynamics="clamped",
    )
    held = np.exp(1j * spec.theta).sum(axis=1, keepdims=True) * spec.gain[:, None, None]
    start = spec.phase_0.ravel()

    def slope(t, phi):
        return (spec.rate * np.imag(held * np.exp(-1j * phi.reshape(spec.theta.shape)))).ravel()

    end = exact(slope, start, spec.duration)
    longest = float(np.abs(spec.rate * held).max())
    errors = []
    for count in STEPS:
        executable = TARGET.lower(spec, TARGET.config(step=longest / count * (1 + 1e-12)))
        assert executable.plan["clock"]["steps"] == count
        errors.append(np.abs(executable.run().phase.ravel() - end).max())
    assert_fourth_order(errors)


@pytest.mark.parametrize("mask", ["full", "causal"])
def test_network_through_its_coupling(mask):
    rng = np.random.default_rng(3)
    spec = PhaseLayerSpec(
        omega=rng.standard_normal((2, 5, 2)),
        theta=rng.uniform(-1, 1, (2, 5, 2)),
        coupling=FrequencyCoupling([0.1, 0.2]),
        gain=[2.0, 1.0],
        mask=mask,
        dynamics="network",
    )
    lowering, own = lower_network(spec, TARGET.config()), 4.0
    stretched = lowering.scale.stretch(lowering.rate)[:, None]

    def slope(t, theta):
        theta = theta.reshape(spec.theta.shape)
        pull = lowering.matrix[..., None] * np.sin(theta[:, None] - theta[:, :, None])
        return (stretched * (lowering.detuning + pull.sum(axis=2))).ravel()

    end = exact(slope, spec.theta.ravel(), own / lowering.scale.fastest)
    errors = []
    for count in STEPS:
        lowering = lower_network(spec, TARGET.config(step=own / count))
        with numpy_codegen():
            errors.append(np.abs(NetworkRun(lowering).run(count).ravel() - end).max())
    assert_fourth_order(errors)
