"""Layers nobody tuned to: they conform, or a named status says why not; nothing raises."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hw_targets import get_target, target_names
from oscsim import (
    EmpiricalOrder,
    ExplicitCoupling,
    FixedOrder,
    FrequencyCoupling,
    PhaseLayerSpec,
    compare,
    solve,
)

NAMED = {"conforms", "finding", "undecided", "not_settled"}


@st.composite
def layers(draw):
    """N 1..12, H 1..3, D 1..8; clusters, offsets, identical tokens, no coupling, both masks, all dynamics."""
    heads, count, channels = draw(st.integers(1, 3)), draw(st.integers(1, 12)), draw(st.integers(1, 8))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    shape = (heads, count, channels)
    spread = draw(st.sampled_from([0.0, 1e-8, 0.05, 0.5, 5.0]))
    omega = spread * rng.standard_normal(shape)
    omega += draw(st.sampled_from([0.0, 30.0, 1e4])) * rng.choice([-1.0, 1.0], (heads, count, 1))
    gain = rng.uniform(0.5, 2.0, heads) * draw(st.sampled_from([0.0, 1.0, 50.0]))
    explicit = draw(st.booleans())
    matrix = ExplicitCoupling(matrix=rng.normal(0.2, 1.0, (heads, count, count)))
    clamped = {"dynamics": "clamped", "duration": draw(st.sampled_from([0.0, 0.01, 0.3, math.inf]))}
    return PhaseLayerSpec(
        omega=omega,
        theta=rng.uniform(-10, 10, shape),
        values=rng.standard_normal((heads, count, 2)),
        coupling=matrix if explicit else FrequencyCoupling(alpha=rng.uniform(0, 1, heads)),
        gain=gain,
        order_parameter=draw(st.sampled_from([EmpiricalOrder(), FixedOrder(r=np.ones(heads))])),
        mask=draw(st.sampled_from(["full", "causal"])),
        **draw(st.sampled_from([{}, clamped])),
    )


@pytest.mark.filterwarnings("error::RuntimeWarning", "ignore::oscsim.target.ConvergenceWarning")
@pytest.mark.parametrize("name", target_names())
@settings(max_examples=20)
@given(spec=layers())
def test_a_verdict_or_a_named_status(name, spec):
    target = get_target(name)
    comparison = compare(target.lower(spec).run(), solve(spec))
    assert comparison.status in NAMED, comparison
    assert comparison.conforms or comparison.problems
