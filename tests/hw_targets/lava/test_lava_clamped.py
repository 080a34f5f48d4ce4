"""Clamped layers against the exact flow map, for finite and infinite durations."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hw_targets import get_target
from oscsim import ExplicitCoupling, FrequencyCoupling, PhaseLayerSpec, SyncStatus, compare, solve
from oscsim.errors import LoweringError
from oscsim.phase import circular_distance
from oscsim.result import SyncResult
from oscsim.target import ConvergenceWarning
from oscsim.tolerance import FIXED_POINT_EPSILON, FLOAT64_EPSILON

TARGET = get_target("lava")
FORMS = ("fixed_point", "floating_point")
RNG = np.random.default_rng(8)
SHAPE = (2, 4, 3)


def layer(**changes) -> PhaseLayerSpec:
    rng = np.random.default_rng(3)
    fields = {
        "omega": rng.standard_normal(SHAPE),
        "theta": rng.uniform(-1.0, 1.0, SHAPE),
        "values": rng.standard_normal((2, 4, 2)),
        "coupling": FrequencyCoupling(alpha=[0.05, 0.2]),
        "gain": [0.8, 1.3],
        "dynamics": "clamped",
        "duration": 0.6,
    }
    return PhaseLayerSpec(**(fields | changes))


LAYERS = {
    "finite": layer(),
    "short": layer(duration=1e-3),
    "long": layer(duration=40.0),
    "forever": layer(duration=np.inf),
    "phase_0": layer(phase_0=RNG.uniform(-2.5, 2.5, SHAPE), duration=0.3),
    "signed rates": layer(rate=RNG.standard_normal(SHAPE), duration=0.3),
    "signed rates forever": layer(rate=RNG.standard_normal(SHAPE), duration=np.inf),
    "explicit, asymmetric": layer(coupling=ExplicitCoupling(matrix=RNG.uniform(-0.6, 1.4, (2, 4, 4)))),
    "causal": layer(mask="causal"),
    "padded": layer(mask="causal", padding=np.array([False, True, False, True])),
    "one head without gain": layer(gain=[0.0, 1.0]),
    "one token": layer(
        omega=[[[0.0]]], theta=[[[0.3]]], values=None, gain=[1.0], coupling=FrequencyCoupling([0.0])
    ),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", LAYERS)
def test_agrees_with_the_flow_map(name, form):
    spec = LAYERS[name]
    result = TARGET.lower(spec, TARGET.config(number_format=form)).run()
    comparison = compare(result, solve(spec))
    assert comparison.conforms, comparison
    assert result.status is SyncStatus.SETTLED
    limit = FIXED_POINT_EPSILON if form == "fixed_point" else FLOAT64_EPSILON
    assert comparison.tolerance <= limit


@pytest.mark.parametrize("form", FORMS)
def test_nothing_happens_in_no_time(form):
    start = RNG.uniform(-7.0, 7.0, SHAPE)
    for changes in ({"duration": 0.0}, {"rate": np.zeros(SHAPE)}, {"gain": [0.0, 0.0]}):
        result = TARGET.lower(layer(phase_0=start, **changes), TARGET.config(number_format=form)).run()
        assert np.array_equal(result.phase, start)


def test_phases_are_continuous_from_the_start_and_padding_is_left_alone():
    start = layer().theta + 4 * np.pi
    spec = layer(phase_0=start, padding=np.array([False, False, True, False]))
    result = TARGET.lower(spec).run()
    assert np.abs(result.phase - start).max() <= np.pi
    assert np.array_equal(result.phase[:, 2], start[:, 2])
    assert result.locked[:, :, [0, 1, 3]][:, [0, 1, 3]].all() and not result.locked[:, 2].any()


def test_steps_end_exactly_at_the_duration():
    """A step count that is not whole would show as an error of up to one step, 0.1 rad."""
    for duration in (0.05, 0.0777, 0.1234, 0.31):
        spec = layer(duration=duration, phase_0=RNG.uniform(-1.5, 1.5, SHAPE))
        result = TARGET.lower(spec, TARGET.config(number_format="floating_point")).run()
        assert circular_distance(result.phase, solve(spec).phase).max() < 1e-6


@settings(max_examples=6, deadline=None)
@given(st.floats(0.0, 8.0), st.floats(-3.0, 3.0), st.floats(-2.0, 2.0))
def test_one_oscillator_anywhere(duration, start, rate):
    spec = PhaseLayerSpec(
        omega=[[[0.0]]],
        theta=[[[0.0]]],
        coupling=ExplicitCoupling(matrix=[[[1.0]]]),
        gain=[1.0],
        dynamics="clamped",
        duration=duration,
        phase_0=[[[start]]],
        rate=[[[rate]]],
    )
    for form in FORMS:
        result = TARGET.lower(spec, TARGET.config(number_format=form)).run()
        assert compare(result, solve(spec)).worst_ratio <= 1


MODES = [
    {"rounding": rounding, "interpolation": interpolation, "integrator": integrator}
    for rounding, interpolation, integrator in product(
        ("nearest", "floor", "toward_zero"), ("linear", "nearest"), ("runge_kutta", "euler")
    )
] + [{"number_format": "floating_point", "integrator": "euler"}]


@pytest.mark.parametrize("mode", MODES, ids=lambda mode: ", ".join(mode.values()))
@pytest.mark.parametrize("duration", [0.9, np.inf])
def test_every_mode_agrees_with_the_flow_map(mode, duration):
    rng = np.random.default_rng(21)
    shape = (2, 12, 4)
    spec = PhaseLayerSpec(
        omega=np.zeros(shape),
        theta=rng.uniform(-np.pi, np.pi, shape),
        coupling=ExplicitCoupling(matrix=rng.uniform(-0.5, 1.0, (2, 12, 12))),
        gain=[0.7, 1.2],
        dynamics="clamped",
        duration=duration,
        rate=rng.standard_normal(shape),
        phase_0=rng.uniform(-4.0, 4.0, shape),
    )
    # a table whose nearest entry is a thousandth of a turn away needs more entries beside an Euler step
    wide = {"sine_bits": 12} if mode.get("interpolation") == "nearest" else {}
    comparison = compare(TARGET.lower(spec, TARGET.config(**mode, **wide)).run(), solve(spec))
    assert comparison.conforms, comparison


def alone(duration: float, start: float) -> PhaseLayerSpec:
    """One oscillator that drives itself at 0, K = 1."""
    zero = [[[0.0]]]
    return PhaseLayerSpec(
        omega=zero,
        theta=zero,
        coupling=ExplicitCoupling(matrix=[[[1.0]]]),
        gain=[1.0],
        dynamics="clamped",
        duration=duration,
        phase_0=[[[start]]],
    )


def test_a_start_that_the_format_would_never_leave_is_refused():
    coarse = TARGET.config(interpolation="nearest")
    near = np.pi - 0.001
    with pytest.raises(
        LoweringError, match=r"1 oscillators start within 0.00308 rad of their unstable point"
    ):
        TARGET.lower(alone(np.inf, near), coarse)
    # it has not got far by then, or a table that is interpolated lets it go
    for spec, config in (
        (alone(0.5, near), coarse),
        (alone(np.inf, near), TARGET.config()),
        (alone(np.inf, np.pi - 0.004), coarse),
    ):
        assert compare(TARGET.lower(spec, config).run(), solve(spec)).worst_ratio <= 1


def test_euler_is_off_by_the_first_order_of_its_step():
    """phi' = -sin phi: (h/2) sin phi_T ln(sin phi_T/sin phi_0), steps of 1.6/17 = 0.0941."""
    config = TARGET.config(number_format="floating_point", integrator="euler", steps_per_turn=64)
    spec = alone(1.6, 1.5)
    error = float((TARGET.lower(spec, config).run().phase - solve(spec).phase).squeeze())
    end = float(solve(spec).phase.squeeze())
    first = 1.6 / 17 / 2 * np.sin(end) * np.log(np.sin(end) / np.sin(1.5))
    assert error == pytest.approx(first, rel=0.05) and abs(first) > 0.01


