"""Frequencies as built: codes, mismatch, parasitics, devices."""

import numpy as np
import pytest
from chip_layers import network, pair
from scipy import stats

from oscsim.circuits import CircuitDesign, lower_circuit
from oscsim.errors import LoweringError

FAMILIES = ["lc", "ring", "relaxation", "stuart_landau"]


def _frequency(circuit):
    return circuit.reduction.frequency(circuit.capacitance)


@pytest.mark.parametrize("family", FAMILIES)
def test_mismatch_moves_the_free_frequency_by_exactly_its_factor(family):
    design = CircuitDesign(family=family, frequency_mismatch=0.01, mismatch_seed=4, parasitic_ratio=0.01)
    layer = network(tokens=7)
    moved = _frequency(lower_circuit(layer, design)) / _frequency(
        lower_circuit(layer, design.only(("parasitic_ratio",)))
    )
    x = design.drawn("frequency_mismatch").standard_normal((1, 7))
    np.testing.assert_allclose(moved, 1 + 0.01 * x, rtol=1e-10)


def test_statistics_of_frequency_mismatch():
    layer = pair(tokens=40)
    perfect = _frequency(lower_circuit(layer, CircuitDesign(crossbar_size=99, coupling_bits=16, trim="free")))
    built = _frequency(lower_circuit(layer, CircuitDesign(frequency_mismatch=1e-3, trim="free")))
    x = (built / perfect - 1).ravel() / 1e-3
    assert stats.kstest(x, "norm").pvalue > 1e-3
    assert abs(np.corrcoef(x[::2], x[1::2])[0, 1]) < 4 / np.sqrt(len(x) / 2)  # both ends on their own


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("trim", ["none", "loaded"])
def test_frequency_codes(family, trim):
    design = CircuitDesign(family=family, frequency_bits=10, tuning_range=0.1, trim=trim)
    layer = network(tokens=6)
    coded, exact = lower_circuit(layer, design), lower_circuit(layer, design.only(()))
    w, step = coded.reduction.cycle.frequency, 0.1 / 511
    codes = coded.chip.tuning.codes
    wanted = exact.chip.tuning.frequency / w - 1.0
    np.testing.assert_array_equal(codes, np.rint(wanted / step))
    np.testing.assert_allclose(coded.chip.tuning.frequency / w - 1.0, codes * step, atol=1e-14)
    if trim != "none":
        np.testing.assert_allclose(_frequency(coded) / w - 1.0, codes * step, atol=1e-12)
    entries = coded.chip.entries()
    assert entries["frequency_lsb"] == pytest.approx(step) and entries["saturated_frequencies"] == 0


def test_a_load_beyond_the_tuning_range_saturates_and_is_counted():
    layer = network(tokens=6, strength=0.05, omega=np.zeros((1, 6, 1)))
    tight = CircuitDesign(family="ring", frequency_bits=8, tuning_range=1e-4)
    circuit = lower_circuit(layer, tight)
    assert circuit.chip.entries()["saturated_frequencies"] > 0
    assert np.abs(circuit.chip.tuning.codes).max() == 127


def test_parasitics_count_connected_couplers():
    layer = network(tokens=9)
    plain = CircuitDesign(trim="free", topology="kings_graph")
    loaded = lower_circuit(layer, plain.changed(parasitic_ratio=0.01))
    extra = loaded.capacitance - lower_circuit(layer, plain).capacitance
    np.testing.assert_allclose(extra[0], 0.01 * np.array([3, 5, 3, 5, 8, 5, 3, 5, 3]), atol=1e-14)


def test_a_chip_out_of_reach_is_refused():
    with pytest.raises(LoweringError, match="parasitic_ratio"):
        lower_circuit(network(tokens=25), CircuitDesign(parasitic_ratio=0.1))
    with pytest.raises(LoweringError, match="frequency_mismatch"):
        lower_circuit(pair(tokens=40), CircuitDesign(frequency_mismatch=0.1))


@pytest.mark.parametrize(
    ("family", "devices"), [("lc", 1), ("ring", 3), ("relaxation", 1), ("stuart_landau", 1)]
)
def test_device_mismatch(family, devices):
    layer = pair(tokens=30)
    assert lower_circuit(layer, CircuitDesign(family=family)).drive is None
    circuit = lower_circuit(layer, CircuitDesign(family=family, device_mismatch=0.1))
    assert circuit.drive.shape == (devices, 900, 2)
    assert abs(circuit.drive.std() - 0.1) < 0.01
    x = 0.4 * circuit.start  # off the cycle: there devices of every family matter
    nominal = circuit.oscillator.flow(x, circuit.capacitance)
    assert np.abs(circuit.oscillator.flow(x, circuit.capacitance, circuit.drive) - nominal).max() > 1e-3
