"""The generalised closed form of a pair against direct integration of its phase equation."""

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from oscsim.errors import ConfigError
from oscsim.oscillators import LC, Ring
from oscsim.phase_reduction import CouplingFunction, PairLaw, locked_phases, reduce

SINE = CouplingFunction(np.array([0.0, -0.5j]), 0.0)
# two waves per turn are stronger than one: several stable states
STATES = CouplingFunction(np.array([0.1, -0.2j, -0.5j + 0.1, 0.05]), -0.3)


def ring() -> CouplingFunction:
    return reduce(Ring(stages=5)).coupling


def speed(coupling: CouplingFunction, detuning: float, into: float, back: float):
    """psi' as it is defined, without the coefficients that PairLaw makes of it."""

    def f(_: float, psi: np.ndarray) -> np.ndarray:
        loading = (abs(into) - abs(back)) * coupling.shift
        return detuning + into * coupling(-psi) - back * coupling(psi) + loading

    return f


def integrated(f, psi_0: float, duration: float) -> float:
    return solve_ivp(f, (0.0, duration), [psi_0], method="DOP853", rtol=1e-11, atol=1e-12).y[0, -1]


def test_a_sine_is_the_closed_form():
    rng = np.random.default_rng(1)
    ratio = np.concatenate([rng.uniform(0.0, 2.0, 3000), [0.0, 0.5, 1.0, 1.5]])
    a = rng.uniform(0.1, 5.0, len(ratio)) * rng.choice([-1.0, 1.0], len(ratio))
    detuning = ratio * np.abs(a)
    state = locked_phases(PairLaw(detuning, a / 2, a / 2, SINE), np.where(a > 0, 0.0, np.pi))
    locked = ratio <= 1.0
    assert (state.locked == locked).all()
    closed, condition = (
        np.sqrt(np.maximum(0.0, 1.0 - ratio**2)),
        1.0 / np.sqrt(np.abs(1.0 - ratio**2) + 1e-16),
    )
    assert (np.abs(np.abs(state.mean_cosine) - closed) <= 1e-14 * condition + 1e-12).all()
    assert (np.abs(state.rate - np.abs(a) * closed) <= 1e-13 * condition + 1e-12).all()
    beat = np.sqrt(np.maximum(0.0, detuning**2 - a**2))
    np.testing.assert_allclose(state.beat, np.where(locked, 0.0, beat), rtol=1e-10)
    np.testing.assert_allclose(np.sin(state.psi[locked]), (detuning / a)[locked], atol=1e-12)
    assert np.isnan(state.psi[~locked]).all()


@pytest.mark.parametrize("detuning", [np.linspace(0.0, 0.03, 5), 0.01, np.zeros(0)], ids=["5", "1", "0"])
def test_a_number_stands_for_all_pairs(detuning):
    few = PairLaw(detuning, 0.01, -0.008, STATES)
    row = np.atleast_1d(detuning)
    many = PairLaw(row, np.full(row.shape, 0.01), np.full(row.shape, -0.008), STATES)
    np.testing.assert_array_equal(few.lock_range(), many.lock_range())
    one, two = locked_phases(few, 0.3), locked_phases(many, np.full(row.shape, 0.3))
    assert len(one.psi) == len(row)
    for name in ("locked", "psi", "rate", "mean_cosine", "beat"):
        np.testing.assert_array_equal(getattr(one, name), getattr(two, name))


@pytest.mark.parametrize("shape", [(3,), (2, 2)])
def test_what_is_no_row_of_pairs_is_refused(shape):
    with pytest.raises(ConfigError, match="kappa_01"):
        PairLaw(np.zeros(2), np.ones(shape), 1.0, SINE)
    with pytest.raises(ConfigError, match="psi_0"):
        locked_phases(PairLaw(np.zeros(2), 1.0, 1.0, SINE), np.zeros(shape))


@pytest.mark.parametrize("size", [0, 1, 3, 17])
def test_odd_sizes_and_a_cell_without_coupling(size):
    zero = np.zeros(size)
    at_rest = locked_phases(PairLaw(zero, zero, zero, SINE), zero + 0.4)
    assert at_rest.locked.all() and (at_rest.psi == 0.4).all() and not at_rest.rate.any()
    turning = locked_phases(PairLaw(zero - 0.2, zero, zero, SINE), zero)
    assert not turning.locked.any()
    np.testing.assert_allclose(turning.beat, -0.2, rtol=1e-12)
    np.testing.assert_allclose(turning.mean_cosine, 0.0, atol=1e-12)


@pytest.mark.parametrize("strength", [1.0, -1.0])
def test_lock_range_is_where_locking_ends(strength):
    for coupling in (ring(), reduce(LC(mu=1.0)).coupling, STATES):
        kappa = np.full(2, 0.7 * strength)
        low, high = (edge[0] for edge in PairLaw(np.zeros(2), kappa, kappa, coupling).lock_range())
        x = np.linspace(-np.pi, np.pi, 200_001)
        widest = 1.4 * np.abs(coupling.odd(x)).max()
        assert high == pytest.approx(widest, rel=1e-8) and low == pytest.approx(-widest, rel=1e-8)
        inside = np.array([low, high]) * (1.0 - 1e-9)
        assert locked_phases(PairLaw(inside, kappa, kappa, coupling), np.zeros(2)).locked.all()
        outside = np.array([low, high]) * (1.0 + 1e-9)
        assert not locked_phases(PairLaw(outside, kappa, kappa, coupling), np.zeros(2)).locked.any()


