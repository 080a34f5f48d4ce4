"""Levels of description, and that every knob moves what a chip reads out."""

import dataclasses

import numpy as np
import pytest
from chip_layers import network, pair

from oscsim import SyncStatus, pair_terms, solve
from oscsim.circuits import CircuitDesign, lower_circuit
from oscsim.errors import ConfigError
from oscsim.monte_carlo import LEVELS, Point, Study, read_chips, sweep
from oscsim.oscillators import LC, Ring, UserOscillator
from oscsim.phase_reduction import PairLaw, locked_phases, reduce

KNOBS = [
    {"coupling_bits": 3}, {"coupling_bits": 6, "coupling_range": 0.5}, {"frequency_bits": 6},
    {"frequency_mismatch": 1e-3}, {"coupling_mismatch": 0.05}, {"readout_bits": 5},
    {"coupling_delay_s": 1e-10}, {"parasitic_ratio": 0.02}, {"missing_couplers": 0.3},
    {"topology": "kings_graph"}, {"topology": "degree", "degree": 2},
    {"coupling_bits": 4, "crossbar_size": 2}, {"frequency_mismatch": 1e-3, "mismatch_seed": 3},
    {"missing_couplers": 0.3, "missing_seed": 3},
]  # fmt: skip


# one that locks: quickly at rest
STRONG = network(
    tokens=6, omega=0.04 * np.arange(6.0)[None, :, None],
    coupling=1.0 + 0.1 * np.add.outer(np.arange(6), np.arange(6))[None] % 0.7,
)  # fmt: skip


@pytest.mark.parametrize("layer", [pair(tokens=6), STRONG], ids=["pair", "network"])
def test_every_knob_moves_the_answer(layer):
    def read(options):
        (found,) = read_chips(layer, [CircuitDesign(**options)], "ideal")
        return found.sync

    answers = [read({})] + [read(options) for options in KNOBS]
    for options, answer in zip(KNOBS, answers[1:], strict=True):
        # equal parasitics on both ends of a pair change its mismatch by one per cent of itself
        assert np.abs(answer - answers[0]).max() > 1e-5, options
    different = {answer.tobytes() for answer in answers}
    assert len(different) == len(answers)


def test_a_perfect_ideal_chip_is_the_closed_form():
    layer = pair(tokens=9, mask="causal", padding=np.arange(9) == 7)
    (found,) = read_chips(layer, [CircuitDesign()], "ideal")
    reference = solve(layer)
    np.testing.assert_array_equal(found.locked, reference.locked)
    np.testing.assert_allclose(found.sync, reference.sync, atol=1e-7)  # cells near the edge of locking


@pytest.mark.parametrize(("family", "floor"), [("lc", 2e-3), ("ring", 3e-2), ("stuart_landau", 1e-7)])
def test_the_phase_level_has_the_floor_of_the_family(family, floor):
    layer = pair(tokens=9)
    (found,) = read_chips(layer, [CircuitDesign(family=family)], "phase")
    error = np.abs(found.sync - solve(layer).sync)[found.locked]
    assert np.median(error) < floor
    assert family == "stuart_landau" or np.median(error) > 1e-6


def test_a_network_at_rest_is_the_exact_locked_state():
    layer = network(tokens=5, omega=0.05 * np.arange(5.0)[None, :, None], coupling=np.ones((1, 5, 5)))
    (found,) = read_chips(layer, [CircuitDesign()], "ideal")
    off = ~np.eye(5, dtype=bool)
    np.testing.assert_allclose(found.sync[0][off], solve(layer).sync[0][off], atol=1e-6)
    assert found.settled and found.locked[0][off].all() and found.weight is None


def test_chips_of_a_network_do_not_depend_on_their_neighbours():
    layer = network(tokens=5, heads=2, channels=2, coupling=np.ones((2, 5, 5)))
    designs = [CircuitDesign(frequency_mismatch=1e-3, coupling_mismatch=0.05).chip(k) for k in range(3)]
    together = read_chips(layer, designs, "phase")
    (alone,) = read_chips(layer, designs[1:2], "phase")
    np.testing.assert_allclose(together[1].sync, alone.sync, atol=1e-6)
    assert np.abs(together[0].sync - together[1].sync).max() > 1e-4


def test_cells_that_are_off_read_nothing():
    layer = pair(tokens=4)
    (found,) = read_chips(layer, [CircuitDesign(missing_couplers=1.0)], "phase")
    off = ~np.eye(4, dtype=bool)
    assert not found.locked[0][off].any() and (found.sync[0][off] == 0.0).all()
    assert found.locked[0].diagonal().all()  # without mismatch nothing rotates
    (found,) = read_chips(layer, [CircuitDesign(missing_couplers=1.0, frequency_mismatch=1e-3)], "phase")
    assert not found.locked.any() and (found.weight == 0.0).all()


