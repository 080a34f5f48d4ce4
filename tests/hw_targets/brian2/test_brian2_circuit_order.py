"""Brian2 integrates the very equations of the circuit, to fourth order, with and without a delay."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from hw_targets.brian2.circuits.config import CircuitConfig
from hw_targets.brian2.circuits.lowering import lower
from hw_targets.brian2.circuits.simulation import Simulation
from hw_targets.brian2.run import numpy_codegen
from oscsim import ExplicitCoupling, PhaseLayerSpec

CARRIER = 1e9
RNG = np.random.default_rng(4)
WEIGHTS = RNG.uniform(0.2, 1.0, (2, 3, 3))
SPEC = PhaseLayerSpec(
    omega=RNG.standard_normal((2, 3, 2)),
    theta=RNG.uniform(-2, 2, (2, 3, 2)),
    coupling=ExplicitCoupling(WEIGHTS + WEIGHTS.transpose(0, 2, 1)),
    gain=[1.0, 0.8],
    dynamics="network",
    time_unit_s=1 / (2 * np.pi * CARRIER * 0.02),
    carrier_hz=CARRIER,
)
FAMILIES = {
    "lc": ({"family": "lc", "mu": 0.3}, (24, 48)),
    "ring": ({"family": "ring"}, (96, 192)),
    "ring_resistor": ({"family": "ring", "stages": 5, "coupler": "resistor"}, (192, 384)),
    # a comparator soft enough for the fourth order to set in early
    "relaxation": (
        {"family": "relaxation", "comparator_gain": 8.0, "comparator_time": 0.2, "discharge": 2.0},
        (192, 384),
    ),
    "stuart_landau": ({"family": "stuart_landau", "shear": 0.4}, (16, 32)),
}
DELAY = 0.15 / CARRIER


def end_state(options, steps, cycles):
    """State in the frame of the simulation after whole carrier cycles."""
    config = CircuitConfig(**options, steps_per_cycle=steps)
    lowering = lower(SPEC, config)
    with numpy_codegen():
        simulation = Simulation(lowering, lowering.classes[0].batches, 10**6)
        simulation.run((lowering.ticks.blocks(cycles),), lambda last: True)
    assert abs(simulation.cycles - cycles) < 1e-9
    return lowering, simulation.state()


def exact(lowering, cycles):
    circuit = lowering.circuit
    start = circuit.start
    run = solve_ivp(
        lambda _, x: circuit.flow(x.reshape(start.shape)).ravel(),
        (0.0, cycles * circuit.reduction.cycle.period),
        start.ravel(),
        method="DOP853",
        rtol=1e-12,
        atol=1e-13,
    )
    return run.y[:, -1].reshape(start.shape)[: circuit.oscillator.dimension]


@pytest.mark.parametrize("delay", [0.0, DELAY])
@pytest.mark.parametrize("family", FAMILIES)
def test_fourth_order_against_the_plain_definition(family, delay):
    options, steps = FAMILIES[family]
    options = options | ({"coupling_delay_s": delay} if delay else {})
    cycles = 2.0
    lowering = lower(SPEC, CircuitConfig(**options))
    # the frame of stuart_landau turns with the carrier: after whole cycles it is where it began
    end = exact(lowering, cycles)
    errors = [np.abs(end_state(options, count, cycles)[1] - end).max() for count in steps]
    assert abs(np.log2(errors[0] / errors[1]) - 4.0) <= 0.2, errors
    assert errors[1] < 1e-4


@pytest.mark.parametrize("family", ["lc", "ring", "relaxation", "stuart_landau"])
def test_every_deviation_of_a_chip_is_simulated(family):
    options, steps = FAMILIES[family]
    chip = {"device_mismatch": 0.05, "coupling_mismatch": 0.1, "frequency_mismatch": 0.002}
    chip |= {"coupling_bits": 4, "parasitic_ratio": 1e-4, "missing_couplers": 0.2}
    chip |= {"mismatch_seed": 2, "missing_seed": 1}
    lowering, state = end_state(options | chip, 2 * steps[1], 1.0)
    assert np.abs(state - exact(lowering, 1.0)).max() < 1e-5
    assert lowering.circuit.drive is not None
    _, perfect = end_state(options, 2 * steps[1], 1.0)
    assert np.abs(state - perfect).max() > 1e-3
