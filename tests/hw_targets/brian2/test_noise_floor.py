"""The formulas of the noise floor against noisy LC oscillators on Brian2."""

import numpy as np
import pytest
from noisy_pairs import CARRIER, ONE_WAY, STRENGTH, layer, locked, noisy, phases
from relative import relative

from oscsim.circuits.components import amplitude_v
from oscsim.energy import EnergyError
from oscsim.energy.noise import lc
from oscsim.energy.noise.locked import LARGEST_CORRECTION, linear_error, locked_variance
from oscsim.energy.units import magnitude, quantity
from oscsim.phase import wrap

# Beside statistics: phase reduction is first order in the coupling, which is 0.03 of the amplitudes' rate.
REDUCED = 0.03
BOLTZMANN = quantity(1.380649e-23, "J/K")


def expected(diffusion, run, ratios, reference):
    """Variances by the formula, with the next order that it neglects."""
    rates = zip(run.rate, ratios, strict=True)
    linear = [
        locked_variance(quantity(diffusion, "1/s"), quantity(rate, "1/s"), reference, ratio).magnitude
        for rate, ratio in rates
    ]
    return np.array([v * (1.0 + linear_error(v, ratio)) for v, ratio in zip(linear, ratios, strict=True)])


def assert_close(run, wanted):
    assert (np.abs(run.variance / wanted - 1.0) < 4.0 * run.error + REDUCED).all(), run.variance / wanted
    assert 4.0 * run.error.max() + REDUCED < 0.2  # half as much, or twice, would be seen
    assert not run.slips.any()


@pytest.mark.parametrize("noise", [0.001, 0.004])
def test_two_independent_oscillators(noise):
    ratios, diffusion = np.array([0.0, 0.5, 0.8]), noise * STRENGTH
    run = locked(ratios, 300, diffusion)
    assert np.all(np.diff(run.rate) < 0.0)
    assert_close(run, expected(diffusion, run, ratios, "independent"))


def test_against_a_clean_reference():
    """Driven one way by an oscillator without noise: half of it."""
    ratios, diffusion = np.array([0.0, 0.5, 0.8]), 0.004 * STRENGTH
    run = locked(ratios, 300, diffusion, coupling=ONE_WAY, quiet=1, coupler="transconductance")
    assert_close(run, expected(diffusion, run, ratios, "clean"))


def test_near_the_edge_the_formula_fails_and_says_so():
    ratios, diffusion = np.array([0.5, 0.95]), 0.016 * STRENGTH
    run = locked(ratios, 100, diffusion)
    inside, beyond = diffusion / run.rate
    assert linear_error(inside, 0.5) < LARGEST_CORRECTION < linear_error(beyond, 0.95)
    assert run.slips[0] == 0 and run.slips[1] > 0
    assert run.variance[1] > 2.0 * beyond
    assert run.variance[0] == relative(inside, rel=0.25)
    with pytest.raises(EnergyError, match="so near the edge"):
        expected(diffusion, run, ratios, "independent")


def test_energy_times_variance_of_a_tank():
    """A tank whose loss 1/(Q Z) makes the noise 4 kT F G: n cycles of pi C A^2/Q each."""
    quality, cycles, copies, variance = 10.0, 15, 800, 0.02
    thermal = BOLTZMANN * quantity(300.0, "K")
    lowered = noisy(layer([0.0], copies, np.zeros((2, 2))), variance * CARRIER / cycles, 7)
    impedance, capacitance = lowered.config.impedance_ohm, float(lowered.parts.capacitance_f.mean())
    loss = quantity(1.0 / (quality * impedance), "1/ohm")
    density = quantity(lowered.parts.noise_a, "A/Hz**0.5")
    excess = (density**2 / (4.0 * thermal * loss)).to("")  # some 1e6: the law is linear in F
    seen = phases(lowered, [cycles * (k + 1) for k in range(4)])
    measured = np.var(wrap(np.diff(seen, axis=0)))
    energy = quantity(cycles * np.pi * capacitance * amplitude_v(lowered.circuit) ** 2 / quality, "J")
    claimed = magnitude(lc.energy_times_variance(cycles, excess, thermal, quantity(quality, "")), "J")
    statistics = np.sqrt(2.0 / (2 * copies * 3))
    assert measured * magnitude(energy, "J") / claimed == pytest.approx(1.0, abs=4.0 * statistics + REDUCED)
