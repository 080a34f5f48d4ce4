"""A chip counts the same whichever simulator describes it."""

import numpy as np
import pytest

from hw_targets import get_target
from oscsim import FixedOrder, FrequencyCoupling, PhaseLayerSpec


def layer(dynamics="pair", count=3, channels=1):
    return PhaseLayerSpec(
        omega=0.01 * np.arange(count * channels, dtype=float).reshape(1, count, channels),
        theta=np.zeros((1, count, channels)), gain=[0.1], coupling=FrequencyCoupling([0.0]),
        order_parameter=FixedOrder([1.0]), dynamics=dynamics,
    )  # fmt: skip


@pytest.mark.parametrize("dynamics", ["pair", "network"])
def test_spice_and_circuit_count_the_same_chip(dynamics):
    options = {"family": "ring", "coupler": "resistor", "coupling_bits": 6}
    plans = []
    for name in ("spice", "circuit"):
        target = get_target(name)
        plans.append(target.lower(layer(dynamics), target.config(**options)).plan.counts())
    assert dict(plans[0]) == dict(plans[1]) and plans[0].details("couplers") == ("6",)


@pytest.mark.parametrize(("size", "growth"), [((6, 1), 4), ((3, 2), 1)], ids=["N^2", "D"])
def test_cells_scale_with_pairs_and_not_with_channels(size, growth):
    target = get_target("spice")
    few, many = (target.lower(layer("pair", *shape)).plan.counts() for shape in ((3, 1), size))
    assert many["oscillators"] == growth * few["oscillators"] == growth * 18


@pytest.mark.parametrize(("size", "couplers"), [((6, 1), 15), ((3, 2), 6)])
def test_networks_scale_with_pairs_and_channels(size, couplers):
    target = get_target("spice")
    many = target.lower(layer("network", *size)).plan.counts()
    assert many["oscillators"] == size[0] * size[1] and many["couplers.8"] == couplers
