"""Settling times against the ODE: at T the read-out is as accurate as asked, at half of T it is not."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from relative import relative, variance_by_ode

from oscsim import ExplicitCoupling, FixedOrder, FrequencyCoupling, PhaseLayerSpec
from oscsim.closed_form import pair_trajectory
from oscsim.energy import OscillatorHardware
from oscsim.energy.clamped_settling import clamped_settling
from oscsim.energy.network_settling import network_settling
from oscsim.energy.pair_settling import beat_time, locked_time, pair_settling, window_time
from oscsim.ode import trajectory
from oscsim.pair_terms import coupling, mismatch, unmasked
from oscsim.readout import phase_sync


def pairs(omega, j=1.0, gain=1.0, **fields):
    """One head and channel with the same coupling everywhere, r = 1."""
    count = len(omega)
    defaults = {
        "omega": np.reshape(omega, (1, count, 1)), "theta": np.zeros((1, count, 1)), "gain": [gain],
        "coupling": ExplicitCoupling(np.full((1, count, count), j)), "order_parameter": FixedOrder([1.0]),
    }  # fmt: skip
    return PhaseLayerSpec(**(defaults | fields))


@settings(max_examples=60, deadline=None)
@given(
    ratio=st.floats(0.0, 0.99), a=st.floats(0.1, 10.0), sign=st.sampled_from([1.0, -1.0]),
    size=st.floats(0.05, 3.0), accuracy=st.floats(1e-6, 0.04),
)  # fmt: skip
def test_a_locked_cell_is_as_accurate_as_asked_at_its_time_and_not_at_half_of_it(
    ratio, a, sign, size, accuracy
):
    d, strength, j = np.array(ratio * a), np.array(sign * a), np.array(sign * size)
    start = np.array(np.pi if sign < 0 else 0.0)  # the default start of a spec
    time = locked_time(d, strength, j, start, accuracy)
    target = size * np.sqrt(1.0 - ratio**2)

    def error(t):
        psi = pair_trajectory(d, strength, start, np.array(t))
        return abs(abs(float(j * np.cos(psi))) - target)

    if time == 0.0:
        assert error(0.0) <= accuracy * (1.0 + 1e-9)
        return
    assert error(time) == pytest.approx(accuracy, rel=1e-6, abs=1e-13)
    assert error(time / 2.0) > accuracy
    assert all(error(time * later) <= accuracy * (1.0 + 1e-6) + 1e-13 for later in (1.1, 2.0, 5.0))


def test_a_layer_integrated_to_its_own_times_is_as_accurate_as_asked():
    """Every locked cell outside the edge band, by the ODE: the error of S at T, T/2 and ever after."""
    rng = np.random.default_rng(5)
    spec = pairs(rng.uniform(0.0, 1.4, 5), coupling=ExplicitCoupling(rng.uniform(-1, 1, (1, 5, 5))), gain=1.5)
    accuracy, found = 0.01, pair_settling(spec, OscillatorHardware(accuracy=0.01))
    cells = np.argwhere(found.locked & found.compared & (found.time > 0.0))
    assert len(cells) >= 8
    j, d = coupling(spec), mismatch(spec)
    for at in map(tuple, cells):
        target = np.sqrt(j[at] ** 2 - (d[at] / 1.5) ** 2)
        psi = trajectory(spec, found.time[at] * np.array([0.0, 0.5, 1.0, 1.5, 3.0]))[(slice(None), *at)]
        error = np.abs(np.abs(j[at] * np.cos(psi)) - target)
        assert error[2] == relative(accuracy, rel=1e-6)
        assert error[1] > accuracy and (error[3:] < accuracy).all()


@pytest.mark.parametrize("psi_0", [-3.0, -1.2, 0.3, 1.9, 3.1])
def test_any_start_is_followed_to_its_last_excursion(psi_0):
    d, a, accuracy = np.array(0.5), np.array(1.0), 0.01
    times = np.linspace(0.0, 30.0, 30001)
    error = np.abs(np.cos(pair_trajectory(d, a, np.array(psi_0), times)) - np.sqrt(0.75))
    last = times[np.flatnonzero(error > accuracy)[-1]]
    assert locked_time(d, a, np.array(1.0), np.array(psi_0), accuracy) == pytest.approx(last, abs=2e-3)


@pytest.mark.parametrize("ratio", [1.02, 1.3, 4.0])
def test_a_window_leaves_no_more_than_asked_and_half_of_it_more(ratio):
    """Worst case over where the window begins, from the phases themselves."""
    d, a, accuracy = np.array(ratio), np.array(1.0), 0.01
    time = float(window_time(d, a, np.array(1.0), accuracy))
    beat = float(beat_time(d, a, np.array(1.0), accuracy))
    t = np.linspace(0.0, 3.0 * beat + time, 400001)
    total = np.concatenate([[0.0], np.cumsum(np.cos(pair_trajectory(d, a, np.array(0.0), t))[:-1])]) * t[1]

    def worst(length):
        steps = round(length / t[1])
        return np.abs(total[steps:] - total[:-steps]).max() / length

    assert worst(time) <= accuracy * 1.001
    short = [worst(time * share) for share in np.linspace(0.3, 0.5, 9)]
    assert max(short) > accuracy
    assert worst(beat) < 1e-3  # a whole beat averages to nothing, wherever it begins


def test_weak_cells_and_cells_without_coupling_need_no_time():
    off = OscillatorHardware(accuracy=0.05)
    assert np.nanmax(pair_settling(pairs([0.0, 0.3, 5.0], j=0.05), off).time) == 0.0
    assert np.nanmax(pair_settling(pairs([0.0, 0.3, 5.0], j=0.0), off).time) == 0.0
    still = pair_settling(pairs([0.0, 0.0], gain=0.0), off)
    assert np.all(still.time == 0.0) and not still.left_out.any()
    free = pair_settling(pairs([0.0, 0.5], gain=0.0), off)  # nothing pulls: 2/(d T) is left
    assert free.time[0, 0, 1] == relative(2.0 / (0.5 * 0.05))


def test_cells_at_the_edge_have_no_limit_and_are_counted():
    found = pair_settling(pairs([0.0, 1.0, 1.004, 3.0]), OscillatorHardware(edge_band=0.005))
    assert found.left_out[0].astype(int).tolist() == [[0, 1, 1, 0], [1, 0, 0, 0], [1, 0, 0, 0], [0, 0, 0, 0]]
    assert np.isnan(found.time[found.left_out]).all() and np.isfinite(found.time[found.compared]).all()


def test_a_start_on_the_unstable_point_is_left_out_and_said():
    spec = pairs([0.0, 0.0], psi_0=np.array([[[0.0, np.pi], [0.3, 0.0]]]))
    found = pair_settling(spec, OscillatorHardware())
    assert found.left_out.sum() == 1 and "unstable point" in found.notes[0]


def test_padding_and_masks_build_nothing():
    spec = pairs([0.0, 0.4, 9.0], mask="causal", padding=np.array([False, False, True]))
    found = pair_settling(spec, OscillatorHardware())
    assert found.built.sum() == 3 and np.isnan(found.time[~found.built]).all()


def test_rates_are_those_of_the_closed_form_and_of_read_cells_only():
    spec = pairs([0.0, 0.6], gain=2.0)
    found = pair_settling(spec, OscillatorHardware())
    assert found.rate[0, 0, 1] == relative(np.sqrt(4.0 - 0.36))
    assert np.isnan(pair_settling(spec.replace(coupling=ExplicitCoupling(np.full((1, 2, 2), 1e-3))),
                                  OscillatorHardware()).rate).all()  # fmt: skip


def test_cells_on_their_own_clock_are_as_fast_as_the_strongest():
    matrix = np.array([[[1.0, 0.5], [0.1, 1.0]]])
    spec = pairs([0.0, 0.04], coupling=ExplicitCoupling(matrix))
    layer = pair_settling(spec, OscillatorHardware(accuracy=1e-3))
    own = pair_settling(spec, OscillatorHardware(accuracy=1e-3, cell_clock="own"))
    assert own.time[0, 0, 1] == relative(layer.time[0, 0, 1] / 2.0)
    assert own.time[0, 1, 0] == relative(layer.time[0, 1, 0] / 10.0)
    assert own.rate[0, 1, 0] == relative(10.0 * layer.rate[0, 1, 0])


def test_clamped_layers_that_run_to_rest_are_as_accurate_as_asked_at_their_time():
    rng = np.random.default_rng(3)
    spec = pairs(
        np.zeros(5), dynamics="clamped", theta=rng.uniform(-3, 3, (1, 5, 1)), gain=0.7,
        coupling=ExplicitCoupling(rng.uniform(-1, 1, (1, 5, 5))), phase_0=rng.uniform(-3, 3, (1, 5, 1)),
        rate=rng.choice([-1.0, 0.5], (1, 5, 1)),
    )  # fmt: skip
    found = clamped_settling(spec, OscillatorHardware(accuracy=0.01))
    times = np.sort(found.time.ravel())
    path = trajectory(spec, np.array([0.0, *times, times[-1] + 300.0]))
    sync = [phase_sync(coupling(spec), phase, spec.theta)[0] for phase in path]
    largest = np.abs(coupling(spec)[0]).max(axis=1)
    for time, at in zip(times, sync[1:-1], strict=True):
        row = int(np.flatnonzero(found.time.ravel() == time)[0])
        assert np.abs(at - sync[-1])[row].max() <= 0.01 * (1.0 + 1e-6)
        drift = np.abs(path[list(times).index(time) + 1] - path[-1])[0, row, 0]
        assert drift * largest[row] == relative(0.01, rel=1e-5)


def test_couplings_of_masked_and_padded_sources_settle_nothing():
    matrix, theta = np.ones((1, 3, 3)), np.array([[[0.0], [1.0], [2.0]]])
    plain = pairs(
        np.zeros(3), dynamics="clamped", theta=theta, phase_0=theta + 1.0, mask="causal",
        padding=np.array([False, False, True]), coupling=ExplicitCoupling(matrix.copy()),
    )  # fmt: skip
    matrix[0, 0, 1] = matrix[0, :, 2] = 30.0
    loud = clamped_settling(plain.replace(coupling=ExplicitCoupling(matrix)), OscillatorHardware())
    expected = clamped_settling(plain, OscillatorHardware()).time
    assert np.array_equal(loud.time, expected, equal_nan=True) and np.nanmax(expected) > 1.0


def test_clamped_layers_with_a_duration_take_it():
    spec = pairs([0.0, 0.0], dynamics="clamped", duration=2.5, theta=np.array([[[0.0], [1.0]]]))
    found = clamped_settling(spec, OscillatorHardware())
    assert np.all(found.time == 2.5)
    # noise piled up on the way to the stable point at 0.5, from 0.5 away
    strength = abs(1.0 + np.exp(1j))
    assert found.rate[0, 0, 0] == relative(strength)
    variance = variance_by_ode(0.0, strength, 0.5, 2.5)
    assert found.noise_rate(found.time)[0, 0, 0] == relative(0.5 / variance, rel=1e-7)
    assert found.sine == 0.0 and not found.left_out.any()


def test_a_clamped_start_on_its_unstable_point_has_no_accuracy_however_long_it_runs():
    for duration in (2.5, np.inf):
        spec = pairs([0.0, 0.0], dynamics="clamped", duration=duration, phase_0=np.array([[[np.pi], [1.0]]]))
        found = clamped_settling(spec, OscillatorHardware())
        assert found.left_out.ravel().tolist() == [True, False] and "unstable" in found.notes[0]


@pytest.mark.parametrize(("seed", "mask"), [(0, "full"), (1, "causal"), (2, "full"), (4, "full")])
def test_networks_are_as_accurate_as_asked_at_their_time_and_not_at_half_of_it(seed, mask):
    rng = np.random.default_rng(seed)
    spec = PhaseLayerSpec(
        omega=0.15 * rng.standard_normal((1, 6, 1)), theta=rng.uniform(-np.pi, np.pi, (1, 6, 1)), gain=[1.0],
        coupling=FrequencyCoupling([0.3]), dynamics="network", mask=mask,
    )  # fmt: skip
    time = float(network_settling(spec, OscillatorHardware(accuracy=0.005)).time[0, 0])
    path = trajectory(spec, np.array([0.0, time / 2.0, time, 10.0 * time + 100.0]))[:, 0, :, 0]
    j = np.where(unmasked(spec), coupling(spec)[0], 0.0)
    sync = [j * np.cos(theta[:, None] - theta) for theta in path]
    half, whole = (np.abs(sync[k] - sync[-1]).max() for k in (1, 2))
    assert whole == relative(0.005, rel=0.02) and half > 0.005


def test_two_network_oscillators_relax_like_a_pair_cell_of_twice_the_pull():
    spec = pairs([0.0, 0.3], gain=1.0)
    cell = pair_settling(spec, OscillatorHardware(accuracy=1e-4))
    network = network_settling(spec.replace(dynamics="network"), OscillatorHardware(accuracy=1e-4))
    assert mismatch(spec)[0, 0, 1] == relative(0.3)
    assert network.rate[0, 0] == relative(cell.rate[0, 0, 1])
    assert network.time[0, 0] == relative(cell.time[0, 0, 1], rel=1e-3)


def test_a_finer_accuracy_than_the_solver_is_extrapolated_by_the_slowest_eigenvalue():
    spec = pairs([0.0, 0.3], dynamics="network")
    coarse, fine = (network_settling(spec, OscillatorHardware(accuracy=x)) for x in (1e-5, 1e-12))
    later = np.log(1e7) / coarse.rate[0, 0]
    assert fine.time[0, 0] - coarse.time[0, 0] == relative(later, rel=1e-2)


def test_a_network_that_does_not_lock_averages_and_says_so():
    found = network_settling(pairs([0.0, 3.0], dynamics="network"), OscillatorHardware(accuracy=0.01))
    assert not found.locked.any() and not found.lower_bound
    assert 0.0 < found.time[0, 0] < 200.0 and "do not lock" in found.notes[0]


def test_a_network_that_never_converges_has_a_lower_bound():
    """Two of three turn against each other once in 31 time units; the run ends after 40."""
    slow = pairs([0.0, 100.0, 100.2], gain=1e-3, dynamics="network")
    found = network_settling(slow, OscillatorHardware(accuracy=1e-3))
    assert found.lower_bound and "lower bound" in found.notes[-1]
