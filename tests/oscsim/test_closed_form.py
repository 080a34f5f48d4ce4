"""Closed forms against independent arithmetic."""

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import quad, solve_ivp

from oscsim import closed_form
from oscsim.beat_average import window
from oscsim.closed_form import lock_radius, pair_rate, pair_settling_time, pair_trajectory, synchronization
from oscsim.phase import circular_distance
from oscsim.tolerance import condition_of_ratio, euler_bias

positive = st.floats(1e-3, 1e3)


@given(st.floats(0, 1e4), st.floats(0, 1e4), st.floats(0, 1))
def test_lock_radius_solves_its_equation(alpha, gain, r):
    d = float(lock_radius(alpha, gain, r))
    assert 0 <= d <= gain * r
    # d = K r exp(-alpha d^2): the residual in log form stays meaningful when both sides are tiny
    if gain * r > 0:
        assert abs(np.log(d) - np.log(gain * r) + alpha * d * d) < 1e-12 * max(1.0, alpha * d * d)


@pytest.mark.parametrize("alpha", [1e-18, 1e-9, 4.9e-7, 5.1e-7, 1e-3, 1.0, 1e6])
def test_lock_radius_matches_high_precision(alpha):
    with mpmath.workdps(50):
        exact = mpmath.sqrt(mpmath.lambertw(2 * mpmath.mpf(alpha)) / (2 * mpmath.mpf(alpha)))
    assert float(lock_radius(alpha, 1.0, 1.0)) == pytest.approx(float(exact), rel=1e-14)


def test_lock_radius_never_overflows():
    assert np.isfinite(lock_radius(1e100, 1e100, 1.0)) and lock_radius(1e100, 0.0, 1.0) == 0.0


@given(st.floats(-2, 2), st.floats(0, 3), st.floats(-2, 2))
def test_synchronization_is_the_definition(j, d, gain):
    a = gain * j
    expected = abs(j) * np.sqrt(1 - (d / a) ** 2) if a != 0 and d <= abs(a) else abs(j) * (a == d == 0)
    assert float(synchronization(np.array(j), np.array(d), np.array(a))) == pytest.approx(expected, abs=1e-7)


def test_synchronization_keeps_its_digits_at_the_edge():
    gap = 2.0**-50
    exact = np.sqrt(gap * (2 - gap))
    got = float(synchronization(np.array(1.0), np.array(1 - gap), np.array(1.0)))
    assert got == pytest.approx(exact, rel=1e-14)


@given(st.floats(0, 3), st.floats(-2, 2), st.floats(-7, 7), st.floats(0, 20))
def test_pair_trajectory_is_the_flow_of_its_ode(d, a, psi, t):
    run = solve_ivp(lambda _, y: d - a * np.sin(y), (0, t), [psi], "DOP853", rtol=1e-12, atol=1e-12)
    exact = pair_trajectory(np.array(d), np.array(a), np.array(psi), np.array(t))
    # an error made at an unstable point grows like exp(|a| t) until it has left it
    start = np.pi - (np.arcsin(d / a) if abs(a) > d else np.pi / 2)
    if circular_distance(psi, start) > 1e-3:
        assert circular_distance(exact, run.y[0, -1]) < 1e-7


def test_pair_trajectory_at_the_edge_and_far_out():
    psi = pair_trajectory(np.array(1.0), np.array(1.0), np.array(0.0), np.array([0.0, 2.0, 1e6]))
    # psi' = 1 - sin psi has the solution tan(psi/2 - pi/4) = -1/(t/... ): 2/(t + 2) from pi/2 for large t
    assert psi[0] == 0 and np.pi / 2 - psi[2] == pytest.approx(2 / 1e6, rel=1e-5)
    assert np.isfinite(pair_trajectory(np.array(0.5), np.array(1.0), np.array(2.0), np.array(1e300)))


@given(positive, st.floats(1.001, 100))
def test_beat_is_a_whole_turn(a, ratio):
    d = a * ratio
    beat = 2 * np.pi / pair_rate(np.array(d), np.array(a))
    psi = pair_trajectory(np.array(d), np.array(a), np.array(0.3), np.array(beat))
    assert circular_distance(psi, 0.3) < 1e-6


