"""Topology by hand: kings, strongest couplers, and cells that do not exist."""

import numpy as np
import pytest
from chip_layers import network, pair

from oscsim.circuits import CircuitDesign, lower_circuit
from oscsim.circuits.topology import kings_graph, strongest_inputs, strongest_mutual


@pytest.mark.parametrize("count", [1, 2, 3, 5, 9, 16, 17])
def test_kings_have_at_most_eight_neighbours_each_way(count):
    graph = kings_graph(count)
    assert (graph == graph.T).all() and graph.diagonal().all()
    assert graph.sum(axis=1).max() <= 9
    columns = int(np.ceil(np.sqrt(count)))
    for i in range(count):
        for j in range(count):
            far = max(abs(i // columns - j // columns), abs(i % columns - j % columns))
            assert graph[i, j] == (far <= 1)


def test_strongest_by_hand():
    strength = np.array(
        [[0.0, 5.0, 4.0, 1.0], [5.0, 0.0, 3.0, 2.0], [4.0, 3.0, 0.0, 6.0], [1.0, 2.0, 6.0, 0.0]]
    )
    # 6 joins 2-3 and 5 joins 0-1; with two places each, then 4 (0-2), no place for 3 (1-2), and 2 (1-3)
    one = strongest_mutual(strength, 1)
    assert {(int(i), int(j)) for i, j in np.argwhere(np.triu(one))} == {(2, 3), (0, 1)}
    two = strongest_mutual(strength, 2)
    assert {(int(i), int(j)) for i, j in np.argwhere(np.triu(two))} == {(2, 3), (0, 1), (0, 2), (1, 3)}
    assert strongest_inputs(strength, 1).argmax(axis=1).tolist() == [1, 0, 3, 2]
    assert (strongest_inputs(strength, 9) == (strength > 0)).all()  # nothing is made of zeros


@pytest.mark.parametrize("degree", [1, 2, 4])
def test_degree_holds_at_both_ends_of_a_resistor(degree):
    layer = network(tokens=9)
    circuit = lower_circuit(layer, CircuitDesign(topology="degree", degree=degree))
    kappa = circuit.kappa[0]
    there = kappa != 0
    np.testing.assert_array_equal(kappa, kappa.T)
    assert there.sum(axis=1).max() <= degree
    assert circuit.chip.dropped == 36 - there.sum() // 2
    assert circuit.chip.entries()["dropped_couplers"] == circuit.chip.dropped


def test_one_way_couplers_take_a_place_where_they_drive():
    design = CircuitDesign(topology="degree", degree=2, coupler="transconductance")
    circuit = lower_circuit(network(tokens=9), design)
    assert ((circuit.kappa[0] != 0).sum(axis=1) == 2).all()
    assert circuit.chip.dropped == 9 * 6


def test_cells_of_tokens_that_are_no_neighbours_do_not_exist():
    layer = pair(tokens=9)
    circuit = lower_circuit(layer, CircuitDesign(topology="kings_graph"))
    np.testing.assert_array_equal(circuit.array.cell[0] >= 0, kings_graph(9))
    assert circuit.array.batches == circuit.array.cell.max() + 1 == len(circuit.kappa)
    whole = lower_circuit(layer, CircuitDesign())
    for i, j in np.argwhere(kings_graph(9)):
        kept, same = circuit.array.cell[0, i, j], whole.array.cell[0, i, j]
        assert circuit.kappa[kept, 0, 1] == whole.kappa[same, 0, 1]
        assert circuit.detuning[kept, 0] == whole.detuning[same, 0]


def test_degree_of_a_pair_layer_is_cells_of_a_row():
    layer = pair(tokens=5)
    circuit = lower_circuit(layer, CircuitDesign(topology="degree", degree=2))
    strongest = np.argsort(-np.abs(layer.coupling.matrix[0]), axis=1)[:, :2]
    for row, cells in zip(strongest, circuit.array.cell[0], strict=True):
        assert set(row.tolist()) == set(np.flatnonzero(cells >= 0).tolist())
    assert circuit.chip.dropped == 15


def test_padding_is_no_neighbour():
    padding = np.array([False, True, False, False, True])
    left = pair(tokens=5, padding=padding)
    circuit = lower_circuit(left, CircuitDesign(topology="kings_graph"))
    valid = np.flatnonzero(~padding)
    assert (circuit.array.cell[0][np.ix_(valid, valid)] >= 0).all()  # three tokens on a 2 x 2 grid
    assert (circuit.array.cell[0, [1, 4]] == -1).all()


def test_a_held_source_lies_where_its_token_lies():
    layer = network(tokens=9, dynamics="clamped", duration=1.0)
    circuit = lower_circuit(layer, CircuitDesign(topology="kings_graph", coupler="transconductance"))
    there = circuit.kappa[0] != 0
    np.testing.assert_array_equal(there[:9, 9:], kings_graph(9))
    assert not there[9:].any() and not there[:, :9].any()
