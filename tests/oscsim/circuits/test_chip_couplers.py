"""Couplers as built: codes, saturation, tiles, stuck and mismatched ones."""

import numpy as np
import pytest
from chip_layers import network, pair
from scipy import stats

from oscsim import ExplicitCoupling
from oscsim.circuits import CircuitDesign, lower_circuit

MATRIX = np.array([[[1.0, 0.5, -0.2], [0.24, -0.9, 0.1], [0.9, -0.26, 0.0]]])


def _relative(circuit):
    """(N, N) couplers of a pair layer relative to the one wanted for J = 1."""
    wanted = 0.5 * circuit.natural_s / (1.0 / (2 * np.pi * 1e9 * 0.02)) / circuit.reduction.coupling.strength
    return circuit.kappa[circuit.matrix[circuit.array.cell[0]], 0, 1] / wanted


def test_codes_by_hand():
    circuit = lower_circuit(pair(tokens=3, coupling=ExplicitCoupling(MATRIX)), CircuitDesign(coupling_bits=3))
    expected = np.array([[3, 2, -1], [1, -3, 0], [3, -1, 0]])  # steps of 1/3
    np.testing.assert_array_equal(circuit.chip.couplers.codes[circuit.array.cell[0], 0, 1], expected)
    np.testing.assert_allclose(_relative(circuit), expected / 3, rtol=1e-12)
    entries = circuit.chip.entries()
    assert (entries["coupling_codes"], entries["coupling_lsb"], entries["saturated_couplers"]) == (
        3,
        1 / 3,
        0,
    )


def test_saturation_is_counted():
    design = CircuitDesign(coupling_bits=4, coupling_range=0.7)
    circuit = lower_circuit(pair(tokens=3, coupling=ExplicitCoupling(MATRIX)), design)
    assert np.abs(_relative(circuit)).max() == pytest.approx(0.7)
    assert circuit.chip.entries()["saturated_couplers"] == 3  # 1, -0.9, 0.9: one resistor per cell
    both = CircuitDesign(coupling_bits=4, coupling_range=0.7, coupler="transconductance")
    layer = pair(tokens=3, coupling=ExplicitCoupling(MATRIX))
    assert lower_circuit(layer, both).chip.entries()["saturated_couplers"] == 6


def test_equal_cells_are_counted_one_by_one():
    layer = pair(tokens=4, omega=np.zeros((1, 4, 1)), coupling=ExplicitCoupling(np.ones((1, 4, 4))))
    circuit = lower_circuit(layer, CircuitDesign(coupling_bits=4, coupling_range=0.5))
    assert circuit.array.batches == 1
    entries = circuit.chip.entries()
    assert (entries["couplers"], entries["saturated_couplers"]) == (16, 16)


def test_every_tile_has_its_own_range():
    matrix = np.ones((1, 5, 5))
    matrix[:, :3, :3], matrix[:, 3:, 3:] = 0.1, 0.02
    layer = pair(tokens=5, coupling=ExplicitCoupling(matrix * 0.9))
    single = lower_circuit(layer, CircuitDesign(coupling_bits=3))
    tiled = lower_circuit(layer, CircuitDesign(coupling_bits=3, crossbar_size=3))
    np.testing.assert_allclose(_relative(single)[:3, :3], 0.0)  # 0.1 is less than half of a third
    np.testing.assert_allclose(_relative(tiled), matrix[0] * 0.9, rtol=1e-12)
    entries = tiled.chip.entries()
    assert entries["crossbar_tiles"] == 4
    assert entries["finest_tile_lsb"] == pytest.approx(0.02 / 3)


@pytest.mark.parametrize(("tokens", "size", "tiles"), [(8, 4, 4), (9, 4, 9), (5, 8, 1)])
def test_tiles_of_a_network(tokens, size, tiles):
    layer = network(tokens=tokens, heads=2, channels=3)
    design = CircuitDesign(coupling_bits=4, crossbar_size=size)
    circuit = lower_circuit(layer, design)
    assert circuit.chip.entries()["crossbar_tiles"] == tiles * 2 * 3
    lsb, wanted = circuit.chip.couplers.lsb, lower_circuit(layer, CircuitDesign()).kappa
    part = np.abs(wanted[1, :size, :size]).max()
    assert lsb[1, 0, 0] == pytest.approx(part / 7)
    assert np.abs(circuit.kappa - wanted).max() <= lsb.max() / 2 * (1 + 1e-9)


def test_a_clamped_layer_has_tiles_of_driven_rows_and_held_columns():
    layer = network(tokens=5, dynamics="clamped", duration=1.0)
    design = CircuitDesign(coupling_bits=6, crossbar_size=3, coupler="transconductance")
    circuit = lower_circuit(layer, design)
    assert circuit.chip.entries()["crossbar_tiles"] == 4
    assert (circuit.kappa[0, 5:] == 0).all() and (circuit.kappa[0, :5, 5:] != 0).sum() > 20


@pytest.mark.parametrize("name", ["coupling_mismatch", "missing_couplers"])
def test_a_resistor_is_one_coupler_and_two_transconductances_are_two(name):
    for layer in (network(tokens=9, channels=2), pair(tokens=5)):
        resistor = lower_circuit(layer, CircuitDesign(**{name: 0.2})).kappa
        np.testing.assert_array_equal(resistor, resistor.transpose(0, 2, 1))
        one_way = lower_circuit(layer, CircuitDesign(**{name: 0.2}, coupler="transconductance")).kappa
        assert (one_way != one_way.transpose(0, 2, 1)).any()


def test_channels_have_couplers_of_their_own():
    circuit = lower_circuit(network(tokens=4, channels=3), CircuitDesign(coupling_mismatch=0.1))
    assert circuit.kappa.shape == (3, 4, 4) and circuit.matrix.tolist() == [0, 1, 2]
    assert (circuit.kappa[0] != circuit.kappa[1]).sum() == 12


def test_statistics_of_mismatch():
    layer = pair(tokens=48)
    wanted = lower_circuit(layer, CircuitDesign(crossbar_size=48, coupling_bits=16)).kappa[:, 0, 1]
    built = lower_circuit(layer, CircuitDesign(coupling_mismatch=0.1, mismatch_seed=3)).kappa[:, 0, 1]
    x = (built / wanted - 1.0)[np.abs(wanted) > 0.1 * np.abs(wanted).max()] / 0.1
    assert abs(x.mean()) < 4 / np.sqrt(len(x)) and abs(x.std() - 1) < 4 / np.sqrt(2 * len(x))
    assert stats.kstest(x, "norm").pvalue > 1e-3


def test_missing_couplers_are_a_binomial_share_and_counted():
    circuit = lower_circuit(pair(tokens=40), CircuitDesign(missing_couplers=0.1, missing_seed=2))
    lost = circuit.chip.entries()["missing_couplers"]
    assert lost == (circuit.kappa[:, 0, 1] == 0).sum()
    assert abs(lost - 160) < 4 * np.sqrt(160 * 0.9)
    assert (lower_circuit(pair(), CircuitDesign(missing_couplers=1.0)).kappa == 0).all()
