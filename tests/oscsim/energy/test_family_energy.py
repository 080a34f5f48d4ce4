"""Energies of a cycle against the limit cycles of this project's own oscillators."""

import math

import numpy as np
import pytest
from relative import relative

from oscsim.energy import EnergyError, OscillatorHardware, lc, load_constants, relaxation
from oscsim.energy.units import magnitude, quantity
from oscsim.energy.valuation import Nominal
from oscsim.oscillators import LC, Relaxation, Ring
from oscsim.phase_reduction import reduce


def turn(oscillator):
    """(states (dimension, n), slopes, time step) of one turn of the limit cycle, natural units."""
    cycle = reduce(oscillator).cycle
    states = cycle.states.T
    return states, oscillator.flow(states), cycle.period / states.shape[1]


def natural(value, unit):
    return quantity(float(value), unit)


@pytest.mark.parametrize("mu", [0.1, 0.2])
def test_lc_is_what_the_tank_of_a_van_der_pol_oscillator_loses(mu):
    """Loss ``v^2/(Q Z)`` integrated over a turn; van der Pol's series in mu has even powers only."""
    states, _, step = turn(LC(mu=mu))
    quality, period = 7.0, step * states.shape[1]
    lost = float((states[0] ** 2).sum()) * step / quality
    peak = float(np.abs(states[0]).max())
    formula = lc.tank_loss(
        natural(period / (2.0 * math.pi), "farad"), natural(peak, "V"), natural(quality, "")
    )
    assert lost == relative(magnitude(formula, "J"), rel=mu**2)


def test_lc_deviates_as_mu_squared():
    """The formula is the limit of mu to 0, not just close: halving mu leaves a quarter (3 mu^2/32)."""
    off = []
    for mu in (0.1, 0.2):
        states, _, step = turn(LC(mu=mu))
        off.append(float((states[0] ** 2).sum()) * step / (4.0 * math.pi) - 1.0)
    assert off[1] / off[0] == relative(4.0, rel=0.2**2)
    assert off[0] == relative(3.0 * 0.1**2 / 32.0, rel=0.2)


@pytest.mark.parametrize("quality", [10.0, 100.0])
def test_lc_is_what_a_passive_tank_loses_while_it_rings_down(quality):
    """``C V^2/2 (1 - exp(-2 pi/Q))``: within pi/Q, the next term of the exponential, of the formula."""
    stored = 0.5 * 1e-12 * 1.1**2
    ringing = stored * -math.expm1(-2.0 * math.pi / quality)
    loss = lc.tank_loss(natural(1e-12, "farad"), natural(1.1, "V"), natural(quality, ""))
    assert ringing == relative(magnitude(loss, "J"), rel=math.pi / quality)


def test_lc_from_impedance_and_carrier():
    """Resonance: L = Z^2 C resonates with C at the carrier."""
    hardware = OscillatorHardware(family="lc", carrier_hz=5e9)
    v = Nominal(load_constants())
    capacitance = magnitude(lc.tank_capacitance(hardware, v), "farad")
    inductance = load_constants().usable("tank_impedance").value ** 2 * capacitance
    assert 1.0 / (2.0 * math.pi * math.sqrt(inductance * capacitance)) == relative(5e9)
    with pytest.raises(EnergyError, match="no carrier_hz"):
        lc.cycle_energy(OscillatorHardware(family="lc"), v)


@pytest.mark.parametrize("discharge", [1.0, 0.5])
def test_relaxation_is_supply_times_charge_whatever_the_resistors(discharge):
    """``integral of max(i, 0)`` over a turn of the hysteretic RC oscillator, i what charges the capacitor.

    Samples miss either end of the swing by at most one step.
    """
    states, slopes, step = turn(Relaxation(discharge=discharge, comparator_time=0.02, comparator_gain=40.0))
    drawn = float(np.maximum(slopes[0], 0.0).sum()) * step
    formula = relaxation.timing_energy(
        natural(1.0, "farad"), natural(1.0, "V"), natural(np.ptp(states[0]), "")
    )
    assert drawn == pytest.approx(magnitude(formula, "J"), abs=2.0 * np.abs(slopes[0]).max() * step)
    given = float(np.maximum(-slopes[0], 0.0).sum()) * step
    assert given == relative(drawn, rel=1e-5)  # ground takes what the supply gave


def test_relaxation_swings_between_its_thresholds_when_the_comparator_is_fast():
    """swing -> 2 threshold: the overshoot shrinks with the comparator's time."""
    over = [
        float(np.ptp(turn(Relaxation(threshold=0.2, comparator_time=t, comparator_gain=g))[0][0])) - 0.4
        for t, g in ((0.05, 20.0), (0.02, 40.0))
    ]
    assert 0.0 < over[1] < 0.5 * over[0] < 0.05


def test_relaxation_switches_conduct_a_few_per_cent_on_top():
    """Two switches, to V_DD in proportion to (1+s)/2 and to ground (1-s)/2, feed the same v (discharge 1)."""
    (v, s), _, step = turn(Relaxation())
    both = float((0.5 * (1.0 + s) * (0.5 - v)).sum()) * step / np.ptp(v)
    row = load_constants().usable("relaxation_overhead")
    assert 1.01 < both < 1.08
    assert row.low < both < row.value  # the comparator comes on top


@pytest.mark.parametrize("stages", [3, 5])
def test_ring_says_how_far_its_nodes_swing_but_not_what_an_inverter_draws(stages):
    """The tanh model bounds kappa from below and cannot give it.

    Saturated stages (gain to infinity) answer a square wave of half period ``h = N ln(1 + tanh(h/2))`` and
    reach ``tanh(h/2)`` of their rails. So a node takes the charge ``C V_DD tanh(h/2)``, at most ``C V_DD``
    (kappa 1), but the driver gives ``h/2``, which grows with N: its load is a resistor, which conducts all
    the time, unlike a CMOS inverter. Gain 10 is 1/10 from the limit.
    """
    gain = 10.0
    states, slopes, step = turn(Ring(stages=stages, gain=gain))
    half = 2.0
    for _ in range(100):
        half = stages * math.log1p(math.tanh(half / 2.0))
    into_node = 0.5 * float(np.maximum(slopes[0], 0.0).sum()) * step
    driver = 0.5 * float(np.maximum(-np.tanh(gain * states[-1]), 0.0).sum()) * step
    assert into_node == relative(math.tanh(half / 2.0), rel=1.0 / gain)
    assert driver == relative(half / 2.0, rel=1.0 / gain)
    assert into_node < 1.0 < load_constants().usable("ring_cycle_energy_factor").low
