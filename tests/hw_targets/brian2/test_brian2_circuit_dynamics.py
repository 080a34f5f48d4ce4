"""Networks and clamped layers as circuits: masks, padding, durations, promises."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from hw_targets.registry import get_target
from oscsim import ExplicitCoupling, FrequencyCoupling, PhaseLayerSpec, SyncStatus, compare, solve
from oscsim.circuits import lower_circuit
from oscsim.errors import LoweringError
from oscsim.phase import circular_distance
from oscsim.target import ConvergenceWarning

TARGET = get_target("circuit")
CARRIER = 1e9


def unit(epsilon):
    return 1.0 / (2.0 * np.pi * CARRIER * epsilon)


def network(**fields):
    rng = np.random.default_rng(1)
    weights = rng.uniform(0.3, 1.0, (2, 7, 7))
    defaults = {
        "omega": 0.06 * rng.standard_normal((2, 7, 2)),
        "theta": rng.uniform(-0.8, 0.8, (2, 7, 2)),
        "coupling": ExplicitCoupling((weights + weights.transpose(0, 2, 1)) / 2),
        "gain": [1.0, 0.7],
        "dynamics": "network",
        "padding": np.array([False, False, True, False, False, False, False]),
        "values": rng.standard_normal((2, 7, 3)),
        "time_unit_s": unit(0.03),
        "carrier_hz": CARRIER,
    }
    return PhaseLayerSpec(**{**defaults, **fields})


def clamped(**fields):
    rng = np.random.default_rng(2)
    theta = rng.uniform(-2, 2, (1, 5, 2))
    defaults = {
        "omega": np.zeros((1, 5, 2)),
        "theta": theta,
        "phase_0": theta + rng.uniform(-2.0, 2.0, theta.shape) + 2 * np.pi,
        "rate": rng.choice([-1.0, 0.5, 1.0], theta.shape),
        "coupling": FrequencyCoupling([0.0]),
        "gain": [0.3],
        "dynamics": "clamped",
        "duration": np.inf,
        "time_unit_s": unit(0.02),
        "carrier_hz": CARRIER,
    }
    return PhaseLayerSpec(**{**defaults, **fields})


def run(spec, **options):
    return TARGET.lower(spec, TARGET.config(**options)).run()


@pytest.mark.parametrize("options", [{"mu": 0.3}, {"family": "stuart_landau"}, {"family": "ring"}])
def test_locked_networks(options):
    spec = network()
    result, exact = run(spec, **options), solve(spec)
    assert result.status is SyncStatus.SETTLED
    assert np.array_equal(result.locked, exact.locked)
    # 16 oscillators at epsilon 0.03: rms 3e-4 to 9e-4 (docs/circuits.md)
    assert np.sqrt(np.mean(np.square(result.sync - exact.sync))) <= (
        6e-3 if "ring" in options.values() else 1.5e-3
    )
    assert np.all(result.sync[:, 2] == 0) and np.all(result.sync[:, :, 2] == 0)
    assert np.array_equal(result.phase[:, 2], spec.theta[:, 2])
    assert result.trajectory.shape[1:] == spec.theta.shape and result.times[0] == 0.0
    assert np.allclose(result.trajectory[0], spec.theta)
    # the lag of LC at mu = 0.3 and of the ring leaves nothing to promise; nothing passes for that reason
    assert compare(result, exact).status == (
        "conforms" if "stuart_landau" in options.values() else "no_promise"
    )


def test_causal_network_needs_one_way_couplers():
    spec = network(mask="causal", omega=0.03 * np.random.default_rng(3).standard_normal((2, 7, 2)))
    with pytest.raises(LoweringError, match="choose coupler=transconductance"):
        TARGET.lower(spec)
    result = run(spec, family="stuart_landau", coupler="transconductance")
    exact = solve(spec)
    assert np.all(result.sync[:, ~np.tri(7, dtype=bool)] == 0.0)
    assert compare(result, exact).status == "conforms"


def test_drifting_network_is_averaged():
    spec = network(omega=np.array([[[0.0], [0.1], [3.0]]]), theta=np.zeros((1, 3, 1)), gain=[1.0],
                   coupling=FrequencyCoupling([0.0]), padding=None, values=None)  # fmt: skip
    result = run(spec, mu=0.3)
    assert result.status is SyncStatus.DRIFTING
    assert result.locked[0].tolist() == [[True, True, False], [True, True, False], [False, False, True]]
    assert 0.9 < result.sync[0, 0, 1] < 1.0 and abs(result.sync[0, 0, 2]) < 0.15


def test_clamped_at_rest():
    spec = clamped()
    result, exact = run(spec, family="stuart_landau", coupler="transconductance"), solve(spec)
    assert result.status is SyncStatus.SETTLED
    assert compare(result, exact).status == "conforms"
    settled = exact.conditioning.phase_condition < 100
    assert np.all(circular_distance(result.phase, exact.phase)[settled] < 1e-3)
    assert np.all(np.abs(result.phase - spec.phase_0) <= 1.01 * np.pi)  # continuous from phase_0


@pytest.mark.parametrize("duration", [0.0, 0.4, 2.0])
def test_clamped_at_a_moment(duration):
    """Error of first order: a tenth of the coupling, a tenth of the error."""
    errors = []
    for epsilon in (0.02, 0.002):
        spec = clamped(duration=duration, time_unit_s=unit(epsilon))
        exact = solve(spec)
        well = exact.conditioning.phase_condition < 10
        for options in ({"family": "stuart_landau", "coupler": "transconductance"},):
            result = run(spec, **options)
            assert result.status is SyncStatus.SETTLED
            errors.append(circular_distance(result.phase, exact.phase)[well].max())
    if duration == 0.0:
        assert max(errors) < 1e-12
    else:
        assert errors[1] < 0.2 * errors[0] < 0.03


def test_clamped_moment_of_a_family_that_turns():
    """The averages around the end are read at the end itself, not at a whole cycle."""
    spec = clamped(duration=1.0, time_unit_s=unit(0.004), rate=None)
    early, late = (run(spec.replace(duration=t), mu=0.1, coupler="transconductance") for t in (1.0, 1.004))
    moved = late.phase - early.phase
    exact = solve(spec.replace(duration=1.004)).phase - solve(spec).phase
    assert np.abs(exact).max() > 2e-3
    assert np.allclose(moved, exact, atol=3e-4)


def test_cut_short():
    with pytest.warns(ConvergenceWarning, match="still moving"):
        result = run(clamped(), max_cycles=30.0, coupler="transconductance", mu=0.3)
    assert result.status is SyncStatus.NOT_CONVERGED
    with pytest.warns(ConvergenceWarning, match="not_converged"):
        result = run(network(), max_cycles=30.0, mu=0.1)
    assert result.status is SyncStatus.NOT_CONVERGED


@pytest.mark.parametrize("count", [1, 2, 3])
def test_small_layers(count):
    rng = np.random.default_rng(count)
    for dynamics in ("pair", "network", "clamped"):
        spec = PhaseLayerSpec(
            omega=np.zeros((1, count, 1)),
            theta=rng.uniform(-1, 1, (1, count, 1)),
            coupling=FrequencyCoupling([0.0]),
            gain=[1.0],
            dynamics=dynamics,
            time_unit_s=unit(0.02),
            carrier_hz=CARRIER,
        )
        result = run(spec, family="stuart_landau", coupler="transconductance")
        assert result.status is SyncStatus.SETTLED
        assert compare(result, solve(spec)).status == "conforms", dynamics


def few(matrix, omega, theta, epsilon=0.01):
    """A network of a single head and channel."""
    return PhaseLayerSpec(
        omega=np.reshape(omega, (1, -1, 1)).astype(float),
        theta=np.reshape(theta, (1, -1, 1)).astype(float),
        coupling=ExplicitCoupling([matrix]),
        gain=[1.0],
        dynamics="network",
        time_unit_s=unit(epsilon),
        carrier_hz=CARRIER,
    )


SLOW_NETWORKS = {
    "uncoupled token": ([[1.0, 1.0, 0.0], [1.0, 1.0, 0.0], [0.0, 0.0, 1.0]], [0, 0, 3e-4], [0, 0.1, 2]),
    "weak coupler": ([[1.0, 1e-3], [1e-3, 1.0]], [0, 0], [0, 2]),
    "weak coupler and detuning": ([[1.0, 1e-4], [1e-4, 1.0]], [0, 1e-3], [0, 0]),
    "no coupler": ([[1.0, 0.0], [0.0, 1.0]], [0, 2e-4], [0, 0]),
}


@pytest.mark.parametrize("target", ["circuit", "spice"])
@pytest.mark.parametrize("case", SLOW_NETWORKS)
def test_slow_motion_is_neither_rest_nor_average(case, target):
    spec, made = few(*SLOW_NETWORKS[case]), get_target(target)
    options = {"max_cycles": 100.0} if target == "spice" else {"max_cycles": 200.0, "family": "stuart_landau"}
    lowered = made.lower(spec, made.config(**options))
    assert any("expected to settle" in warning for warning in lowered.plan["circuit"]["warnings"])
    with pytest.warns(ConvergenceWarning, match="1 of 1 networks neither at rest nor averaged"):
        result = lowered.run()
    assert result.status is SyncStatus.NOT_CONVERGED


def test_equal_oscillators_without_couplers_stay_where_they_are():
    result = run(few(np.eye(3), [0, 0, 0], [0, 1, 2]), mu=0.3, max_cycles=200.0)
    assert result.status is SyncStatus.SETTLED and result.locked.all()


def test_clamped_slow_motion_is_no_rest():
    spec = clamped(rate=np.full((1, 5, 2), 1e-6))
    with pytest.warns(ConvergenceWarning, match="10 oscillators were still moving"):
        result = run(spec, family="stuart_landau", coupler="transconductance", max_cycles=200.0)
    assert result.status is SyncStatus.NOT_CONVERGED


@pytest.mark.parametrize("cycles", [0.01, 0.5, 1.5, 3.9])
def test_clamped_moment_within_a_few_cycles(cycles):
    """The limit-cycle phase at that moment, relative to the held: an accurate run of the same circuit."""
    spec = clamped(duration=cycles * 2 * np.pi * 0.02, rate=None)
    lowered = TARGET.lower(spec, TARGET.config(mu=0.1, coupler="transconductance"))
    made = lower_circuit(spec, TARGET.config(mu=0.1, coupler="transconductance"))
    exact = solve_ivp(
        lambda _, x: made.flow(x.reshape(made.start.shape)).ravel(),
        (0.0, cycles * made.reduction.cycle.period), made.start.ravel(), method="DOP853", rtol=1e-9,
    )  # fmt: skip
    phase = made.reduction.phase(exact.y[:, -1].reshape(made.start.shape))
    turned = phase[:, 5:] - made.array.start[:, 5:]
    expected = (phase[:, :5] - turned[:, :1]).T.reshape(1, 5, 2)
    assert np.all(circular_distance(lowered.run().phase, expected) < 2e-4)
