"""Oscillator families: refused options, Jacobians, batches, tuning."""

import numpy as np
import pytest

from oscsim.errors import ConfigError
from oscsim.oscillators import LC, Relaxation, Ring, StuartLandau, UserOscillator

FAMILIES = [
    LC(mu=0.7),
    Ring(stages=5),
    Ring(coupler="resistor"),
    Relaxation(discharge=3.0),
    StuartLandau(shear=0.4),
]


def nerve(x: np.ndarray) -> np.ndarray:
    """FitzHugh's model [FITZHUGH]."""
    return np.stack([x[0] - x[0] ** 3 / 3.0 - x[1] + 0.5, 0.08 * (x[0] + 0.7 - 0.8 * x[1])])


@pytest.mark.parametrize("oscillator", FAMILIES, ids=str)
def test_jacobian_is_the_derivative_of_the_flow(oscillator):
    x = np.random.default_rng(3).uniform(-0.6, 0.6, oscillator.dimension)
    step = 1e-6 * np.eye(oscillator.dimension)
    columns = [(oscillator.flow(x + e) - oscillator.flow(x - e)) / 2e-6 for e in step]
    jacobian = oscillator.jacobian(x)
    np.testing.assert_allclose(jacobian, np.stack(columns, axis=1), atol=1e-7 * np.abs(jacobian).max())


@pytest.mark.parametrize(
    "oscillator", [*FAMILIES, UserOscillator(nerve, (0.0, 0.0), 40.0)], ids=lambda o: o.name
)
@pytest.mark.parametrize("size", [1, 3, 17])
def test_a_batch_is_its_members(oscillator, size):
    rng = np.random.default_rng(size)
    x, c = rng.uniform(-1.0, 1.0, (oscillator.dimension, size)), rng.uniform(0.8, 1.2, size)
    drive = rng.uniform(0.9, 1.1, (oscillator.devices, size))
    whole = oscillator.flow(x, c, drive)
    for k in range(size):
        alone = oscillator.flow(x[:, k], float(c[k]), drive[:, k])
        np.testing.assert_allclose(whole[:, k], alone, rtol=1e-13, atol=1e-13)
    for method in (oscillator.signal, oscillator.load, oscillator.phasor):
        np.testing.assert_allclose(method(x)[..., -1], method(x[:, -1]), rtol=1e-14)
    assert len(oscillator.signal(x)) == len(oscillator.load(x)) == len(oscillator.ports)


@pytest.mark.parametrize("oscillator", FAMILIES, ids=str)
def test_devices_at_nominal_strength_change_nothing(oscillator):
    x = np.random.default_rng(0).uniform(-1.0, 1.0, (oscillator.dimension, 4))
    assert (oscillator.flow(x) == oscillator.flow(x, 1.0, np.ones((oscillator.devices, 4)))).all()


@pytest.mark.parametrize("oscillator", [o for o in FAMILIES if o.uniform_tuning], ids=str)
def test_uniform_tuning_scales_the_whole_flow(oscillator):
    x = np.random.default_rng(1).uniform(-1.0, 1.0, (oscillator.dimension, 4))
    np.testing.assert_allclose(oscillator.flow(x, 1.3), oscillator.flow(x) / 1.3, rtol=1e-14)


def test_only_a_resistor_loads():
    x = np.ones((2, 3))
    assert (LC().load(x) == LC().signal(x)).all() and LC().reciprocal
    for one_way in (LC(coupler="transconductance"), Ring(), StuartLandau(coupler="transconductance")):
        assert not one_way.reciprocal
        assert not one_way.load(np.ones((one_way.dimension, 3))).any()


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: LC(mu=0.0), "mu: given 0"),
        (lambda: LC(mu=float("nan")), "mu: given nan"),
        (lambda: LC(coupler="inverter"), "coupler: given 'inverter' for family lc, expected one of resistor"),
        (lambda: Ring(coupler="transconductance"), "expected one of inverter, resistor"),
        (lambda: Ring(stages=4), "stages: given 4"),
        (lambda: Ring(stages=1), "stages: given 1"),
        (lambda: Ring(stages=3, gain=2.0), "stage_gain: given 2, expected more than 2.1"),
        (lambda: Relaxation(threshold=0.45), "threshold: given 0.45"),
        (lambda: Relaxation(discharge=-1.0), "discharge: given -1"),
        (lambda: Relaxation(comparator_time=float("inf")), "comparator_time: given inf"),
        (lambda: Relaxation(comparator_time=1e-5), "comparator_time: given 1e-05 of R C, expected at"),
        (lambda: Relaxation(coupler="inverter"), "for family relaxation"),
        (lambda: StuartLandau(shear=float("nan")), "shear: given nan"),
        (lambda: StuartLandau(coupler="wire"), "for family stuart_landau"),
        (lambda: UserOscillator(nerve, (0.0,), 40.0), "at least 2 state variables"),
        (lambda: UserOscillator(nerve, (0.0, 0.0), 40.0, ports=(2,)), "numbers of equations from 0 to 1"),
        (lambda: UserOscillator(nerve, (0.0, 0.0), -1.0), "period: given -1"),
        (lambda: UserOscillator(lambda x: x[:1], (0.0, 0.0), 1.0), "has to broadcast"),
        (lambda: UserOscillator(nerve, (0.0, 0.0), 1.0, output=lambda x: x), "output: given an array"),
    ],
)  # fmt: skip
def test_impossible_options_are_refused_in_words(make, words):
    with pytest.raises(ConfigError) as caught:
        make()
    assert words in str(caught.value)


@pytest.mark.parametrize("gain", [0.5, 40.0, 4000.0])
def test_comparator_folds_at_its_thresholds(gain):
    oscillator = Relaxation(threshold=0.3, comparator_gain=gain)
    s = np.linspace(0.0, 1.0, 2_000_001)[:-1]
    assert (oscillator.hysteresis * s - np.arctanh(s) / gain).max() == pytest.approx(0.3, abs=1e-9)
