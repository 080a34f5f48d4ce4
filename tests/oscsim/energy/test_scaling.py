"""The scaling rule: published nodes exactly, monotone between, refused outside."""

import numpy as np
import pytest
from relative import relative

from oscsim.energy import load_constants
from oscsim.energy.constants import ConstantError
from oscsim.energy.scaling import (
    FIN_NM,
    PLANAR_NM,
    RULE,
    energy_factor,
    gate_capacitance,
    supply_voltage,
    width_factor,
)
from oscsim.energy.units import magnitude
from oscsim.energy.valuation import Draws, Nominal

BOOK = load_constants()


@pytest.fixture
def v():
    return Nominal(BOOK)


def femto(node, v):
    return float(magnitude(gate_capacitance(node, v), "fF/um"))


@pytest.mark.parametrize("node", PLANAR_NM)
def test_published_nodes_are_exact(node, v):
    assert femto(node, v) == relative(1e15 * BOOK[f"gate_cap_per_width_{node:g}nm"].value, rel=1e-12)
    assert float(magnitude(supply_voltage(node, v), "V")) == BOOK[f"supply_{node:g}nm"].value
    assert set(v.used) == {f"gate_cap_per_width_{node:g}nm", f"supply_{node:g}nm"}


def test_monotone_and_without_jumps_between(v):
    nodes = np.linspace(22.0, 65.0, 60)
    for values in ([femto(node, v) for node in nodes], [supply_voltage(node, v).magnitude for node in nodes]):
        steps = np.diff(np.asarray(values, dtype=float))
        assert np.all(steps > 0.0) and np.max(steps) < 0.03


def test_between_nodes_a_straight_line_in_logarithms(v):
    middle = float(np.sqrt(45.0 * 65.0))
    assert femto(middle, v) == relative(np.sqrt(femto(45, v) * femto(65, v)), rel=1e-12)


@pytest.mark.parametrize(("node", "attofarad", "micrometer"), [(14, 103.8, 0.092), (7, 100.5, 0.107)])
def test_fins_at_their_own_nodes(node, attofarad, micrometer, v):
    assert femto(node, v) == relative(1e-3 * attofarad / micrometer, rel=1e-12)
    assert float(magnitude(supply_voltage(node, v), "V")) == BOOK[f"supply_{node}nm"].value


@pytest.mark.parametrize("node", [130, 90, 65.1, 21.9, 16, 10, 5, 250])
def test_refused_outside_with_rule_range_and_advice(node, v):
    for asked in (
        gate_capacitance,
        lambda n, v: energy_factor(65, n, v),
        lambda n, v: energy_factor(n, 65, v),
    ):
        with pytest.raises(ConstantError, match=RULE) as caught:
            asked(node, v)
        message = str(caught.value)
        assert f"given {node:g} nm" in message and "from 22 to 65 nm" in message and ";" in message


def test_nothing_is_carried_over_from_the_ring_fit(v):
    assert float(magnitude(supply_voltage(250, v), "V")) == 2.5
    with pytest.raises(ConstantError, match="its own fit"):
        energy_factor(250, 65, v)


@pytest.mark.parametrize("node", FIN_NM)
def test_no_factor_between_planar_and_fins(node, v):
    with pytest.raises(ConstantError, match="in fins"):
        energy_factor(65, node, v)
    with pytest.raises(ConstantError, match="in fins"):
        width_factor(node, 65)


def test_energy_factor_is_width_times_capacitance_times_supply_squared(v):
    expected = (32 / 65) * (femto(32, v) / femto(65, v)) * (0.9 / 1.1) ** 2
    assert float(energy_factor(65, 32, v).magnitude) == relative(expected, rel=1e-12)
    there, back = energy_factor(65, 28, v), energy_factor(28, 65, v)
    assert float((there * back).magnitude) == relative(1.0, rel=1e-12)
    assert float(energy_factor(45, 45, v).magnitude) == 1.0


def test_draws_stay_draws():
    values = magnitude(gate_capacitance(28, Draws(BOOK)), "fF/um")
    assert values.shape == (4000,) and np.all(np.isfinite(values)) and values.min() > 0.8
