"""The telescoping chain: exact by construction, and its squares add up when the parts are independent."""

import dataclasses

import numpy as np
import pytest

from oscsim import FixedOrder, FrequencyCoupling, PhaseLayerSpec, SyncResult, solve
from oscsim.circuits import CircuitDesign, lower_circuit
from oscsim.convergence.chain import error_chain
from oscsim.convergence.own_law import own_answer
from oscsim.errors import ConfigError


def _layer(seed: int = 0) -> PhaseLayerSpec:
    rng = np.random.default_rng(seed)
    return PhaseLayerSpec(
        omega=rng.normal(0, 0.5, (2, 16, 1)),
        theta=np.zeros((2, 16, 1)),
        coupling=FrequencyCoupling(alpha=[0.4, 0.8]),
        gain=[1.0, 0.9],
        order_parameter=FixedOrder(r=[1.0, 1.0]),
        time_unit_s=20e-9,
    )


def _result(layer: PhaseLayerSpec, sync: np.ndarray, locked: np.ndarray) -> SyncResult:
    return dataclasses.replace(solve(layer), sync=sync, locked=locked, conditioning=None)


def test_the_links_add_up_to_the_total_and_to_its_square() -> None:
    layer = _layer()
    design = CircuitDesign(
        mu=0.1, coupling_bits=6, frequency_mismatch=2e-5, coupling_mismatch=0.01, mismatch_seed=4
    )
    own = own_answer(layer, lower_circuit(layer, design))
    noise = np.random.default_rng(1).normal(0, 1e-3, own.sync.shape)
    chain = error_chain(layer, design, _result(layer, own.sync + noise, own.locked))
    assert [link.name for link in chain.links] == ["own law", "quantised", "mismatched", "circuit"]
    assert all(link.rms > 1e-5 for link in chain.links)
    assert chain.explained == pytest.approx(1.0, abs=0.2)
    assert chain.links[-1].rms == pytest.approx(1e-3, rel=0.1)
    assert chain.compared + chain.in_band == 2 * 16 * 15


def test_a_perfect_chip_has_empty_links() -> None:
    layer, design = _layer(), CircuitDesign(family="stuart_landau")
    closed = solve(layer)
    chain = error_chain(layer, design, _result(layer, closed.sync, closed.locked))
    assert max(link.rms for link in chain.links) < 1e-11
    assert sum(link.lock_changes for link in chain.links) == 0


def test_cells_whose_lock_changed_are_counted_and_left_out() -> None:
    layer, design = _layer(), CircuitDesign(family="stuart_landau")
    closed = solve(layer)
    locked = closed.locked.copy()
    locked[0, 0, 1] = ~locked[0, 0, 1]
    chain = error_chain(layer, design, _result(layer, closed.sync, locked))
    assert chain.links[-1].lock_changes == 1 and chain.in_band >= 1


def test_a_result_of_another_layer_is_refused() -> None:
    other = _layer(1)
    closed = solve(other)
    with pytest.raises(ConfigError, match="another layer"):
        error_chain(_layer(0), CircuitDesign(), _result(other, closed.sync, closed.locked))
