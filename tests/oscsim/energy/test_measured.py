"""A measured energy is not an estimate: no sum of the two exists, and it says what was measured."""

import json

import pytest
from relative import relative

from oscsim.counts import Counts
from oscsim.energy import EnergyError, Interval, load_constants
from oscsim.energy.baselines import gpu_estimate
from oscsim.energy.measured import MeasuredEnergy, measured_from

MEASURED = MeasuredEnergy("op", "H200", "570.1", "board", (2e-3, 4e-3, 3e-3, 9e-3), 100, 1e-5, 80.0, False)
ESTIMATE = gpu_estimate(Counts({"bytes.hbm": 1e9}), load_constants())


@pytest.mark.parametrize("other", [ESTIMATE, MEASURED, 1.0, Interval(1.0, 1.0, 1.0, 1.0)])
def test_nothing_is_added_to_a_measurement(other) -> None:
    for left, right in ((MEASURED, other), (other, MEASURED)):
        with pytest.raises(TypeError):
            left + right
    with pytest.raises(TypeError, match="have no common sum"):
        sum([MEASURED, other])
    with pytest.raises(TypeError):
        sum([other, MEASURED])
    with pytest.raises(TypeError):
        min([other, MEASURED])


def test_it_is_not_an_estimate_under_another_name() -> None:
    assert not isinstance(MEASURED, type(ESTIMATE))
    assert not set(ESTIMATE.to_json()) & {"measured_j", "standard_error_j"}
    assert "total" not in MEASURED.to_json() and "value_j" not in MEASURED.to_json()


def test_the_median_and_the_standard_error_of_the_mean() -> None:
    assert MEASURED.joules == relative(3.5e-3)
    assert MEASURED.standard_error_j == relative(1.5546e-3, rel=1e-4)
    content = json.loads(json.dumps(MEASURED.to_json()))
    assert content["idle_subtracted"] is False and content["driver"] == "570.1"
    assert "80 W idle included" in str(MEASURED) and str(MEASURED).startswith("measured:")


def test_one_sample_has_no_spread() -> None:
    with pytest.raises(EnergyError, match="two or more"):
        MeasuredEnergy("op", "H200", "570.1", "board", (2e-3,), 100, 1e-5, 80.0, False)


def test_idle_power_is_subtracted_for_the_time_of_a_run() -> None:
    assert measured_from([5.0, 7.0], [0.01, 0.02], 100.0, subtract_idle=True) == (4.0, 5.0)
    assert measured_from([5.0, 7.0], [0.01, 0.02], 100.0, subtract_idle=False) == (5.0, 7.0)
    with pytest.raises(EnergyError, match="stop what else runs"):
        measured_from([5.0], [0.1], 100.0, subtract_idle=True)