@pytest.mark.parametrize("ratio", [1.01, 1.3, 5.0])
def test_cosine_averages_to_zero_over_a_beat(ratio):
    beat = 2 * np.pi / float(pair_rate(np.array(ratio), np.array(1.0)))
    psi = lambda t: float(pair_trajectory(np.array(ratio), np.array(1.0), np.array(0.0), np.array(t)))  # noqa: E731
    assert abs(quad(lambda t: np.cos(psi(t)), 0, beat, limit=400)[0]) / beat < 1e-8
    sine = quad(lambda t: np.sin(psi(t)), 0, beat, limit=400)[0] / beat
    assert sine == pytest.approx(ratio - np.sqrt(ratio**2 - 1), abs=1e-8)


@pytest.mark.parametrize(
    ("d", "a", "psi"), [(0.3, 1.0, 2.0), (0.0, -2.0, 0.5), (1.9, 2.0, -1.0), (0.5, -1.0, 3.0)]
)
def test_settling_time_is_when_it_settles(d, a, psi):
    t = pair_settling_time(np.array(d), np.array(a), np.array(psi), 1e-4)
    end = pair_trajectory(np.array(d), np.array(a), np.array(psi), np.array(1e3))
    at = circular_distance(pair_trajectory(np.array(d), np.array(a), np.array(psi), t), end)
    assert at == pytest.approx(1e-4, rel=1e-2)


def test_settling_time_is_infinite_where_nothing_settles():
    d, a, psi = np.array([2.0, 1.0, 0.0]), np.array([1.0, 1.0, 1.0]), np.array([0.0, 0.0, np.pi])
    times = pair_settling_time(d, a, psi, 1e-6)
    assert np.isinf(times[:2]).all() and times[2] > 30  # float pi is 1.2e-16 away from the unstable point


@given(st.floats(-7, 7), st.floats(-7, 7), st.floats(0.1, 3), st.floats(-2, 2), st.floats(0, 5))
def test_clamped_flow_is_the_flow_of_its_ode(phi, psi, strength, rate, duration):
    drive = np.array(strength * np.exp(1j * psi))
    exact = closed_form.clamped_flow(np.array(phi), drive, np.array(rate), duration)
    run = solve_ivp(
        lambda _, y: rate * strength * np.sin(psi - y), (0, duration), [phi], "DOP853", rtol=1e-12, atol=1e-12
    )
    growth = closed_form.clamped_growth(np.array(phi), drive, np.array(rate), duration)
    if duration > 0 and growth < 1e4:  # compared unwrapped: the flow map is continuous from phi
        assert abs(float(exact) - run.y[0, -1]) < 1e-9 * max(1.0, float(growth))


def test_clamped_flow_composes():
    drive, rate, phi = np.array(0.7 + 0.4j), np.array(-1.3), np.array(0.9)
    half = closed_form.clamped_flow(phi, drive, rate, 1.1)
    whole = closed_form.clamped_flow(phi, drive, rate, 2.2)
    assert abs(closed_form.clamped_flow(half, drive, rate, 1.1) - whole) < 1e-13


def test_clamped_growth_is_the_derivative():
    drive, rate, phi, step = np.array(1.2 + 0.1j), np.array(0.8), np.array(2.9), 1e-6
    flow = lambda p: float(closed_form.clamped_flow(p, drive, rate, 1.5))  # noqa: E731
    numeric = (flow(phi + step) - flow(phi - step)) / (2 * step)
    assert float(closed_form.clamped_growth(phi, drive, rate, 1.5)) == pytest.approx(numeric, rel=1e-6)


@pytest.mark.parametrize("ratio", [1.02, 1.3, 3.0, 20.0])
def test_euler_bias_is_what_euler_does(ratio):
    """Measured on a long explicit Euler run, the mean of cos is shifted by minus the formula."""
    step, psi, mean = 1 / 64, np.linspace(0, 2 * np.pi, 64, endpoint=False), np.zeros(64)
    for weight in window(60_000, 0.0):  # whole beats cannot be cut out of steps; a smooth window can
        mean += weight * np.cos(psi)
        psi = psi + step * (1.0 - np.sin(psi) / ratio)  # own clock: max(a, d) = d = 1
    assert mean.mean() == pytest.approx(-euler_bias(ratio, step), rel=0.05)


def test_condition_of_ratio_is_the_slope():
    rho, step = 0.9, 1e-6
    s = lambda x: np.sqrt(1 - x * x)  # noqa: E731
    slope = abs(s(rho + step) - s(rho - step)) / (2 * step)
    assert slope <= condition_of_ratio(rho) and condition_of_ratio(1.0) == np.inf
