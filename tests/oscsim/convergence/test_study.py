"""What a study says about circuits that obey, and about circuits that do not."""

import csv
import io

import numpy as np
import pytest

from oscsim import PhaseLayerSpec, SyncResult, solve
from oscsim.circuits import CircuitDesign, lower_circuit
from oscsim.cli.convergence import csv_text
from oscsim.convergence.figure import png
from oscsim.convergence.order import fit_order
from oscsim.convergence.own_law import own_answer
from oscsim.convergence.plan import Plan, studied
from oscsim.errors import ConfigError
from oscsim.result import SyncStatus

DESIGN = CircuitDesign(mu=0.1, phase_accuracy=1e-6)
EPSILON = (0.03, 0.01, 0.003)


def _plan(**changes) -> Plan:
    return Plan.of(
        **{
            "design": DESIGN,
            "epsilon": EPSILON,
            "ratios": (0.6, 0.8, 1.2),
            "counts": (),
            "seeds": 1,
            **changes,
        }
    )


def _circuit_with_error(power: float, status: SyncStatus = SyncStatus.SETTLED, flip: bool = False):
    """A simulator that is off its own law by 0.1 epsilon^power."""

    def simulate(layer: PhaseLayerSpec) -> SyncResult:
        own = own_answer(layer, lower_circuit(layer, DESIGN))
        epsilon = 1.0 / (2 * np.pi * layer.carrier_hz * layer.time_unit_s)
        closed = solve(layer)
        locked = ~own.locked if flip else own.locked
        return SyncResult(
            own.sync + 0.1 * epsilon**power, locked, closed.weights, closed.order_parameter, None, None,
            status, closed.provenance, closed.accuracy,
        )  # fmt: skip

    return simulate


def _silent(done: int, text: str) -> None:
    assert done >= 1 and text


def test_a_circuit_of_first_order_passes() -> None:
    study = studied(_plan(), _circuit_with_error(1.0), _silent)
    assert study.failures == ()
    law = next(law for law in study.laws if law.kind == "pair, locked" and law.comparison == "own")
    assert law.order is not None and abs(law.order.exponent - 1.0) < 1e-9
    floor = next(law for law in study.laws if law.kind == "pair, locked" and law.comparison == "floor")
    assert np.ptp(floor.error) < 1e-9  # a constant of the family


@pytest.mark.parametrize("power", [0.0, 0.5, 2.0])
def test_another_order_is_a_failure(power: float) -> None:
    failures = studied(_plan(), _circuit_with_error(power), _silent).failures
    assert any(f"of order {power:.2f}" in sentence for sentence in failures)


def test_runs_that_did_not_converge_and_wrong_locks_are_failures() -> None:
    unsettled = studied(_plan(), _circuit_with_error(1.0, SyncStatus.NOT_CONVERGED), _silent)
    assert any("9 of 9 rows" in sentence for sentence in unsettled.failures)
    flipped = studied(_plan(), _circuit_with_error(1.0, flip=True), _silent)
    assert any("lock otherwise" in sentence for sentence in flipped.failures)


def test_networks_are_judged_apart_where_they_do_not_lock_as_a_whole() -> None:
    study = studied(_plan(counts=(8,), epsilon=(0.01, 0.003)), _circuit_with_error(1.0), _silent)
    kinds = {law.kind for law in study.laws}
    assert {"pair, locked", "pair, unlocked", "network, locked"} <= kinds
    assert len(study.rows) == 2 * (3 + 2)


def test_rows_reach_the_table_the_csv_and_the_picture() -> None:
    study = studied(_plan(), _circuit_with_error(1.0), _silent)
    rows = list(csv.DictReader(io.StringIO(csv_text(study))))
    assert [float(row["own"]) for row in rows] == [row.own for row in study.rows]
    assert study.to_json()["rows"][0]["epsilon"] == 0.03
    assert png(study) == png(study)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"epsilon": (0.0,)}, "--epsilon: given 0"),
        ({"epsilon": (float("nan"),)}, "--epsilon: given nan"),
        ({"ratios": (-1.0,)}, "--ratio: given -1"),
        ({"ratios": (1.0,)}, "the locking edge itself"),
        ({"counts": (2,)}, "--network: given 2"),
        ({"counts": (8,), "seeds": 0}, "--seeds: given 0"),
    ],
)
def test_what_no_layer_has_is_refused(changes: dict, words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        _plan(**changes)


def test_an_order_needs_two_different_points() -> None:
    assert fit_order(np.array([0.1, 0.1]), np.array([1.0, 2.0])) is None
    assert fit_order(np.array([0.1, 0.01]), np.array([1.0, 0.0])) is None
    fit = fit_order(np.array([0.1, 0.03, 0.01]), np.array([1.1e-2, 1.0e-3, 1.05e-4]))
    assert fit is not None and fit.low < fit.exponent < fit.high and 1.8 < fit.exponent < 2.2
