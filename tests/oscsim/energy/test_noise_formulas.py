"""Phase noise of rings and tanks, variance of what is locked, bounds: identities, signs and powers."""

import numpy as np
import pytest
from relative import relative

from oscsim.energy import EnergyError, load_constants
from oscsim.energy.noise import lc, ring, thermodynamic
from oscsim.energy.noise.locked import (
    LARGEST_CORRECTION,
    allowed_diffusion,
    barrier,
    linear_error,
    locked_variance,
    slip_rate,
)
from oscsim.energy.noise.phase_noise import (
    decibel,
    diffusion_from_phase_noise,
    free_running_variance,
    from_decibel,
    phase_noise_from_diffusion,
)
from oscsim.energy.units import UnitError, magnitude, quantity
from oscsim.energy.valuation import Nominal

THERMAL, OFFSET = quantity(4.142e-21, "J"), quantity(1.0, "MHz")
RING = {
    "eta": quantity(0.8, ""), "voltage_ratio": quantity(4.0, ""), "thermal": THERMAL,
    "power": quantity(2.0, "mW"), "carrier": quantity(1.0, "GHz"), "offset": OFFSET,
}  # fmt: skip
TANK = {
    "excess": quantity(2.0, ""), "thermal": THERMAL, "power": quantity(2.0, "mW"),
    "quality": quantity(10.0, ""), "carrier": quantity(1.0, "GHz"), "offset": OFFSET,
}  # fmt: skip


def test_a_phase_noise_and_its_diffusion():
    noise = from_decibel(-112.3)
    diffusion = diffusion_from_phase_noise(noise, OFFSET)
    assert float(decibel(noise)) == relative(-112.3)
    assert float(decibel(phase_noise_from_diffusion(diffusion, OFFSET))) == relative(-112.3)
    # 20 dB per decade of offset is one and the same diffusion
    far = diffusion_from_phase_noise(from_decibel(-132.3), 10.0 * OFFSET)
    assert magnitude(far, "1/s") == relative(magnitude(diffusion, "1/s"))
    assert magnitude(free_running_variance(diffusion, quantity(2.0, "us")), "") == relative(
        2e-6 * (2e6 * np.pi) ** 2 * 10.0**-11.23
    )
    with pytest.raises(UnitError):
        decibel(quantity(1.0, "1/Hz**2"))


def test_single_sideband_is_the_two_sided_spectrum_of_a_wiener_phase():
    """A diffusing phase, its periodogram, and L = kappa^2/(2 pi df)^2 without a factor of two."""
    diffusion, dt, steps = 50.0, 1e-4, 4096
    random = np.random.default_rng(0)
    rate = np.sqrt(diffusion / dt) * random.standard_normal((400, steps))  # of the phase: white
    spectrum = dt / steps * np.mean(np.abs(np.fft.fft(rate)) ** 2, axis=0)  # two-sided density
    offset = np.fft.fftfreq(steps, dt)[37]
    expected = phase_noise_from_diffusion(quantity(diffusion, "1/s"), quantity(offset, "Hz"))
    measured = spectrum[30:60].mean() / (2.0 * np.pi * offset) ** 2
    assert measured == relative(magnitude(expected, "1/Hz"), rel=0.04)  # 1/sqrt(12000) = 0.9 %


@pytest.mark.parametrize(
    ("formula", "given", "name", "power"),
    [
        (ring.phase_noise, RING, "power", -1),
        (ring.phase_noise, RING, "carrier", 2),
        (ring.phase_noise, RING, "offset", -2),
        (ring.phase_noise, RING, "thermal", 1),
        (ring.phase_noise, RING, "voltage_ratio", 1),
        (ring.phase_noise, RING, "eta", -1),
        (lc.phase_noise, TANK, "power", -1),
        (lc.phase_noise, TANK, "carrier", 2),
        (lc.phase_noise, TANK, "offset", -2),
        (lc.phase_noise, TANK, "thermal", 1),
        (lc.phase_noise, TANK, "excess", 1),
        (lc.phase_noise, TANK, "quality", -2),
    ],
)
def test_powers(formula, given, name, power):
    ratio = formula(**{**given, name: 3.0 * given[name]}) / formula(**given)
    assert magnitude(ratio, "") == relative(3.0**power)


def test_units_are_checked():
    with pytest.raises(Exception, match="convert"):
        ring.phase_noise(**{**RING, "power": quantity(2.0, "mJ")})
    with pytest.raises(Exception, match="convert"):
        lc.phase_noise(**{**TANK, "quality": quantity(10.0, "Hz")})


@pytest.mark.parametrize("cycles", [1, 7])
def test_leeson_is_the_product_of_energy_and_variance(cycles):
    diffusion = diffusion_from_phase_noise(lc.phase_noise(**TANK), OFFSET)
    time = cycles / TANK["carrier"]
    product = TANK["power"] * time * free_running_variance(diffusion, time)
    claimed = lc.energy_times_variance(cycles, TANK["excess"], THERMAL, TANK["quality"])
    assert magnitude(claimed, "J") == relative(magnitude(product, "J"), rel=1e-12)
    assert magnitude(claimed, "J") == relative(
        cycles**2 * magnitude(lc.energy_times_variance(1, TANK["excess"], THERMAL, TANK["quality"]), "J")
    )


