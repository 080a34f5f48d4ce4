"""Noise of cells on their way to rest: their variance along the exact flow, and where it ends."""

import numpy as np
import pytest
from relative import relative, variance_by_ode

from oscsim import ExplicitCoupling, FixedOrder, PhaseLayerSpec
from oscsim.energy import OscillatorHardware, load_constants
from oscsim.energy.flow_noise import Flow
from oscsim.energy.noise import noise_floor
from oscsim.energy.noise.locked import LARGEST_CORRECTION, linear_error
from oscsim.energy.report_rows import array_row
from oscsim.energy.schedule import schedule

BOOK = load_constants()


def flow(sine, start, a=1.0):
    return Flow(np.array(sine), np.array(a * np.sqrt(1.0 - sine**2)), np.array(start))


def layer(count=3, j=1.0, dynamics="pair", **fields):
    matrix = np.broadcast_to(np.asarray(j, dtype=float), (1, count, count))
    defaults = {
        "omega": np.zeros((1, count, 1)), "theta": np.zeros((1, count, 1)), "gain": [1.0],
        "coupling": ExplicitCoupling(matrix), "order_parameter": FixedOrder([1.0]), "time_unit_s": 1e-8,
    }  # fmt: skip
    return PhaseLayerSpec(dynamics=dynamics, **defaults | fields)


@pytest.mark.parametrize("sine", [0.0, 0.5, 0.99])
@pytest.mark.parametrize("start", [-3.0, 0.0, 1.0, 2.0, np.pi - 1e-4, 7.0])
def test_the_variance_is_that_of_the_linearised_equation(sine, start):
    for ran in (0.1, 3.0, 20.0):
        assert float(flow(sine, start, 1.7).variance(ran)) == relative(
            variance_by_ode(sine, 1.7, start, ran), rel=1e-6
        )


def test_at_rest_and_on_the_unstable_point():
    assert float(flow(0.6, np.arcsin(0.6)).variance(0.5)) == relative((1.0 - np.exp(-0.8)) / 1.6)
    assert float(flow(0.0, np.pi).variance(3.0)) == relative((np.exp(6.0) - 1.0) / 2.0)
    assert np.isinf(flow(0.6, 0.0).basin(5.0)), "nearer to rest: no noise sends it the other way"


def test_starts_near_the_unstable_point_are_as_noisy_as_simulated():
    """Langevin, and how many go the other way at four standard deviations: 3e-5 of them, a bit more here."""
    kappa, start, ran, random = 1e-3, np.pi - 0.02, 5.0, np.random.default_rng(0)
    psi, step = np.full(20000, start), 0.005
    for _ in range(round(ran / step)):
        psi = psi - step * np.sin(psi) + kappa * np.sqrt(step) * random.standard_normal(len(psi))
    cell = flow(0.0, start)
    assert psi.var() / kappa**2 == pytest.approx(float(cell.variance(ran)), rel=0.05)
    # at the basin's variance noise over the way is a quarter of the distance to the unstable point
    at_basin = float(cell.basin(ran)) / float(cell.variance(ran))
    assert np.sqrt(at_basin / 2.0) == pytest.approx(0.25 * 0.02, rel=0.01)


@pytest.mark.parametrize("stop", ["together", "each"])
def test_the_floor_of_random_starts_has_their_noise(stop):
    psi_0 = np.random.default_rng(3).uniform(-3.1, 3.1, (1, 3, 3))
    plan = schedule(layer(psi_0=psi_0), OscillatorHardware(stop=stop))
    ran = plan.settle if stop == "each" else np.full(psi_0.shape, np.nanmax(plan.settle))
    ran = np.maximum(ran, 1.0 / (plan.carrier_hz * plan.time_unit_s))
    variances = [variance_by_ode(0.0, 1.0, s, t) for s, t in zip(psi_0.ravel(), ran.ravel(), strict=True)]
    assert plan.noise_rate * plan.time_unit_s == relative(0.5 / max(variances), rel=1e-6)


def test_more_noise_than_the_basin_holds_is_not_allowed_and_said():
    spec = layer(phase_0=np.full((1, 3, 1), np.pi - 1e-3), dynamics="clamped", duration=np.inf)
    plan = schedule(spec, OscillatorHardware(accuracy=0.2))
    floor = noise_floor(OscillatorHardware(), plan, BOOK)
    assert floor.variance == plan.basin < 0.04 and any("unstable point" in note for note in floor.notes)


def test_slips_are_those_of_the_locked_state_that_is_read():
    """A clamped oscillator rests at d/a = 0, a network at its own differences; pairs up to the edge band."""
    loose = OscillatorHardware(accuracy=0.4)
    spec = layer(omega=np.array([[[0.0], [0.1], [0.3]]]), theta=np.array([[[0.0], [0.1], [0.2]]]))
    assert schedule(spec, loose).sine == relative(0.99)
    clamped = schedule(spec, loose, "clamped")
    assert clamped.sine == 0.0 and noise_floor(loose, clamped, BOOK).variance == relative(0.16)
    network = schedule(spec, loose, "network")
    assert 0.2 < network.sine < 0.5
    limit = LARGEST_CORRECTION / linear_error(1.0, network.sine)
    assert noise_floor(loose, network, BOOK).variance == relative(min(0.16, limit))


def test_cells_that_no_frequency_holds_do_not_ask_for_tuning():
    """Heads of gain 1 and 1e-9: cells of the second turn, whatever their frequencies are."""
    spec = PhaseLayerSpec(
        omega=np.array([[[0.0], [0.3]]] * 2), theta=np.zeros((2, 2, 1)), gain=[1.0, 1e-9],
        coupling=ExplicitCoupling(np.ones((2, 2, 2))), order_parameter=FixedOrder([1.0, 1.0]),
        time_unit_s=1e-8,
    )  # fmt: skip
    assert schedule(spec, OscillatorHardware()).tuning_bits == 5
    held = spec.replace(omega=np.array([[[0.0], [0.3]], [[0.0], [1e-10]]]))  # what locks is told apart
    plan = schedule(held, OscillatorHardware())
    assert plan.tuning_bits == 35
    refused = array_row(held, OscillatorHardware(), BOOK, "pair", plan)
    assert "needs 35 tuning bits, expected at most 16" in refused.answer.reason


def test_a_network_that_does_not_lock_tunes_to_its_strongest_pull_and_says_so():
    weak = np.where(np.eye(3) > 0.0, 0.0, [[1.0], [1.0], [1e-9]])
    plan = schedule(layer(j=weak, omega=np.array([[[0.0], [3.0], [7.0]]])), OscillatorHardware(), "network")
    assert plan.tuning_bits <= 12 and any("strongest pull" in note for note in plan.notes)


def test_shares_of_nothing_are_not_stated():
    row = array_row(layer(count=1), OscillatorHardware(), BOOK, "pair")
    assert row.schedule.locked_share is None and row.schedule.left_out_share == 0.0
    assert not any("does not lock" in note for note in row.floor_notes)
