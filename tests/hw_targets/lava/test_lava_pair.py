"""Pair layers against the closed form, in both number formats and both regimes."""

import warnings
from itertools import combinations, product

import numpy as np
import pytest

from hw_targets import get_target
from hw_targets.lava.plan import lower
from oscsim import (
    ExplicitCoupling,
    FixedOrder,
    FrequencyCoupling,
    PhaseLayerSpec,
    SyncStatus,
    compare,
    solve,
)
from oscsim.target import ConvergenceWarning
from oscsim.tolerance import (
    FIXED_POINT_EPSILON,
    FLOAT64_EPSILON,
    condition_of_ratio,
    euler_bias,
    euler_mean_epsilon,
    largest_euler_bias,
)

TARGET = get_target("lava")
FORMS = ("fixed_point", "floating_point")
RNG = np.random.default_rng(5)
MATRIX = RNG.uniform(-1.5, 1.5, (2, 5, 5))


def layer(**changes) -> PhaseLayerSpec:
    rng = np.random.default_rng(4)
    fields = {
        "omega": 0.5 * rng.standard_normal((2, 5, 2)),
        "theta": rng.uniform(-0.6, 0.6, (2, 5, 2)),
        "values": rng.standard_normal((2, 5, 3)),
        "coupling": FrequencyCoupling(alpha=[0.2, 0.5]),
        "gain": [0.9, 1.6],
    }
    return PhaseLayerSpec(**(fields | changes))


LAYERS = {
    "full": layer(),
    "causal": layer(mask="causal"),
    "padded": layer(mask="causal", padding=np.array([False, True, False, False, True])),
    "explicit, asymmetric, both signs": layer(coupling=ExplicitCoupling(matrix=MATRIX)),
    "r per token": layer(order_parameter=FixedOrder(r=RNG.uniform(0.2, 1.0, (2, 5)))),
    "K r = 0 in one head": layer(order_parameter=FixedOrder(r=[0.0, 1.0])),
    "no gain": layer(gain=[0.0, 0.0]),
    "identical tokens": layer(omega=np.full((2, 5, 2), 3.0)),
    "far apart": layer(omega=40.0 * layer().omega),
    "one token": layer(omega=[[[1]]], theta=[[[0]]], values=None, gain=[1], coupling=FrequencyCoupling([0])),
    "given psi_0": layer(psi_0=RNG.uniform(-6, 6, (2, 5, 5))),
}  # fmt: skip


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", LAYERS)
def test_agrees_with_the_closed_form(name, form):
    spec = LAYERS[name]
    result = TARGET.lower(spec, TARGET.config(number_format=form)).run()
    comparison = compare(result, solve(spec))
    assert comparison.conforms, comparison
    assert comparison.excluded_share <= 0.02
    assert result.status is SyncStatus.SETTLED and result.phase is None and result.trajectory is None


def ladder(ratios: np.ndarray, **changes) -> PhaseLayerSpec:
    """One oscillator against others at chosen ratios d/a, K r = 1."""
    omega = np.concatenate([[0.0], ratios])[None, :, None]
    return PhaseLayerSpec(
        omega=omega,
        theta=np.zeros_like(omega),
        coupling=FrequencyCoupling(alpha=[0.0]),
        gain=[1.0],
        order_parameter=FixedOrder(r=[1.0]),
        mask="causal",
        **changes,
    )


