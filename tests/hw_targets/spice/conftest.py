"""Layers of one strength and detuning, and the same circuit integrated without ngspice."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from hw_targets import get_target
from hw_targets.spice.process import version
from oscsim import ExplicitCoupling, FixedOrder, PhaseLayerSpec

STRENGTH = 0.03  # of the carrier


@pytest.fixture
def target():
    """Target spice; a test that needs ngspice fails without it, and says what installs it."""
    chosen = get_target("spice")
    if version() is None:
        pytest.fail(f"ngspice is not installed. Install it with: {chosen.install_command}")
    return chosen


@pytest.fixture
def pair():
    """A layer of two tokens that pull each other with STRENGTH at the carrier of 1 GHz."""

    def layer(rho=0.8, j=1.0, strength=STRENGTH, **changes):
        k = 2.0 * np.pi * strength
        fields = {
            "omega": [[[0.0], [rho * k * abs(j)]]],
            "theta": np.zeros((1, 2, 1)),
            "coupling": ExplicitCoupling(matrix=[[[1.0, j], [j, 1.0]]]),
            "gain": [k],
            "order_parameter": FixedOrder(r=[1.0]),
        }
        return PhaseLayerSpec(**(fields | changes))

    return layer


@pytest.fixture
def network():
    """A locked network of N tokens; negative couplings and a causal mask where wanted."""

    def layer(count, negative=False, seed=0, **changes):
        rng = np.random.default_rng(seed)
        k = 2.0 * np.pi * STRENGTH
        j = rng.uniform(0.5, 1.0, (count, count))
        if negative:
            j *= rng.choice([-1.0, 1.0], (count, count))
        fields = {
            "omega": 0.25 * k * rng.uniform(-1.0, 1.0, (1, count, 1)),
            "theta": rng.uniform(-0.5, 0.5, (1, count, 1)),
            "coupling": ExplicitCoupling(matrix=0.5 * (j + j.T)[None]),
            "gain": [k],
            "dynamics": "network",
        }
        return PhaseLayerSpec(**(fields | changes))

    return layer


@pytest.fixture
def own():
    """Phases (n,) of one batch around a carrier cycle, averaged over it: DOP853 on Circuit.flow."""

    def phases(lowered, batch, cycle, rtol=1e-9):
        circuit = lowered.circuit
        shape, dimension = circuit.start.shape, circuit.oscillator.dimension
        seconds = (cycle + np.linspace(-0.5, 0.5, 65)[:-1] + 1 / 128) / lowered.carrier_hz
        run = solve_ivp(
            lambda _, x: circuit.flow(x.reshape(shape)).ravel(), (0.0, seconds[-1] / circuit.natural_s),
            circuit.start.ravel(), method="DOP853", rtol=rtol, atol=1e-10, t_eval=seconds / circuit.natural_s,
        )  # fmt: skip
        x = run.y.reshape(*shape, -1)[:dimension, batch]
        turned = 2.0 * np.pi * seconds * lowered.carrier_hz
        return np.unwrap(circuit.reduction.phase(x) - turned, axis=-1).mean(axis=-1)

    return phases
