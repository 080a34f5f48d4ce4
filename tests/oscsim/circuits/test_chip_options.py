"""Options of a chip: none is ignored, and every imperfection has random numbers of its own."""

import numpy as np
import pytest
from chip_layers import network, pair

from oscsim.circuits import CircuitDesign, lower_circuit
from oscsim.circuits.imperfections import Imperfections
from oscsim.errors import ConfigError

RANDOM = {
    "frequency_mismatch": 0.01, "coupling_mismatch": 0.05, "device_mismatch": 0.03, "missing_couplers": 0.2,
}  # fmt: skip


@pytest.mark.parametrize("options", [
    {"degree": 3}, {"topology": "degree"}, {"topology": "kings_graph", "degree": 2}, {"coupling_range": 0.5},
    {"crossbar_size": 4}, {"mismatch_seed": 1}, {"missing_seed": 2}, {"noise_seed": 3},
    {"missing_seed": 1, "coupling_mismatch": 0.1}, {"coupling_bits": 1}, {"frequency_mismatch": 0.5},
    {"missing_couplers": 1.1}, {"no_such": 1}, {"topology": "ring"},
])  # fmt: skip
def test_what_would_do_nothing_is_refused(options):
    with pytest.raises(ConfigError, match=next(iter(options))):
        CircuitDesign().changed(**options)


def test_the_reason_is_the_message():
    with pytest.raises(ConfigError, match=r"^option 'crossbar_size': given 4 without coupling_bits"):
        CircuitDesign().changed(crossbar_size=4)


def _parts(circuit):
    kappa = circuit.kappa[circuit.matrix]
    return {
        "frequency_mismatch": circuit.capacitance,
        "coupling_mismatch": kappa / np.where(kappa == 0, 1, kappa),  # which are there
        "device_mismatch": circuit.drive,
        "missing_couplers": kappa == 0,
    }


@pytest.mark.parametrize("layer", [pair(), network()])
def test_turning_one_on_changes_no_number_of_another(layer):
    every = CircuitDesign(**RANDOM, trim="free", mismatch_seed=5, missing_seed=6)
    together = lower_circuit(layer, every)
    for name in ("frequency_mismatch", "device_mismatch", "missing_couplers"):
        alone = lower_circuit(layer, every.only((name,)))
        np.testing.assert_array_equal(_parts(alone)[name], _parts(together)[name])
    kappa = lower_circuit(layer, every.only(("coupling_mismatch",))).kappa
    there = together.kappa != 0
    np.testing.assert_array_equal(kappa[there], together.kappa[there])


@pytest.mark.parametrize("name", RANDOM)
def test_a_seed_is_a_chip(name):
    design = CircuitDesign(**{name: RANDOM[name]})
    first, again, other = (lower_circuit(pair(), chip) for chip in (design, design.chip(0), design.chip(1)))
    for left, right in ((first.kappa, again.kappa), (first.capacitance, again.capacitance)):
        np.testing.assert_array_equal(left, right)
    same = np.array_equal(first.kappa, other.kappa) and np.array_equal(first.capacitance, other.capacitance)
    assert not same or not np.array_equal(first.drive, other.drive)


def test_streams_of_one_seed_differ():
    numbers = [Imperfections(**{name: 0.1}).drawn(name).random(4).tolist() for name in RANDOM]
    assert len({tuple(row) for row in numbers}) == len(RANDOM)


def test_only_keeps_what_belongs_to_it():
    design = CircuitDesign(coupling_bits=4, coupling_range=0.5, crossbar_size=4, topology="degree", degree=3,
                           frequency_mismatch=0.01, mismatch_seed=7, mu=0.2)  # fmt: skip
    assert design.imperfect == ("coupling_bits", "frequency_mismatch", "topology")
    codes = design.only(("coupling_bits",))
    assert (codes.coupling_range, codes.crossbar_size, codes.seeds, codes.mu) == (0.5, 4, {}, 0.2)
    assert design.only(("topology",)).degree == 3
    assert design.only(("frequency_mismatch",)).seeds == {"mismatch_seed": 7}
    assert design.only(()) == CircuitDesign(mu=0.2)
    assert design.only(design.imperfect) == design


def test_chips_count_from_the_seed_and_wrap_around():
    design = CircuitDesign(missing_couplers=0.1, missing_seed=2**32 - 1)
    assert (design.chip(1).missing_seed, design.chip(1).mismatch_seed) == (0, 0)


def test_a_perfect_chip_merges_equal_cells_and_a_random_one_does_not():
    layer = pair(tokens=6, asymmetric=False)
    assert lower_circuit(layer, CircuitDesign(topology="all")).array.batches < 36
    assert lower_circuit(layer, CircuitDesign(frequency_mismatch=1e-3)).array.batches == 36