def test_range_of_a_one_way_coupler_with_lag_and_load_is_not_symmetric():
    coupling = reduce(Ring(stages=3, coupler="resistor")).coupling
    law = PairLaw(np.zeros(1), np.ones(1), np.zeros(1), coupling)
    x = np.linspace(0.0, 2.0 * np.pi, 100_001)
    pulled = coupling(-x) + coupling.shift
    low, high = law.lock_range()
    assert low[0] == pytest.approx(-pulled.max(), rel=1e-8)
    assert high[0] == pytest.approx(-pulled.min(), rel=1e-8)


CASES = [
    ("ring", 0.22, 0.5, 0.5, 0.0),
    ("ring", -0.12, 0.5, 0.1, 2.0),
    ("ring", 0.1, 0.5, 0.0, 1.0),
    ("ring", 0.1, -0.6, -0.4, 3.0),
    ("ring", 0.05, 0.6, -0.3, 1.0),
    *(("states", 0.2, 0.5, 0.5, psi) for psi in (-2.5, -0.9, 0.3, 1.9)),
    *(("states", -0.1, -0.5, 0.2, psi) for psi in (-2.5, -0.9, 0.3, 1.9)),
]  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=str)
def test_the_state_reached_is_the_integrated_one(case):
    name, detuning, into, back, psi_0 = case
    coupling = ring() if name == "ring" else STATES
    law = PairLaw(np.array([detuning]), np.array([into]), np.array([back]), coupling)
    state = locked_phases(law, np.array([psi_0]))
    f = speed(coupling, detuning, into, back)
    assert law.drift(np.array([psi_0]))[0] == pytest.approx(f(0.0, np.array([psi_0]))[0], abs=1e-13)
    assert state.locked[0], "the case is meant to lock"
    rate = state.rate[0]
    assert integrated(f, psi_0, 100.0 / rate) == pytest.approx(state.psi[0], abs=1e-9)
    # logarithmic decrement of a small disturbance over one relaxation time
    disturbed = integrated(f, state.psi[0] + 1e-5, 1.0 / rate) - state.psi[0]
    assert np.log(1e-5 / disturbed) == pytest.approx(1.0, abs=1e-4)


def test_several_stable_states_are_told_apart():
    kappa, starts = np.full(4, 0.5), np.array([-2.5, -0.9, 0.3, 1.9])
    state = locked_phases(PairLaw(np.zeros(4), kappa, kappa, STATES), starts)
    assert len(np.unique(np.cos(state.psi).round(9))) == 2


@pytest.mark.parametrize(
    ("name", "factor", "into", "back"),
    [
        ("ring", 1.001, 0.5, 0.5),
        ("ring", 1.5, 0.5, 0.1),
        ("ring", -1.2, 0.5, -0.1),
        ("states", 1.1, 0.3, 0.6),
    ],
)
def test_means_of_a_rotating_pair(name, factor, into, back):
    coupling = ring() if name == "ring" else STATES
    one, two = np.array([into]), np.array([back])
    low, high = PairLaw(np.zeros(1), one, two, coupling).lock_range()
    middle, half = 0.5 * (high + low), 0.5 * (high - low)
    law = PairLaw(middle + factor * half, one, two, coupling)
    state = locked_phases(law, np.array([0.4]))
    f, turns = speed(coupling, float(law.detuning[0]), into, back), 3

    def slope(t: float, y: np.ndarray) -> np.ndarray:
        return np.array([f(t, y[0]), np.cos(y[0])])

    def turned(_: float, y: np.ndarray) -> float:
        return float(abs(y[0] - 0.4) - 2.0 * np.pi * turns)

    turned.terminal = True
    run = solve_ivp(slope, (0.0, 1e6), [0.4, 0.0], method="DOP853", rtol=1e-11, atol=1e-12, events=turned)
    assert not state.locked[0]
    assert state.mean_cosine[0] == pytest.approx(run.y[1, -1] / run.t[-1], abs=1e-8)
    assert state.beat[0] == pytest.approx(np.sign(factor) * 2.0 * np.pi * turns / run.t[-1], rel=1e-8)


def test_just_outside_the_edge_means_stay_finite_and_right():
    excess = 10.0 ** -np.arange(2.0, 12.0)
    state = locked_phases(PairLaw(1.0 + excess, 0.5 + 0 * excess, 0.5 + 0 * excess, SINE), 0.0 * excess)
    assert not state.locked.any()
    # rounding of psi' at its smallest, 1e-16, against the excess
    np.testing.assert_allclose(state.beat, np.sqrt(excess * (2.0 + excess)), rtol=1e-4)
    assert np.abs(state.mean_cosine).max() < 1e-9


def test_the_example_of_the_page_says_what_it_gives():
    page = Path(__file__).parents[3] / "docs" / "phase_reduction.md"
    section = page.read_text(encoding="utf-8").partition("## One's own oscillator")[2]
    found: dict[str, Any] = {}
    for block in re.findall(r"```python\n(.*?)```", section, re.DOTALL):
        exec(block, found)
    state = found["state"]
    np.testing.assert_allclose(found["law"].lock_range()[1], 0.00870, atol=5e-6)
    assert state.locked.tolist() == [True, True, False]
    np.testing.assert_allclose(state.psi, [0.0, 0.554, np.nan], atol=5e-4)
    np.testing.assert_allclose(state.mean_cosine, [1.0, 0.850, 0.034], atol=5e-4)
