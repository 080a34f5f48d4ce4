"""Frequency against tuning capacitance."""

import numpy as np
import pytest

from oscsim.errors import LoweringError
from oscsim.oscillators import LC, Ring, StuartLandau, UserOscillator
from oscsim.phase_reduction import reduce


@pytest.mark.parametrize(("mu", "capacitances"), [(0.3, (0.83, 1.9)), (2.0, (0.55,))])
def test_frequency_of_a_tuned_tank_is_that_of_its_own_limit_cycle(mu, capacitances):
    reduction = reduce(LC(mu=mu))
    for c in capacitances:
        # the same tank in its own units: v' = -i/c + mu (v - v^3/3)/c, i' = v, without the tuning curve
        alone = UserOscillator(lambda x, c=c: LC(mu=mu).flow(x, c), (2.0, 0.0), 7.0 * np.sqrt(c))
        own = reduce(alone).cycle.frequency
        assert reduction.frequency(np.array([c]))[0] == pytest.approx(own, rel=1e-11)


def test_tuned_is_the_inverse():
    reduction = reduce(LC(mu=0.3))
    wanted = reduction.cycle.frequency * np.linspace(0.8, 1.2, 9).reshape(3, 3)
    assert reduction.tuned(wanted).shape == (3, 3)
    np.testing.assert_allclose(reduction.frequency(reduction.tuned(wanted)), wanted, rtol=1e-13)
    assert reduction.frequency(np.ones(1))[0] == pytest.approx(reduction.cycle.frequency, rel=1e-12)
    for family in (Ring(), StuartLandau()):
        reduction = reduce(family)
        np.testing.assert_allclose(reduction.frequency(reduction.tuned(wanted)), wanted, rtol=1e-14)
        assert reduction.tuned(np.array([2.0 * reduction.cycle.frequency]))[0] == pytest.approx(0.5)


def test_what_tuning_does_not_reach_is_refused():
    reduction = reduce(LC(mu=0.3))
    with pytest.raises(LoweringError, match="make detunings smaller"):
        reduction.tuned(np.array([1.5]))
    with pytest.raises(LoweringError, match=r"expected between 0\.5 and 2"):
        reduction.frequency(np.array([0.4, 1.0]))
    with pytest.raises(LoweringError, match="tuning"):
        # a relaxation oscillator's period hardly depends on its capacitance
        strong = reduce(LC(mu=2.0))
        strong.tuned(0.7 * strong.cycle.frequency * np.ones(1))


def test_devices_shift_the_frequency_as_the_response_says():
    for family, device in ((LC(mu=0.5), 0), (Ring(), 1)):
        reduction, step = reduce(family), 1e-4
        found = []
        for sign in (1.0, -1.0):
            drive = 1.0 + sign * step * (np.arange(family.devices) == device)

            def flow(x, drive=drive, family=family):
                return family.flow(x, 1.0, np.multiply.outer(drive, np.ones(x.shape[1:])))

            own = UserOscillator(flow, tuple(reduction.cycle.states[0]), reduction.cycle.period)
            found.append(reduce(own).cycle.frequency)
        slope = (found[0] - found[1]) / (2.0 * step)
        assert reduction.device_response[device] == pytest.approx(slope, rel=1e-5)
