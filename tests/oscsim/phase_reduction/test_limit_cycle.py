"""Limit cycles: found from rough estimates, and what is none is refused in words."""

import numpy as np
import pytest

from oscsim.errors import ConfigError
from oscsim.oscillators import LC, StuartLandau, UserOscillator
from oscsim.phase_reduction import NoLimitCycle, reduce


def van_der_pol(mu: float):
    return lambda x: np.stack([mu * (x[0] - x[0] ** 3 / 3.0) - x[1], x[0]])


def loops(x: np.ndarray) -> np.ndarray:
    """A circle that drives a fifth harmonic: it crosses the plane through a state several times a turn."""
    z = x[0] + 1j * x[1]
    slope = (0.5 * (1.0 - np.abs(z) ** 2) + 1j) * z
    return np.stack([slope.real, slope.imag, 5.0 * (np.real(z**5) - x[2])])


@pytest.mark.parametrize("factor", [1 / 3, 3.0])
def test_period_estimate_may_be_wrong_by_three(factor):
    own = UserOscillator(van_der_pol(1.0), (0.1, 0.0), 6.66 * factor)
    assert reduce(own).cycle.period == pytest.approx(reduce(LC(mu=1.0)).cycle.period, abs=1e-9)


def test_slow_amplitudes_are_waited_for():
    own = UserOscillator(van_der_pol(0.05), (0.1, 0.0), 2.1)
    assert reduce(own).cycle.period == pytest.approx(reduce(LC(mu=0.05)).cycle.period, abs=1e-9)


@pytest.mark.parametrize("estimate", [2.1, 12.0])
def test_several_crossings_of_a_plane_are_one_period(estimate):
    cycle = reduce(UserOscillator(loops, (1.0, 0.0, 0.0), estimate)).cycle
    assert cycle.period == pytest.approx(2.0 * np.pi, abs=1e-9)
    # multipliers of the amplitude exp(-2 pi) and of the third variable exp(-10 pi)
    assert cycle.decay == pytest.approx(np.exp(-2.0 * np.pi), rel=1e-6)


@pytest.mark.parametrize(
    ("flow", "start", "period", "words"),
    [
        (van_der_pol(-0.1), (1.0, 0.0), 6.0, "no oscillation: the flow rests at the fixed point"),
        (lambda x: np.stack([x[0] ** 3 - x[1], x[0]]), (1.0, 0.0), 6.0, "the flow diverges"),
        (lambda x: np.stack([-x[1], x[0]]), (1.0, 0.0), 6.0, "is not attracting: Floquet multipliers"),
        (van_der_pol(1.0), (0.1, 0.0), 0.01, "no return to the same state within 0.06 time units"),
        (lambda x: np.stack([1.0 + 0.1 * np.sin(x[1]), -x[1]]), (0.0, 1.0), 6.0, "no return"),
    ],
)  # fmt: skip
def test_what_is_no_limit_cycle_is_refused_in_words(flow, start, period, words):
    with pytest.raises(NoLimitCycle) as caught:
        reduce(UserOscillator(flow, start, period))
    assert words in str(caught.value)
    assert "expected" in str(caught.value)


def test_a_centre_outside_the_cycle_is_refused():
    reduction = reduce(UserOscillator(van_der_pol(1.0), (0.1, 0.0), 6.0, centre=(5.0, 0.0)))
    with pytest.raises(ConfigError, match="choose a point inside"):
        reduction.phase(reduction.cycle.states.T)


def test_contraction_of_an_amplitude_equation_is_its_rate():
    assert reduce(StuartLandau(mu=0.4)).contraction == pytest.approx(0.4, rel=1e-8)
    assert reduce(LC(mu=0.01)).contraction == pytest.approx(0.01, rel=1e-4)


@pytest.mark.parametrize("oscillator", [LC(mu=0.5), StuartLandau(shear=0.3)], ids=lambda o: o.name)
def test_phase_zero_is_the_peak_of_the_fundamental(oscillator):
    node = reduce(oscillator).cycle.states[:, 0]
    assert abs(np.angle(np.fft.fft(node)[1])) < 1e-9
    assert node[0] > 0.9 * node.max()