def test_counters_are_those_of_a_count_by_hand(tmp_path):
    """Durations 0.5 and 0.05 in steps of 2 pi/64 = 0.098 at most: 6 steps, and 1."""
    spec = layer(
        omega=np.zeros((1, 2, 1)),
        theta=np.zeros((1, 2, 1)),
        values=None,
        coupling=ExplicitCoupling(matrix=[np.eye(2)]),
        gain=[1.0],
        duration=0.5,
        rate=[[[1.0], [0.1]]],
        phase_0=np.full((1, 2, 1), 1.0),
    )
    for integrator, lookups in (("runge_kutta", 2 * 2 + 5 * 7), ("euler", 2 * 2 + 2 * 7)):
        config = TARGET.config(integrator=integrator, steps_per_turn=64)
        result = TARGET.lower(spec, config).run()
        assert result.provenance.counters == {
            "neuron_updates": 7,
            "sine_lookups": lookups,
            "spikes": 0,
            "synaptic_operations": 0,
            "payload_bits": 0,
            "lava_steps": 6,
        }
        result.save(tmp_path / "result")
        assert SyncResult.load(tmp_path / "result").provenance.counters == result.provenance.counters


def test_a_start_on_the_unstable_point_is_told():
    spec = layer(omega=np.zeros(SHAPE), theta=np.zeros(SHAPE), phase_0=np.full(SHAPE, np.pi), duration=np.inf)
    result = TARGET.lower(spec).run()
    assert np.array_equal(result.phase, spec.phase_0)
    assert any("24 cells start on their unstable point" in note for note in result.provenance.notes)


def test_too_few_steps_are_told():
    spec = layer(duration=np.inf, phase_0=layer().theta + 2.0)
    with pytest.warns(ConvergenceWarning, match="24 cells had not settled after max_steps=20"):
        result = TARGET.lower(spec, TARGET.config(max_steps=20)).run()
    assert result.status is SyncStatus.NOT_CONVERGED
