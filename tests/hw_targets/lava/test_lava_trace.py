"""A trace shows what a run without one computes, in both number formats."""

import numpy as np
import pytest

from hw_targets import get_target
from hw_targets.lava.config import LavaConfig
from hw_targets.lava.plan import lower
from hw_targets.lava.program import NETWORK_ROWS, ROWS
from hw_targets.lava.recording import recorded
from hw_targets.lava.trace import traced_cells, traced_network

FORMATS = pytest.mark.parametrize("number_format", ["fixed_point", "floating_point"])


@FORMATS
@pytest.mark.parametrize("integrator", ["runge_kutta", "euler"])
def test_the_last_record_of_cells_is_that_of_the_run(small_layer, number_format, integrator):
    config = LavaConfig(number_format=number_format, integrator=integrator)
    trace = traced_cells(lower(small_layer("pair"), config))
    with recorded() as recording:
        get_target("lava").lower(small_layer("pair"), config).run()
    assert trace.shape == (recording.lava_steps, len(ROWS), 4)
    np.testing.assert_array_equal(trace[-1:], recording.messages)


@FORMATS
@pytest.mark.parametrize(("integrator", "stages"), [("runge_kutta", 4), ("euler", 1)])
def test_the_phases_of_a_network_are_those_of_the_run(small_layer, number_format, integrator, stages):
    config = LavaConfig(number_format=number_format, integrator=integrator)
    with recorded() as recording:
        get_target("lava").lower(small_layer("network"), config).run()
    phases = np.concatenate(recording.messages)[:20]
    trace = traced_network(lower(small_layer("network"), config), 1 + 20 * stages)
    theta = trace[:, NETWORK_ROWS.index("theta")]
    np.testing.assert_array_equal(theta[stages::stages], phases)
