"""Cells on their own clock, and the physical scale at which a family represents a layer."""

import numpy as np
import pytest

from oscsim import ExplicitCoupling, FixedOrder, FrequencyCoupling, PhaseLayerSpec
from oscsim.circuits import CircuitDesign, lower_circuit, oscillator_array
from oscsim.circuits.fit import fitted
from oscsim.circuits.timing import predicted_cycles
from oscsim.convergence.own_law import own_answer
from oscsim.errors import LoweringError


def _layer(**changes) -> PhaseLayerSpec:
    rng = np.random.default_rng(2)
    given = {
        "omega": rng.normal(0, 0.7, (2, 6, 1)),
        "theta": rng.uniform(-1, 1, (2, 6, 1)),
        "coupling": FrequencyCoupling(alpha=[0.5, 4.0]),
        "gain": [1.0, 3.0],
        "order_parameter": FixedOrder(r=[1.0, 0.5]),
        "time_unit_s": 30e-9,
    }
    return PhaseLayerSpec(**{**given, **changes})


def test_own_clocks_keep_d_over_a_and_make_all_cells_equally_fast() -> None:
    layer = _layer()
    slow, fast = oscillator_array(layer), oscillator_array(layer, own_clock=True)
    assert np.array_equal(slow.cell, fast.cell)

    def rates(array):
        return array.detuning[:, 0] - array.detuning[:, 1], 2 * array.pull[:, 0, 1]

    (d, a), (d_own, a_own) = rates(slow), rates(fast)
    moving = np.maximum(d, np.abs(a)) > 0
    assert np.allclose(np.arctan2(d_own, a_own)[moving], np.arctan2(d, a)[moving], rtol=1e-12, atol=0)
    assert np.allclose(np.maximum(d_own, np.abs(a_own))[moving], np.abs(a).max(), rtol=1e-12)


def test_cells_without_any_rate_stay_as_they_are() -> None:
    layer = _layer(coupling=ExplicitCoupling(matrix=np.zeros((2, 6, 6))))
    array = oscillator_array(layer, own_clock=True)
    assert np.array_equal(array.detuning, oscillator_array(layer).detuning)


def test_the_answer_is_the_same_and_comes_sooner() -> None:
    layer = _layer()
    answers, cycles = [], []
    for clock in ("layer", "own"):
        circuit = lower_circuit(layer, CircuitDesign(mu=0.3, cell_clock=clock))
        answers.append(own_answer(layer, circuit))
        cycles.append(predicted_cycles(circuit).sum())
    assert np.abs(answers[0].sync - answers[1].sync).max() < 1e-9
    assert (answers[0].locked == answers[1].locked).all()
    assert cycles[1] < 0.8 * cycles[0]


@pytest.mark.parametrize("dynamics", ["network", "clamped"])
def test_only_pair_cells_have_clocks_of_their_own(dynamics: str) -> None:
    with pytest.raises(LoweringError, match="cell_clock: given own"):
        lower_circuit(_layer(dynamics=dynamics), CircuitDesign(cell_clock="own"))


@pytest.mark.parametrize("clock", ["layer", "own"])
def test_a_fitted_layer_lowers_without_a_warning_and_a_faster_one_does_not(clock: str) -> None:
    design = CircuitDesign(mu=0.1, cell_clock=clock)
    layer = fitted(_layer(), design)
    assert lower_circuit(layer, design).warnings == ()
    faster = layer.replace(time_unit_s=0.8 * layer.time_unit_s)
    try:
        assert lower_circuit(faster, design).warnings != ()
    except LoweringError as error:
        assert "nearest valid" in str(error)


def test_a_layer_that_never_moves_fits_as_it_is() -> None:
    still = _layer(omega=np.zeros((2, 6, 1)), gain=[0.0, 0.0])
    assert fitted(still, CircuitDesign()) == still
