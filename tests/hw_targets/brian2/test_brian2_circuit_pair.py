"""Pairs of real oscillators: against the closed form, their own coupling function, and their decisions."""

import numpy as np
import pytest

from hw_targets.registry import get_target
from oscsim import ExplicitCoupling, FixedOrder, PhaseLayerSpec, SyncStatus, compare, solve
from oscsim.circuits import lower_circuit
from oscsim.phase_reduction.locking import PairLaw, locked_phases
from oscsim.target import ConvergenceWarning

TARGET = get_target("circuit")
CARRIER = 1e9


def layer(ratios, epsilon, j=1.0):
    """One head per ratio d/a, two tokens each: the off-diagonal cells have that ratio."""
    omega = np.zeros((len(ratios), 2, 1))
    omega[:, 1, 0] = np.array(ratios) * abs(j)
    return PhaseLayerSpec(
        omega=omega,
        theta=np.zeros_like(omega),
        gain=np.ones(len(ratios)),
        coupling=ExplicitCoupling(np.full((len(ratios), 2, 2), j)),
        order_parameter=FixedOrder(r=np.ones(len(ratios))),
        time_unit_s=1.0 / (2.0 * np.pi * CARRIER * epsilon),
        carrier_hz=CARRIER,
    )


def run(ratios, epsilon, j=1.0, **options):
    spec = layer(ratios, epsilon, j)
    config = TARGET.config(**options)
    return spec, config, TARGET.lower(spec, config).run()


def own_cosine(spec, config):
    """<cos psi> of the off-diagonal cells by the family's own coupling function."""
    circuit = lower_circuit(spec, config)
    couplers, free = circuit.kappa[circuit.matrix], circuit.detuning
    law = PairLaw(free[:, 0] - free[:, 1], couplers[:, 0, 1], couplers[:, 1, 0], circuit.coupling)
    state = locked_phases(law, circuit.array.start[:, 0] - circuit.array.start[:, 1])
    return state.locked[circuit.array.cell[:, 0, 1]], state.mean_cosine[circuit.array.cell[:, 0, 1]]


RATIOS = [0.3, 0.6, 0.8, 0.95, 1.05, 2.0]


@pytest.mark.parametrize("epsilon", [0.034, 0.01])
def test_weak_lc_meets_the_closed_form(epsilon):
    """Epsilon/mu of 0.34 and 0.1: 2e-3 up to d/a = 0.8, 8e-3 at 0.95."""
    spec, _, result = run(RATIOS, epsilon, mu=0.1)
    exact = solve(spec)
    error = np.abs(result.sync - exact.sync)[:, 0, 1]
    assert result.status is SyncStatus.SETTLED
    assert np.all(error[:3] <= 2e-3) and error[3] <= 8e-3 and np.all(error[4:] <= 2e-3), error
    assert np.array_equal(result.locked, exact.locked)
    assert compare(result, exact).status == "conforms"


def test_weak_lc_meets_its_own_law():
    spec, config, result = run([0.3, 0.6, 0.8, 0.9, 0.95], 0.01, mu=0.1, phase_accuracy=3e-5)
    locked, cosine = own_cosine(spec, config)
    assert locked.all() and result.locked.all()
    error = np.abs(result.sync[:, 0, 1] - cosine)
    assert np.all(error <= 1e-3), error
    assert error[2] < error[4]  # the error grows towards the edge: it is one of first order in epsilon


@pytest.mark.parametrize("epsilon", [0.1, 0.03])
def test_stronger_lc_decides_at_the_edge(epsilon):
    spec, config, result = run([0.95, 1.05], epsilon, mu=0.3)
    assert result.locked[:, 0, 1].tolist() == [True, False]
    assert own_cosine(spec, config)[0].tolist() == [True, False]


# three times the errors measured at d/a = 0.8 (the figures of docs/circuits.md)
OWN_LAW = {
    "ring": ({"family": "ring"}, 0.03, [0.3, 0.8], 3 * 5e-3),
    "ring_strong": ({"family": "ring"}, 0.1, [0.3, 0.8], 3 * 1.9e-2),
    "relaxation": ({"family": "relaxation", "phase_accuracy": 1e-3}, 0.1, [0.6, 0.8], 3 * 1e-2),
    "stuart_landau": ({"family": "stuart_landau"}, 0.1, [0.6, 0.95, 1.3], 1e-4),
    "sheared": ({"family": "stuart_landau", "shear": 0.5}, 0.03, [0.6, 0.8], 5e-3),
}


