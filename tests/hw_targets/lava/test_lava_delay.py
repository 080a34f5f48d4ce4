"""Spikes that arrive one step late, against the delay differential equation integrated on its own."""

import numpy as np
import pytest
from delay_equation import with_delay, without_delay

from hw_targets import get_target
from hw_targets.lava.program import NETWORK_ROWS
from hw_targets.lava.trace import traced_network
from oscsim import ExplicitCoupling, FrequencyCoupling, PhaseLayerSpec, SyncStatus, compare, solve
from oscsim.errors import LoweringError
from oscsim.tolerance import euler_bias

TARGET = get_target("lava")


def uneven(count: int = 4) -> PhaseLayerSpec:
    """One token drives the others more than they drive it: at rest all turn against the mean frequency."""
    matrix = np.full((1, count, count), 0.4)
    matrix[0, :, 0], matrix[0, 0, :] = 1.4, 0.2
    return PhaseLayerSpec(
        omega=np.linspace(0.3, -0.1, count)[None, :, None],
        theta=np.linspace(-0.9, 1.1, count)[None, :, None],
        coupling=ExplicitCoupling(matrix=matrix),
        gain=[1.0],
        dynamics="network",
    )


def two(ratio: float, there: float = 1.0, back: float = 1.0) -> PhaseLayerSpec:
    return PhaseLayerSpec(
        omega=[[[0.0], [1.5 * ratio * (there + back) / 2]]],
        theta=[[[0.2], [0.9]]],
        coupling=ExplicitCoupling(matrix=[[[1.0, there], [back, 1.0]]]),
        gain=[1.5],
        dynamics="network",
    )


def lowered(spec: PhaseLayerSpec, **options):
    return TARGET.lower(spec, TARGET.config(**({"integrator": "euler"} | options)))


def phases(spec: PhaseLayerSpec, count: int, **options):
    """Phases of so many steps, (count + 1, M) in rad, and the network with its own-clock step."""
    low = lowered(spec, number_format="floating_point", **options).lowered
    rows = traced_network(low, low.program.lava_steps(count))[:, NETWORK_ROWS.index("theta")]
    path = np.concatenate([low.program.theta[None], rows]) if low.program.delay_steps else rows
    return path, low.network, low.number_format.step


def test_the_first_step_has_only_its_drift():
    low = lowered(uneven(), delay_steps=1).lowered
    row = dict(zip(NETWORK_ROWS, traced_network(low, 2).transpose(1, 0, 2), strict=True))
    assert not row["cosine_sum"][0].any() and not row["sine_sum"][0].any()
    assert np.array_equal(row["slope"][0], low.program.drift)
    # what arrives in the second step was sent in the first: phases of the start
    assert np.array_equal(row["cosine_sum"][1], low.program.weights @ row["cosine"][0])
    assert np.array_equal(row["cosine"][0], low.number_format.arithmetic.cosine(low.program.theta))


def test_a_trajectory_is_that_of_the_delay_equation_but_for_the_error_of_euler():
    """A delayed run and an equation with the delay of one step differ as Euler and the plain equation do.

    Both differences are of first order in the step; what is left between them is of second order. Against an
    equation without the delay, or with another one, first order remains.
    """
    left, wrong = [], []
    for steps in (128, 256):
        delayed, net, h = phases(uneven(), steps // 2, delay_steps=1, steps_per_turn=steps)
        plain, _, _ = phases(uneven(), steps // 2, steps_per_turn=steps)
        numbers = (net.theta, net.drift, net.matrix)
        euler = plain - without_delay(*numbers, h, steps // 2)
        with_lag = delayed - with_delay(*numbers, h, steps // 2)
        assert np.abs(euler).max() > 0.15 * h  # there is something to tell apart
        left.append(np.abs(with_lag - euler).max())
        wrong.append(np.abs(delayed - without_delay(*numbers, h, steps // 2) - euler).max())
    assert 3.6 < left[0] / left[1] < 4.4
    assert left[0] < 0.03 * wrong[0] and 1.8 < wrong[0] / wrong[1] < 2.2


@pytest.mark.parametrize("form", ["fixed_point", "floating_point"])
def test_rests_where_the_delay_equation_rests(form):
    """All turn at one rate W, and every source is seen W h behind: no error of the step is left at rest."""
    spec = uneven()
    executable = lowered(spec, delay_steps=1, number_format=form, steps_per_turn=128)
    result, net = executable.run(), executable.lowered.network
    h = executable.lowered.number_format.step
    path = with_delay(net.theta, net.drift, net.matrix, h, 900, fine=2)
    rate = (path[-1] - path[-2]) / h
    assert np.ptp(rate) < 1e-9 and abs(rate[0]) > 0.02
    expected = path[-1] - path[-1, 0]
    distance = np.abs(result.phase[0, :, 0] - result.phase[0, 0, 0] - expected).max()
    without = solve(spec).phase[0, :, 0]
    shift = np.abs(without - without[0] - expected).max()
    # weights of 8 bits; the lag itself is W h of every rate
    assert distance < (1e-7 if form == "floating_point" else 0.5 * shift)
    assert 0.1 * abs(rate[0]) * h < shift < executable.lowered.accuracy.epsilon


def test_even_couplings_rest_as_if_there_were_no_delay():
    rng = np.random.default_rng(1)
    spec = PhaseLayerSpec(
        omega=0.2 * rng.standard_normal((1, 4, 1)),
        theta=rng.uniform(-1, 1, (1, 4, 1)),
        coupling=FrequencyCoupling(alpha=[0.3]),
        gain=[1.0],
        dynamics="network",
    )
    late = lowered(spec, delay_steps=1, number_format="floating_point").run()
    plain = lowered(spec, number_format="floating_point").run()
    assert late.provenance.notes != plain.provenance.notes
    assert np.abs(late.sync - plain.sync).max() < 1e-8


@pytest.mark.parametrize("delay", [0, 1])
def test_the_mean_of_an_unlocked_pair_is_off_by_eulers_bias_and_by_twice_that(delay):
    """One bias from the step and an equal one from the delay; the relative phase moves at twice the clock."""
    executable = lowered(two(1.4), delay_steps=delay, number_format="floating_point", steps_per_turn=256)
    bias = (1 + delay) * euler_bias(1.4, 2 * executable.lowered.number_format.step)
    assert executable.run().sync[0, 0, 1] == pytest.approx(-bias, rel=0.05)


@pytest.mark.parametrize(
    ("spec", "status"),
    [
        (two(2.0), SyncStatus.DRIFTING),
        (two(0.9, 1.6, 0.4), SyncStatus.SETTLED),
        (two(1.5, 1.6, 0.4), SyncStatus.DRIFTING),
        (uneven(), SyncStatus.SETTLED),
    ],
    ids=["unlocked", "uneven", "uneven and unlocked", "four"],
)
def test_a_delayed_layer_keeps_its_promise(spec, status):
    result = lowered(spec, delay_steps=1, steps_per_turn=256).run()
    comparison = compare(result, solve(spec))
    assert comparison.conforms, comparison
    assert result.status is status


def test_a_delay_that_would_change_the_answer_is_refused():
    with pytest.raises(LoweringError, match=r"delay_steps: a delay of one step .* use more steps_per_turn"):
        lowered(two(0.5, 1.5, -1.2), delay_steps=1, steps_per_turn=256)
    with pytest.raises(LoweringError, match="use more steps_per_turn"):
        lowered(uneven(), delay_steps=1, steps_per_turn=16)
    lowered(uneven(), delay_steps=1)  # what lowering picks by itself is fine
