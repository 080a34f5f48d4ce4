"""The self-consistent order parameter solves its equation and is the largest that does."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from oscsim.closed_form import synchronization
from oscsim.regime import CONVENTIONS, Cell, self_consistent_order, simulate


def _predicted(omega, coupling, gain, r):
    d = np.abs(omega[:, None] - omega[None, :])
    return np.sqrt(synchronization(np.ones_like(d), d, gain * r * coupling).mean())


@given(st.integers(0, 2**20), st.integers(2, 20), st.floats(0.01, 2.0), st.floats(0.0, 2.0))
@settings(max_examples=40, deadline=None)
def test_largest_solution(seed, n, spread, alpha):
    omega = spread * np.random.default_rng(seed).standard_normal(n)
    coupling = np.exp(-alpha * np.square(omega[:, None] - omega[None, :]))
    r = self_consistent_order(omega, coupling, gain=1.0)
    assert 1 / np.sqrt(n) - 1e-15 <= r <= 1
    assert abs(_predicted(omega, coupling, 1.0, r) - r) < 1e-12
    for higher in np.linspace(r + 1e-9, 1.0, 50)[:-1]:
        assert _predicted(omega, coupling, 1.0, higher) < higher


def test_identical_oscillators_and_far_ones():
    assert self_consistent_order(np.zeros(5), np.ones((5, 5)), 1.0) == 1.0
    far = 100.0 * np.arange(4.0)
    assert self_consistent_order(far, np.ones((4, 4)), 1.0) == 0.5  # only the diagonal: 1/sqrt(N)


def test_each_convention_takes_its_own_r():
    cell = Cell(8, 0.3, 1.313, 1.313)
    (run,) = simulate(cell, [0])
    orders = {name: part.order for name, part in run.agreement.items()}
    assert list(orders) == list(CONVENTIONS)
    omega, theta = cell.draw(0)
    assert orders["given"] == np.abs(np.exp(1j * theta).mean()) and orders["one"] == 1.0
    assert 0.5 < orders["steady"] < 1 and orders["self-consistent"] != orders["steady"]
    assert len({part.mean_error for part in run.agreement.values()}) == len(CONVENTIONS)
    del omega
