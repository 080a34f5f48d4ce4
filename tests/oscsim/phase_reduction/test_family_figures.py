"""Reduced figures of the families against what is known: by analysis, or as measured before."""

import numpy as np
import pytest

from oscsim.oscillators import LC, Relaxation, Ring, StuartLandau
from oscsim.phase_reduction import PairLaw, locked_phases, reduce


@pytest.mark.parametrize(
    ("mu", "strength", "third", "lag"),
    [(0.1, 1.0002, -5e-4, -1.4), (0.3, 1.0013, -4e-3, -4.2), (1.0, 0.999, -4e-2, -10.6)],
)
def test_lc_figures(mu, strength, third, lag):
    coupling = reduce(LC(mu=mu)).coupling
    # one resistor gives each of a mutual pair kappa b_1, so a R_c C = 2 b_1
    assert 2.0 * coupling.strength == pytest.approx(strength, abs=1.5e-4)
    assert coupling.sines[2] / coupling.strength == pytest.approx(third, rel=0.1)
    assert np.degrees(coupling.lag) == pytest.approx(lag, abs=0.05)
    assert np.abs(coupling.coefficients[2::2]).max() < 1e-10  # v(-t) symmetry: odd harmonics only


@pytest.mark.parametrize("mu", [0.05, 0.1, 0.2])
def test_lc_frequency_and_detuning_by_perturbation_theory(mu):
    reduction = reduce(LC(mu=mu))
    assert reduction.cycle.frequency == pytest.approx(1.0 - mu**2 / 16.0, abs=mu**4)
    assert reduction.contraction == pytest.approx(mu, rel=mu**2)
    # tuning c moves the linear tank by -1/2 per unit, the oscillator by 1 - 3 mu^2/16 of that
    step = 1e-4
    up, down = reduction.frequency(np.array([1.0 + step, 1.0 - step]))
    assert (up - down) / (2.0 * step) == pytest.approx(-0.5 * (1.0 - 3.0 * mu**2 / 16.0), abs=mu**4)


@pytest.mark.parametrize(("stages", "lag"), [(3, -58.0), (5, -39.0), (7, -31.0)])
def test_ring_with_a_resistor_between_like_nodes(stages, lag):
    """The figures belong to a stage gain of 3; at 5 the lags are -61, -45 and -36."""
    assert np.degrees(reduce(Ring(stages=stages, coupler="resistor")).coupling.lag) == pytest.approx(
        lag, abs=0.3
    )


def test_ring_with_an_inverter():
    coupling = reduce(Ring(stages=3)).coupling
    assert np.degrees(coupling.lag) == pytest.approx(3.0, abs=0.1)
    assert abs(coupling.sines[2] / coupling.strength) < 0.01
    assert coupling.shift == 0.0  # an inverter does not load


def test_ring_floors_against_the_closed_form():
    """Three stages are within 6e-3 of the closed form up to 0.8; five unlock already at 0.95."""
    rho, ones = np.array([0.3, 0.6, 0.8, 0.95]), np.ones(4)
    for stages, floor, locks in ((3, 6e-3, True), (5, 4e-2, False)):
        coupling = reduce(Ring(stages=stages)).coupling
        state = locked_phases(PairLaw(2.0 * coupling.strength * rho, ones, ones, coupling), 0.0 * rho)
        assert np.abs(state.mean_cosine[:3] - np.sqrt(1.0 - rho[:3] ** 2)).max() < floor
        assert bool(state.locked[3]) is locks


@pytest.mark.parametrize("shear", [0.0, 0.5, -2.0])
def test_stuart_landau_is_a_sine_exactly(shear):
    """Phase is arg z - shear ln|z|, so Z = (-shear, 1) in radial and tangential direction."""
    reduction = reduce(StuartLandau(mu=0.4, shear=shear))
    cycle, coupling, x = reduction.cycle, reduction.coupling, np.linspace(-3.0, 3.0, 13)
    assert cycle.frequency == pytest.approx(1.0, abs=1e-10)
    radial = cycle.states
    tangential = np.stack([-radial[:, 1], radial[:, 0]], axis=1)
    np.testing.assert_allclose(cycle.response, tangential - shear * radial, atol=1e-9)
    np.testing.assert_allclose(coupling(x), np.sin(x) - shear * np.cos(x), atol=1e-9)
    assert coupling.lag == pytest.approx(-np.arctan(shear), abs=1e-9)
    assert coupling.shift == pytest.approx(shear, abs=1e-9)


def ideal_relaxation(threshold: float, samples: int = 4096) -> tuple[float, float, float]:
    """Frequency, b_1 and lag of RC branches between exact thresholds: ``Z = w/(dv/dt)`` on each."""
    branch = np.log((0.5 + threshold) / (0.5 - threshold))
    w = np.pi / branch
    t = branch * (np.arange(samples) + 0.5) / samples
    rising = 0.5 - (0.5 + threshold) * np.exp(-t)
    response, v = w / (0.5 - rising), rising
    # the falling branch is the rising one upside down: odd harmonics only, the same from either half
    phase = w * t
    z, s = (np.mean(y * np.exp(-1j * phase)) for y in (response, v))
    c = np.conj(z) * s
    return w, -2.0 * c.imag, np.arctan2(2.0 * c.real, -2.0 * c.imag)


def test_relaxation_approaches_ideal_thresholds():
    w, strength, lag = ideal_relaxation(0.2)
    assert np.degrees(lag) == pytest.approx(30.0, abs=0.2)
    times, found = (0.02, 0.005), []
    for time in times:
        reduction = reduce(Relaxation(threshold=0.2, comparator_time=time, comparator_gain=400.0))
        coupling = reduction.coupling
        found.append([reduction.cycle.frequency - w, coupling.strength - strength, coupling.lag - lag])
    slow, fast = np.abs(np.array(found))
    # passing a fold takes of the order of tau^(2/3) longer than its threshold says: 0.4 for a quarter of tau
    assert (np.abs(fast / slow - 0.25 ** (2 / 3)) < 0.1).all(), found
    assert fast[0] < 0.02 * w
    assert fast[1] < 0.01 * strength
    assert fast[2] < np.radians(1.1)