def test_the_cost_of_a_clock_is_its_phase_noise():
    v = Nominal(load_constants())
    powered = v("lc_efficiency") * TANK["power"]  # of the tank, for that power of the supply
    tank = {**TANK, "excess": v("excess_noise_lc"), "quality": v("tank_quality_factor"), "power": powered}
    rings = {**RING, "eta": v("ring_eta"), "voltage_ratio": v("ring_char_voltage_ratio")}
    for noise, cost in ((ring.phase_noise(**rings), ring.cost(v)), (lc.phase_noise(**tank), lc.cost(v))):
        diffusion = diffusion_from_phase_noise(noise, OFFSET)
        product = RING["power"] / RING["carrier"] ** 2 * diffusion / THERMAL
        assert magnitude(product, "") == relative(magnitude(cost, ""), rel=1e-12)


def test_a_ring_lies_above_the_thermodynamic_bound():
    """Whatever its constants: even at V_char = V_DD and eta = 1, by 4/3."""
    book = load_constants()
    for end in ("low", "high"):
        v = Nominal(book, ("ring_char_voltage_ratio", end))
        assert magnitude(ring.cost(v), "") > magnitude(thermodynamic.cost("ring"), "")
    ideal = book.chosen("ring_eta", 1.0, "", "x").chosen("ring_char_voltage_ratio", 1.0, "", "x")
    assert magnitude(ring.cost(Nominal(ideal)) / thermodynamic.cost("ring"), "") == relative(4.0 / 3.0)


def test_a_tank_may_run_below_it():
    v = Nominal(load_constants())
    assert magnitude(lc.cost(v), "") < 8.0 * np.pi**2
    with pytest.raises(EnergyError, match="stores energy"):
        thermodynamic.least_energy_times_variance("lc", 1, THERMAL)
    least = thermodynamic.least_energy_times_variance("relaxation", 3, THERMAL)
    assert magnitude(least, "J") == relative(72.0 * np.pi**2 * 4.142e-21)
    assert magnitude(thermodynamic.erasures(v, quantity(2.871e-21, "J")), "") == relative(1.0)


def test_locked_variance():
    diffusion, rate = quantity(100.0, "1/s"), quantity(1e5, "1/s")
    clean, both = (magnitude(locked_variance(diffusion, rate, r), "") for r in ("clean", "independent"))
    assert (clean, both) == relative((0.0005, 0.001))
    assert magnitude(locked_variance(diffusion, 2.0 * rate, "clean"), "") == relative(clean / 2.0)
    assert magnitude(allowed_diffusion(both, rate, "independent"), "1/s") == relative(100.0)
    with pytest.raises(EnergyError, match="given 'dirty', expected one of clean, independent"):
        locked_variance(diffusion, rate, "dirty")  # type: ignore[arg-type]


@pytest.mark.parametrize("ratio", [0.0, 0.5, 0.85, 0.9, 0.99])
def test_where_the_locked_variance_ends(ratio):
    edge = LARGEST_CORRECTION / linear_error(1.0, ratio)
    rate = quantity(1.0, "1/s")
    assert locked_variance(quantity(1.999 * edge, "1/s"), rate, "clean", ratio)
    with pytest.raises(EnergyError, match="so near the edge"):
        locked_variance(quantity(2.001 * edge, "1/s"), rate, "clean", ratio)
    assert barrier(edge, ratio) > 6.4
    with pytest.raises(EnergyError, match="locked cell has"):
        linear_error(edge, 1.0)


def potential(psi, ratio):
    return -ratio * psi - np.cos(psi)


@pytest.mark.parametrize("ratio", [0.0, 0.6, 0.9])
def test_next_order_of_the_variance(ratio):
    """Boltzmann's distribution in one well of the tilted cosine, a = 1."""
    rest, slope = np.arcsin(ratio), np.sqrt(1.0 - ratio**2)
    errors = []
    for variance in (2e-4, 4e-4):
        noise = variance * slope
        x = np.sqrt(variance) * np.linspace(-12.0, 12.0, 4001)
        weight = np.exp(-(potential(rest + x, ratio) - potential(rest, ratio)) / noise)
        mean = (weight @ x) / weight.sum()
        errors.append((weight @ (x - mean) ** 2) / weight.sum() / variance - 1.0)
        assert errors[-1] == relative(linear_error(variance, ratio), rel=0.03)
    assert errors[1] / errors[0] == relative(2.0, rel=0.03)


@pytest.mark.parametrize("ratio", [0.3, 0.8])
def test_slips(ratio):
    """Against the exact mean turning of the tilted cosine, a = 1, at a barrier of twelve times the noise."""
    slope = np.sqrt(1.0 - ratio**2)
    variance = barrier(1.0, ratio) / 12.0
    assert barrier(variance, ratio) == relative(12.0)
    rest, top = np.arcsin(ratio), np.pi - np.arcsin(ratio)
    noise = variance * slope
    assert (potential(top, ratio) - potential(rest, ratio)) / noise == relative(12.0)
    x = np.linspace(0.0, 2.0 * np.pi, 1500, endpoint=False) + 1e-3
    later = x[:, None] + x[None, :]
    inner = np.exp((potential(later, ratio) - potential(x, ratio)[:, None]) / noise).sum()
    turning = noise * (1.0 - np.exp(-2.0 * np.pi * ratio / noise)) / (inner * (x[1] - x[0]) ** 2)
    assert slip_rate(slope, variance, ratio) == relative(turning, rel=0.1)
    assert slip_rate(slope, variance, ratio) > 100.0 * slip_rate(slope, variance / 2.0, ratio)