@pytest.mark.parametrize("mu", [0.1, 0.3])
def test_device_shift_of_an_lc_is_that_of_its_frequency(mu):
    (shift,) = reduce(LC(mu=mu)).device_response
    assert shift == pytest.approx(-(mu**2) / 8, rel=mu**2)
    more, less = (reduce(LC(mu=mu * (1 + s))).cycle.frequency for s in (1e-3, -1e-3))
    assert shift == pytest.approx((more - less) / 2e-3, rel=1e-5)


def test_device_shift_of_a_ring_is_the_same_for_every_stage():
    shift = reduce(Ring(stages=3)).device_response
    assert shift == pytest.approx(np.full(3, shift[0]), rel=1e-6) and abs(shift[0]) > 1e-3


def test_device_mismatch_moves_a_ring_as_far_as_its_own_limit_cycle():
    layer, family = pair(tokens=3, mask="causal"), Ring(stages=3)
    design = CircuitDesign(family="ring", device_mismatch=0.01)
    circuit, reduction = lower_circuit(layer, design), reduce(family)
    assert circuit.drive is not None
    row, column = np.tril_indices(3, -1)
    batch = circuit.array.cell[0, row, column]

    def free(k, n):
        drive = circuit.drive[:, k, n]
        made = UserOscillator(
            lambda x: family.flow(x, circuit.capacitance[k, n], drive.reshape(3, *[1] * (x.ndim - 1))),
            initial=tuple(family.start()), period=family.period_estimate(),
        )  # fmt: skip
        return reduce(made).cycle.frequency

    detuning = np.array([free(k, 0) - free(k, 1) for k in batch])
    nominal = circuit.reduction.frequency(circuit.capacitance[batch])
    assert np.abs(detuning - (nominal[:, 0] - nominal[:, 1])).max() > 1e-4 * reduction.cycle.frequency
    kappa = circuit.kappa[circuit.matrix[batch]]
    law = PairLaw(detuning, kappa[:, 0, 1], kappa[:, 1, 0], reduction.coupling)
    found = locked_phases(law, circuit.array.start[batch] @ [1.0, -1.0])
    (reading,) = read_chips(layer, [design], "phase")
    np.testing.assert_array_equal(reading.locked[0, row, column], found.locked)
    assert found.locked.any()
    coupling = pair_terms.coupling(layer)[0, row, column]
    np.testing.assert_allclose(reading.sync[0, row, column], coupling * found.mean_cosine, atol=2e-3)


@pytest.mark.parametrize(("level", "options"), [
    ("ideal", {"mu": 0.2}), ("ideal", {"device_mismatch": 0.1}), ("phase", {"noise_a_per_sqrt_hz": 1e-12}),
    ("phase", {"voltage_v": 1.0}), ("ideal", {"trim": "none"}), ("phase", {"max_cycles": 100.0}),
    ("sine", {}),
])  # fmt: skip
def test_what_a_level_would_ignore_is_refused(level, options):
    with pytest.raises(ConfigError, match=next(iter(options), "level")):
        Study(pair(), level, [Point("x", CircuitDesign(**options))])


def test_clamped_layers_and_circuits_need_a_simulator():
    clamped = network(dynamics="clamped", duration=1.0)
    with pytest.raises(ConfigError, match="clamped"):
        read_chips(clamped, [CircuitDesign()], "phase")
    with pytest.raises(ConfigError, match="simulator"):
        read_chips(pair(), [CircuitDesign()], "circuit")
    assert list(LEVELS) == ["ideal", "phase", "circuit"]


def test_level_circuit_scores_what_the_simulator_returns():
    layer, seen = pair(tokens=5), []

    def simulate(spec, design):
        seen.append(design.mismatch_seed)
        assert lower_circuit(spec, design).chip.design is design
        status = SyncStatus.NOT_CONVERGED if design.mismatch_seed == 1 else SyncStatus.SETTLED
        return dataclasses.replace(solve(spec), status=status)

    study = Study(layer, "circuit", [Point("x", CircuitDesign(coupling_mismatch=0.1, max_cycles=50.0))], 3)
    (row,) = sweep(study, simulate=simulate)
    assert seen == [0, 1, 2] and row.unsettled == pytest.approx(1 / 3)
    assert (row.agreement, row.error) == (1.0, 0.0) and 0.01 < row.built_error < 0.1
