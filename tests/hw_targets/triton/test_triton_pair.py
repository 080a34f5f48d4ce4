"""The pair kernel against a float64 closed form written out here, and against the reference."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hw_targets import get_target
from oscsim import ExplicitCoupling, FixedOrder, FrequencyCoupling, PhaseLayerSpec, SyncStatus, compare, solve
from oscsim.errors import LoweringError


def closed_form(spec, j, r):
    """Section 2 of the semantics in one expression per symbol; also the condition of every cell."""
    d = np.sqrt(np.square(spec.omega[:, :, None] - spec.omega[:, None]).sum(axis=3))
    j = np.exp(-spec.coupling.alpha[:, None, None] * d**2) if j is None else j
    a = np.abs(spec.gain[:, None, None] * r * j)
    with np.errstate(divide="ignore", invalid="ignore"):
        rho = np.where(a > 0, d / a, np.where(d > 0, np.inf, 0.0))
        condition = np.where(np.isinf(rho), 1.0, np.maximum(1.0, 1.0 / np.sqrt(np.abs(1.0 - rho**2))))
        sync = np.where(rho <= 1.0, np.abs(j) * np.sqrt(np.maximum(1.0 - rho**2, 0.0)), 0.0)
    return sync, rho <= 1.0, condition


@pytest.mark.parametrize(
    ("count", "channels", "heads"), [(1, 1, 3), (3, 8, 2), (17, 33, 2), (63, 3, 2), (130, 1, 1), (33, 128, 1)]
)
def test_equals_the_closed_form_at_odd_sizes(layer, run, count, channels, heads):
    spec = layer(heads, count, channels, order_parameter=FixedOrder(r=np.full(heads, 0.9)))
    sync, locked, condition = closed_form(spec, None, 0.9)
    result = run(spec)
    assert (np.abs(result.sync - sync) <= 1e-5 * np.minimum(condition, 100.0)).all()
    decided = condition < 100.0
    assert np.array_equal(result.locked[decided], locked[decided])
    assert count < 17 or 0.05 < locked.mean() < 0.99
    weights = sync / sync.sum(axis=2, keepdims=True)
    assert np.allclose(result.weights, weights, atol=1e-3)
    assert np.allclose(result.output, result.weights @ spec.values, atol=3e-6)
    assert result.status == SyncStatus.SETTLED


@pytest.mark.parametrize("mask", ["full", "causal"])
@pytest.mark.parametrize("padded", [False, True])
@pytest.mark.parametrize("explicit", [False, True])
def test_masks_padding_and_explicit_coupling_conform(layer, conforms, mask, padded, explicit):
    rng = np.random.default_rng(3)
    fields = {"mask": mask}
    if padded:
        fields["padding"] = np.arange(37) % 5 == 4
    if explicit:
        fields["coupling"] = ExplicitCoupling(matrix=rng.standard_normal((2, 37, 37)))
    comparison = conforms(layer(2, 37, 2, **fields))
    assert 0.02 < comparison.locked_fraction < 0.98


def test_clusters_far_apart_and_common_offsets_do_not_cancel(layer, conforms):
    rng = np.random.default_rng(5)
    inner = rng.standard_normal((2, 40, 4))
    sides = 100.0 * rng.choice([-1.0, 1.0], (2, 40, 1))
    for omega in (0.02 * inner + sides, 0.4 * inner + 1e6, 0.02 * inner + sides + 1e6):
        comparison = conforms(layer(2, 40, 4, omega=omega, gain=[0.05 if omega.std() > 50 else 0.8] * 2))
        assert 0.05 < comparison.locked_fraction < 0.9


def test_identical_tokens_lock_and_nothing_else_does_where_k_r_is_zero(layer, run):
    omega = layer(3, 20, 2).omega.copy()
    omega[:, 10:] = omega[:, :1]
    omega[2, 5] = omega[2, 4] + 1e-300  # as close as it gets, and still different
    spec = layer(
        3, 20, 2, omega=omega, gain=[0.0, 1e-200, 0.0], order_parameter=FixedOrder(r=[1.0, 1.0, 0.5])
    )
    result = run(spec)
    same = (omega[:, :, None] == omega[:, None]).all(axis=3)
    assert np.array_equal(result.locked, same)
    assert np.array_equal(result.sync, same.astype(float))
    assert compare(result, solve(spec)).conforms


def test_zero_alpha_is_unit_coupling(layer, run):
    spec = layer(1, 9, 1, coupling=FrequencyCoupling(alpha=[0.0]), order_parameter=FixedOrder(r=[1.0]))
    sync, _, condition = closed_form(spec, np.ones((1, 9, 9)), 1.0)
    assert (np.abs(run(spec).sync - sync) <= 1e-5 * np.minimum(condition, 100.0)).all()


def test_negative_and_vanishing_couplings(layer, run):
    matrix = np.random.default_rng(1).standard_normal((1, 17, 17))
    matrix[0, 3] = 0.0
    matrix[0, 4, 5:] *= -1e-9
    spec = layer(1, 17, 1, coupling=ExplicitCoupling(matrix=matrix), order_parameter=FixedOrder(r=[0.7]))
    sync, locked, condition = closed_form(spec, matrix, 0.7)
    result = run(spec)
    assert (
        np.abs(result.sync - sync) <= 1e-5 * np.maximum(1.0, np.abs(matrix)) * np.minimum(condition, 100)
    ).all()
    assert np.array_equal(result.locked, locked)
    assert result.zero_rows[0, 3] == (not result.sync[0, 3].any())


def test_result_does_not_depend_on_the_tile_and_repeats_bit_for_bit(layer, run):
    spec = layer(1, 70, 2, mask="causal")
    results = [run(spec, block_m=m, block_n=n) for m, n in ((32, 32), (16, 64), (128, 16))]
    again = run(spec)
    for name in ("sync", "locked", "weights"):
        for other in (*results[1:], again):
            assert np.array_equal(getattr(results[0], name), getattr(other, name)), name
    assert np.array_equal(results[0].output, again.output)
    assert all(np.allclose(results[0].output, other.output, atol=1e-6) for other in results[1:])


@settings(max_examples=25, deadline=None)
@given(st.data())
def test_any_magnitude_is_right_or_refused(data):
    exponents = st.floats(-99.0, 99.0)
    seed, frequency, gain = data.draw(st.integers(0, 2**16)), data.draw(exponents), data.draw(exponents)
    rng = np.random.default_rng(seed)
    selectivity = 10.0 ** data.draw(st.floats(-3.0, 3.0))
    spec = PhaseLayerSpec(
        omega=10.0**frequency * rng.uniform(-1, 1, (1, 4, 2)),
        theta=rng.uniform(-1, 1, (1, 4, 2)),
        values=10.0**gain * rng.standard_normal((1, 4, 2)),
        coupling=FrequencyCoupling(alpha=[min(selectivity / 10.0 ** (2 * frequency), 1e100)])
        if data.draw(st.booleans())
        else ExplicitCoupling(matrix=10.0**frequency * rng.standard_normal((1, 4, 4))),
        gain=[10.0 ** (gain if data.draw(st.booleans()) else frequency)],
    )
    target = get_target("triton")
    try:
        executable = target.lower(spec, target.config(device="cpu"))
    except LoweringError as error:
        assert "expects" in str(error) or "resolves" in str(error)
        return
    comparison = compare(executable.run(), solve(spec))
    assert comparison.status in ("conforms", "undecided"), comparison