@pytest.mark.parametrize("form", FORMS)
def test_row_by_row_along_the_edge(form):
    """First column of a ladder: S = sqrt(1 - rho^2) on one side of the edge, 0 on the other."""
    rho = np.array([0.0, 0.3, 0.9, 0.99, 0.999, 1.001, 1.01, 1.1, 2.0, 50.0])
    result = TARGET.lower(ladder(rho), TARGET.config(number_format=form)).run()
    sync, locked = result.sync[0, 1:, 0], result.locked[0, 1:, 0]
    exact = np.sqrt(np.maximum(0.0, 1.0 - rho**2))
    condition = np.maximum(1.0, 1.0 / np.sqrt(np.abs(1.0 - rho**2)))
    limit = FIXED_POINT_EPSILON if form == "fixed_point" else FLOAT64_EPSILON
    assert (np.abs(sync - exact) <= limit * condition).all()
    assert np.array_equal(locked, rho < 1)
    # not the format's doing alone: integers really are coarser, floats really are finer
    error = np.abs(sync - exact).max()
    assert (1e-6 < error < 1e-2) if form == "fixed_point" else error < 1e-5


def test_both_formats_agree():
    results = [TARGET.lower(layer(), TARGET.config(number_format=form)).run() for form in FORMS]
    difference = np.abs(results[0].sync - results[1].sync).max()
    assert 0 < difference < 1e-2
    assert np.array_equal(results[0].locked, results[1].locked)


def test_a_start_on_the_unstable_point_is_told():
    spec = layer(psi_0=np.where(np.eye(5, dtype=bool), np.pi, 0.0)[None].repeat(2, axis=0))
    result = TARGET.lower(spec).run()
    assert any("10 cells start on their unstable point" in note for note in result.provenance.notes)
    assert compare(result, solve(spec)).conforms  # |J <cos psi>| is the same on both


def test_too_few_steps_from_a_hard_start_are_told():
    # rho = 0.95, started a hair before the unstable point pi - asin(rho)
    start = np.zeros((1, 2, 2))
    start[0, 1, 0] = np.pi - np.arcsin(0.95) - 1e-9
    spec = ladder(np.array([0.95]), psi_0=start)
    config = TARGET.config(number_format="floating_point", max_steps=620, steps_per_turn=64)
    with pytest.warns(ConvergenceWarning, match="1 cells had not settled after max_steps=620"):
        result = TARGET.lower(spec, config).run()
    assert result.status is SyncStatus.NOT_CONVERGED
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        enough = TARGET.lower(spec, TARGET.config(number_format="floating_point")).run()
    assert compare(enough, solve(spec)).conforms


def test_cells_inside_the_band_may_stay_open():
    result = TARGET.lower(ladder(np.array([1.0])), TARGET.config(max_steps=3000)).run()
    assert result.status is SyncStatus.SETTLED
    assert compare(result, solve(ladder(np.array([1.0])))).excluded_pairs == 1


def test_runs_repeat_to_the_last_bit():
    executable = TARGET.lower(layer())
    first, second = executable.run(), executable.run()
    for name in ("sync", "locked", "weights", "output", "order_parameter"):
        assert np.array_equal(getattr(first, name), getattr(second, name))
    assert first.provenance.plan_digest == executable.plan.digest
    assert first.provenance.versions["lava-nc"] == "0.10.0"


MODES = {
    f"{rounding}, {interpolation}, {integrator}": {
        "rounding": rounding, "interpolation": interpolation, "integrator": integrator,
    }
    for rounding, interpolation, integrator in product(
        ("nearest", "floor", "toward_zero"), ("linear", "nearest"), ("runge_kutta", "euler")
    )
} | {"euler, floating point": {"number_format": "floating_point", "integrator": "euler"}}  # fmt: skip


@pytest.mark.parametrize("mode", MODES)
def test_every_mode_agrees_with_the_closed_form(mode):
    """Many pairs of either sign, half of them within 60 bands of the edge."""
    rng = np.random.default_rng(7)
    config = TARGET.config(**MODES[mode], steps_per_turn=32)
    band = lower(ladder(np.array([0.5])), config).accuracy.band
    rho = np.concatenate(
        [1 + rng.choice([-1, 1], 150) * band * rng.uniform(6, 60, 150), rng.uniform(0, 4, 150)]
    )
    zero = np.zeros((300, 2, 1))
    omega, matrix = zero.copy(), np.ones((300, 2, 2))
    omega[:, 1, 0] = rho
    matrix[:, 1, 0] = rng.choice([-1.0, 1.0], 300)
    spec = PhaseLayerSpec(
        omega=omega,
        theta=zero,
        coupling=ExplicitCoupling(matrix=matrix),
        gain=np.ones(300),
        order_parameter=FixedOrder(r=np.ones(300)),
        mask="causal",
        psi_0=rng.uniform(-3.0, 0.9, (300, 2, 2)),
    )
    result = TARGET.lower(spec, config).run()
    comparison = compare(result, solve(spec))
    assert comparison.conforms, comparison
    # every decision outside the band is that of the closed form
    assert np.array_equal(result.locked[:, 1, 0], rho < 1)