@pytest.mark.parametrize("case", OWN_LAW)
def test_families_meet_their_own_law(case):
    options, epsilon, ratios, bound = OWN_LAW[case]
    spec, config, result = run(ratios, epsilon, **options)
    locked, cosine = own_cosine(spec, config)
    assert np.array_equal(result.locked[:, 0, 1], locked)
    assert np.all(np.abs(result.sync[:, 0, 1] - np.abs(cosine)) <= bound)
    assert compare(result, solve(spec)).status in ("conforms", "no_promise")


def test_crossed_couplers_lock_in_antiphase():
    _, _, positive = run([0.0, 0.6], 0.03, j=0.5)
    spec, _, negative = run([0.0, 0.6], 0.03, j=-0.5)
    assert np.allclose(negative.sync, positive.sync, atol=2e-4)
    assert compare(negative, solve(spec)).status == "conforms"


def test_nothing_drives_and_nothing_moves():
    omega = np.array([[[0.0], [0.0], [1.0]]])
    spec = layer([0.0], 0.03).replace(
        omega=omega,
        theta=np.zeros_like(omega),
        coupling=ExplicitCoupling([[[1.0, 0.0, 1.0], [0.0, 0.5, 0.0], [2.0, 0.0, 1.0]]]),
        padding=np.array([False, False, False]),
        mask="causal",
        values=np.ones((1, 3, 1)),
    )
    result = TARGET.lower(spec, TARGET.config(mu=0.3, max_cycles=1000.0)).run()
    exact = solve(spec)
    assert np.array_equal(result.locked, exact.locked)
    assert np.allclose(result.sync, exact.sync, atol=1e-2)
    assert np.all(result.sync[:, ~np.tri(3, dtype=bool)] == 0.0)


def test_what_has_not_settled_is_said():
    with pytest.warns(ConvergenceWarning, match="neither at rest nor averaged"):
        _, _, result = run([0.9, 1.1], 0.01, mu=0.1, max_cycles=40.0)
    assert result.status is SyncStatus.NOT_CONVERGED
    assert not result.locked[:, 0, 1].any()


@pytest.mark.parametrize(("d", "j"), [(0.0, 1e-9), (1e-9, 0.0), (2e-9, 1e-9)])
def test_slow_pairs_are_neither_at_rest_nor_turning(d, j):
    spec = layer([0.0], 0.03, j).replace(
        omega=np.array([[[0.0], [d]]]), psi_0=np.array([[[0.0, 1.0], [1.0, 0.0]]]),
        coupling=ExplicitCoupling([[[1.0, j], [j, 1.0]]]),
    )  # fmt: skip
    with pytest.warns(ConvergenceWarning, match="1 circuits neither at rest nor averaged"):
        result = TARGET.lower(spec, TARGET.config(family="stuart_landau", max_cycles=400.0)).run()
    assert result.status is SyncStatus.NOT_CONVERGED and not result.locked[0, 0, 1]


def test_equal_pairs_without_coupler_rest():
    spec = layer([0.0], 0.03).replace(coupling=ExplicitCoupling([np.eye(2)]))
    result = TARGET.lower(spec, TARGET.config(mu=0.3, max_cycles=400.0)).run()
    assert result.status is SyncStatus.SETTLED and result.locked.all()


def test_collapsed_amplitudes_are_no_decision():
    """Coupling as strong as the contraction: an unlocked pair loses its amplitude [the range LC refuses]."""
    with pytest.warns(ConvergenceWarning, match="amplitude collapsed"):
        _, _, result = run([1.6], 0.098, mu=0.1, max_cycles=300.0)
    assert result.status is SyncStatus.NOT_CONVERGED
    assert not result.locked[0, 0, 1] and result.sync[0, 0, 1] == 0.0


def test_only_cells_near_the_edge_run_long():
    spec = layer([0.1, 0.2, 0.3, 1.001], 0.03)
    classes = TARGET.lower(spec).plan["classes"]
    cycles = sum(part["oscillator_cycles"] for part in classes.values())
    longest = max(part["predicted_cycles"] for part in classes.values())
    assert cycles < 2.0 * 9 * longest / 2