def test_modes_differ_in_the_answer():
    modes = (
        {},
        {"rounding": "floor"},
        {"rounding": "toward_zero"},
        {"interpolation": "nearest"},
        {"integrator": "euler"},
    )
    answers = [TARGET.lower(layer(mask="causal"), TARGET.config(**mode)).run().sync for mode in modes]
    assert all(not np.array_equal(one, other) for one, other in combinations(answers, 2))


def test_the_mean_of_an_unlocked_cell_has_the_bias_of_euler():
    rho = np.array([1.05, 1.272, 2.0, 7.0])
    config = TARGET.config(number_format="floating_point", integrator="euler", steps_per_turn=32)
    sync = TARGET.lower(ladder(rho), config).run().sync[0, 1:, 0]
    step = 2 * np.pi / 32
    bias = np.array([euler_bias(ratio, step) for ratio in rho])
    assert (np.abs(sync - bias) <= euler_mean_epsilon(step) * condition_of_ratio(rho)).all()
    assert sync.max() <= largest_euler_bias(step) + 2 * euler_mean_epsilon(step)


@pytest.mark.parametrize("mode", ["toward_zero, nearest, euler", "nearest, nearest, runge_kutta"])
def test_a_start_beside_the_unstable_point_is_given_the_steps_to_leave_it(mode):
    rho = np.linspace(0.3, 0.95, 60)
    start = np.zeros((1, 61, 61))
    start[0, 1:, 0] = np.pi - np.arcsin(rho) + np.linspace(-0.004, 0.004, 60)
    spec = ladder(rho, psi_0=start)
    config = TARGET.config(**MODES[mode], max_steps=5000)
    assert compare(TARGET.lower(spec, config).run(), solve(spec)).conforms


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(("integrator", "lookups"), [("runge_kutta", 5), ("euler", 2)])
def test_counters_are_those_of_a_count_by_hand(integrator, lookups, form):
    """Two cells on the diagonal start at rest, one below turns at 2: a step, then for each look-ups."""
    config = TARGET.config(number_format=form, integrator=integrator, steps_per_turn=64)
    spec = ladder(np.array([2.0]))
    steps = sorted(lower(spec, config).program.steps.tolist(), reverse=True)
    # 2.05 beats of 2 pi / sqrt(1 - 1/4), and four to spare
    assert steps[0] == np.ceil(2.05 * 64 / np.sqrt(0.75)) + 4
    counters = TARGET.lower(spec, config).run().provenance.counters
    assert counters == {
        "neuron_updates": sum(steps),
        "sine_lookups": 2 * 3 + lookups * sum(steps),
        "spikes": 0,
        "synaptic_operations": 0,
        "payload_bits": 0,
        "lava_steps": steps[0],
    }


def test_every_bit_of_the_format_reaches_the_answer():
    spec = layer(coupling=ExplicitCoupling(matrix=MATRIX))
    plain = TARGET.lower(spec).run().sync
    for options in ({"phase_bits": 18}, {"sine_bits": 7}, {"payload_bits": 12}, {"parameter_bits": 9}):
        coarse = TARGET.lower(spec, TARGET.config(**options)).run()
        assert not np.array_equal(coarse.sync, plain)
        assert compare(coarse, solve(spec)).worst_ratio <= 1
