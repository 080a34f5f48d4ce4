"""The comparer is tested by feeding it wrong answers that are wrong, in every precision."""

from dataclasses import replace

import numpy as np
import pytest
from layers import layer

from oscsim import (
    ExplicitCoupling,
    FixedOrder,
    FrequencyCoupling,
    SyncStatus,
    compare,
    integrate,
    solve,
)
from oscsim.errors import SpecError
from oscsim.readout import attend, normalise
from oscsim.tolerance import (
    EXCLUDED_SHARE_FIXED_POINT,
    FIXED_POINT_EPSILON,
    FLOAT32,
    FLOAT64,
    Accuracy,
)

PRECISIONS = {
    "float64": FLOAT64,
    "float32": FLOAT32,
    "fixed point": Accuracy(FIXED_POINT_EPSILON, excluded_share=EXCLUDED_SHARE_FIXED_POINT),
}
PAIR = layer(count=8, mask="causal", seed=3)
CLAMPED = layer(count=8, dynamics="clamped", duration=0.15, seed=3)
ASYMMETRIC = layer(
    count=8, coupling=ExplicitCoupling(matrix=np.random.default_rng(1).uniform(0.3, 1, (2, 8, 8)))
)
NETWORK = layer(count=8, dynamics="network", spread=0.1, seed=3)


def answer(spec, accuracy, noise=0.3):
    """An answer a target could give: right up to part of what it promises."""
    right = solve(spec)
    terms, rng = right.conditioning, np.random.default_rng(0)
    wobble = noise * accuracy.epsilon * rng.uniform(-1, 1, right.sync.shape)
    sync = np.where(terms.unmasked & (right.sync != 0), right.sync + wobble, 0.0)
    phase = None
    if right.phase is not None:
        phase = right.phase + noise * accuracy.epsilon * rng.uniform(-1, 1, right.phase.shape)
    return with_sync(spec, replace(right, conditioning=None, accuracy=accuracy), sync, phase=phase)


def with_sync(spec, result, sync, **more):
    """The same result with another S, everything downstream recomputed: a consistent wrong answer."""
    weights = normalise(sync)
    more.setdefault("phase", result.phase)
    return replace(result, sync=sync, weights=weights, output=attend(weights, spec.values), **more)


@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize(
    "spec", [PAIR, CLAMPED, ASYMMETRIC, NETWORK], ids=["pair", "clamped", "asymmetric", "network"]
)
def test_right_answers_conform(spec, precision):
    comparison = compare(answer(spec, PRECISIONS[precision]), solve(spec))
    assert comparison.conforms and comparison.status == "conforms" and comparison.problems == ()
    assert 0 < comparison.worst_ratio <= 1 and comparison.locked_agreement == 1.0


def inverted_mask(spec, result):
    sync = solve(spec.replace(mask="full")).sync * ~solve(spec).conditioning.unmasked
    return with_sync(spec, result, sync)


def one_nan(spec, result):
    sync = result.sync.copy()
    sync[0, 2, 1] = np.nan
    return replace(result, sync=sync)


PAIR_WRONG = {
    "transposed": lambda s, r: with_sync(s, r, r.sync.swapaxes(1, 2), locked=r.locked.swapaxes(1, 2)),
    "heads swapped": lambda s, r: with_sync(s, r, r.sync[::-1], locked=r.locked[::-1]),
    "nan": one_nan,
    "zeros": lambda s, r: with_sync(s, r, np.zeros_like(r.sync)),
    "nothing locked": lambda s, r: replace(r, locked=np.zeros_like(r.locked)),
    "inverted mask": inverted_mask,
    "mask ignored": lambda s, r: with_sync(s, r, solve(s.replace(mask="full")).sync),
    "empirical r of all tokens": lambda s, r: with_sync(
        s, r, solve(s.replace(mask="full")).sync * solve(s).conditioning.unmasked
    ),
    "every second phase shifted by pi": lambda s, r: with_sync(
        s, r, r.sync * np.where(np.arange(8) % 2, -1.0, 1.0)[None, :, None]
    ),
    "scaled": lambda s, r: with_sync(s, r, r.sync * (1.03 if r.accuracy.epsilon > 1e-4 else 1.01)),
    "not normalised": lambda s, r: replace(r, weights=r.sync),
    "output of other values": lambda s, r: replace(r, output=r.output[:, ::-1]),
    "wrong shape": lambda s, r: replace(r, sync=r.sync[:, :-1]),
    "no output": lambda s, r: replace(r, output=None),
    "not settled": lambda s, r: replace(r, status=SyncStatus.NOT_CONVERGED),
    "other layer": lambda s, r: replace(r, provenance=solve(s.replace(gain=s.gain * 2)).provenance),
    "squared": lambda s, r: with_sync(s, r, np.square(r.sync)),
    "other order parameter": lambda s, r: replace(r, order_parameter=r.order_parameter * 0.9),
}


@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("name", PAIR_WRONG)
def test_wrong_pair_answers_are_rejected(name, precision):
    wrong = PAIR_WRONG[name](PAIR, answer(PAIR, PRECISIONS[precision], noise=0.0))
    comparison = compare(wrong, solve(PAIR))
    assert comparison.conforms is False and comparison.problems


@pytest.mark.parametrize("precision", PRECISIONS)
def test_transposed_asymmetric_coupling_is_rejected(precision):
    right = answer(ASYMMETRIC, PRECISIONS[precision], noise=0.0)
    wrong = with_sync(ASYMMETRIC, right, right.sync.swapaxes(1, 2), locked=right.locked.swapaxes(1, 2))
    assert compare(wrong, solve(ASYMMETRIC)).conforms is False


def other_duration(spec, result, factor):
    other = solve(spec.replace(duration=spec.duration * factor))
    return with_sync(spec, result, other.sync, phase=other.phase)


def one_step(result):
    """A step, as a share of the duration, whose effect is larger than the tolerance."""
    return 1 / 8 if result.accuracy.epsilon > 1e-4 else 1 / 64


CLAMPED_WRONG = {
    "other order parameter": lambda s, r: replace(r, order_parameter=r.order_parameter * 0.9),
    "output of other weights": lambda s, r: replace(r, output=r.output * 0.9),
    "every second phase shifted by pi": lambda s, r: replace(
        r, phase=r.phase + np.where(np.arange(8) % 2, np.pi, 0.0)[None, :, None]
    ),
    "one step too many": lambda s, r: other_duration(s, r, 1 + one_step(r)),
    "one step missing": lambda s, r: other_duration(s, r, 1 - one_step(r)),
    "never moved": lambda s, r: replace(r, phase=s.theta),
    "settled instead of stopped": lambda s, r: other_duration(s, r, np.inf),
    "driven backwards": lambda s, r: replace(r, phase=solve(s.replace(rate=-np.ones_like(s.theta))).phase),
    "heads swapped": lambda s, r: with_sync(s, r, r.sync[::-1], phase=r.phase[::-1]),
    "transposed": lambda s, r: with_sync(s, r, r.sync.swapaxes(1, 2)),
    "no phase": lambda s, r: replace(r, phase=None),
    "nan phase": lambda s, r: replace(r, phase=np.where(np.arange(2) == 0, np.nan, r.phase)),
    "scaled": lambda s, r: with_sync(s, r, r.sync * (1.03 if r.accuracy.epsilon > 1e-4 else 1.01)),
}


@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("name", CLAMPED_WRONG)
def test_wrong_clamped_answers_are_rejected(name, precision):
    spec = CLAMPED
    wrong = CLAMPED_WRONG[name](spec, answer(spec, PRECISIONS[precision], noise=0.0))
    assert compare(wrong, solve(spec)).conforms is False


@pytest.mark.parametrize("precision", PRECISIONS)
def test_wrong_network_answers_are_rejected(precision):
    right = answer(NETWORK, PRECISIONS[precision], noise=0.0)
    turned = replace(right, phase=right.phase + np.array([1.0, -2.0]))
    assert compare(turned, solve(NETWORK)).conforms  # one rotation per channel means nothing
    for shift in (np.where(np.arange(8) % 2, np.pi, 0.0)[None, :, None], 0.1 * np.arange(8)[None, :, None]):
        assert compare(replace(right, phase=right.phase + shift), solve(NETWORK)).conforms is False
    mean_field = solve(NETWORK.replace(dynamics="pair"))
    assert compare(with_sync(NETWORK, right, mean_field.sync), solve(NETWORK)).conforms is False


def test_an_empty_promise_is_refused():
    right, nan = answer(PAIR, Accuracy(0.01), 0.0), float("nan")
    promises = [Accuracy(epsilon) for epsilon in (0.5, 0.0, -1.0, nan)]
    promises += [Accuracy(1e-6, band=band) for band in (1e9, np.inf, -1.0, nan)]
    promises += [Accuracy(1e-6, averaging_error=error) for error in (0.5, -1.0, nan)]
    promises += [Accuracy(1e-6, excluded_share=share) for share in (1.0, 0.11, nan)]
    for promise in promises:
        comparison = compare(replace(right, accuracy=promise), solve(PAIR))
        assert comparison.status == "no_promise" and comparison.conforms is False


def edge_layer(distance):
    """Two oscillators whose d/a is 1 - distance."""
    return layer(heads=1, count=2, channels=1, omega=[[[0.0], [1.0 - distance]]], gain=[1.0],
                 coupling=FrequencyCoupling(alpha=[0.0]), order_parameter=FixedOrder(r=[1.0]))  # fmt: skip


def test_cells_in_the_edge_band_are_counted_and_capped():
    comparison = compare(answer(edge_layer(1e-6), FLOAT64, 0.0), solve(edge_layer(1e-6)))
    assert comparison.status == "undecided" and comparison.excluded_pairs == 2
    outside = compare(answer(edge_layer(1e-3), FLOAT64, 0.0), solve(edge_layer(1e-3)))
    assert outside.conforms and outside.excluded_pairs == 0


def test_a_wide_band_does_not_hide_a_large_error():
    """A cell left out of the lock comparison still has to be as small as any answer near the edge is."""
    spec = edge_layer(1e-6)
    wrong = answer(spec, Accuracy(1e-6, band=1e-3), 0.0)
    assert compare(wrong, solve(spec)).status == "undecided"
    sync = wrong.sync.copy()
    sync[0, 0, 1] = 0.5
    assert compare(with_sync(spec, wrong, sync), solve(spec)).status == "differs"


def test_condition_widens_the_tolerance_and_nothing_else_does():
    spec = edge_layer(1e-3)  # condition 22
    right = answer(spec, FLOAT64, 0.0)
    for factor, verdict in ((20.0, True), (25.0, False)):
        sync = right.sync.copy()
        sync[0, 0, 1] += factor * FLOAT64.epsilon
        assert compare(with_sync(spec, right, sync), solve(spec)).conforms is verdict


def test_reference_must_be_a_reference():
    right = solve(PAIR)
    with pytest.raises(SpecError, match="expected the result of"):
        compare(right, replace(right, conditioning=None))


def test_json_has_no_nan():
    broken = compare(one_nan(PAIR, solve(PAIR)), solve(PAIR)).to_json()
    assert broken["status"] == "malformed" and broken["max_abs_error"] is None


@pytest.mark.parametrize("dynamics", ["pair", "clamped", "network"])
@pytest.mark.parametrize("precision", PRECISIONS)
def test_small_coupling_is_no_excuse(dynamics, precision):
    """J -> J/1000 with K -> 1000 K is the same layer; S = 0 must not pass because it is small."""
    small = NETWORK.replace(
        dynamics=dynamics,
        duration=0.1,
        coupling=ExplicitCoupling(matrix=1e-3 * np.ones((2, 8, 8))),
        gain=1e3 * NETWORK.gain,
    )
    right = answer(small, PRECISIONS[precision], noise=0.0)
    assert compare(right, solve(small)).conforms
    assert compare(with_sync(small, right, np.zeros_like(right.sync)), solve(small)).conforms is False
    assert compare(with_sync(small, right, right.sync[:, ::-1]), solve(small)).conforms is False


def test_a_row_without_weights_must_stay_without():
    """Errors of unlocked averages may not be normalised into weights."""
    spec = layer(heads=1, count=3, channels=1, omega=[[[0.0], [5.0], [11.0]]], gain=[1.0],
                 coupling=ExplicitCoupling(matrix=[1.0 - np.eye(3)]))  # fmt: skip
    right = answer(spec, FLOAT64, 0.0)
    assert right.zero_rows.all() and compare(right, solve(spec)).conforms
    noise = np.where(np.eye(3) == 1, 0.0, 1e-9)[None]
    assert compare(with_sync(spec, right, noise), solve(spec)).conforms is False
    assert compare(replace(right, sync=noise), solve(spec)).conforms


def ring(start, count=12):
    near = np.abs(np.arange(count)[:, None] - np.arange(count)[None, :])
    matrix = ((np.minimum(near, count - near) <= 2) & (near > 0)).astype(float)
    return layer(heads=1, count=count, channels=1, omega=np.zeros((1, count, 1)), gain=[1.0],
                 theta=start[None, :, None], coupling=ExplicitCoupling(matrix=matrix[None]),
                 dynamics="network")  # fmt: skip


def test_another_stable_state_is_no_error():
    twisted = ring(2 * np.pi * np.arange(12) / 12)
    comparison = compare(integrate(twisted), solve(twisted))
    assert comparison.status == "other_state" and comparison.conforms is None
    wrong = replace(integrate(twisted), phase=twisted.theta + 0.1 * np.arange(12)[None, :, None])
    assert compare(wrong, solve(twisted)).status == "differs"


def test_an_unstable_start_is_named():
    """Two equal oscillators half a turn apart rest, as a pencil rests on its tip."""
    spec = layer(heads=1, count=2, channels=1, omega=np.zeros((1, 2, 1)), gain=[1.0], dynamics="network",
                 theta=[[[0.0], [np.pi]]], coupling=FrequencyCoupling(alpha=[0.0]))  # fmt: skip
    opposed = with_sync(spec, answer(spec, FLOAT64, 0.0), 2.0 * np.eye(2)[None] - 1.0, phase=spec.theta)
    comparison = compare(opposed, solve(spec))
    assert comparison.status == "unstable_state" and comparison.conforms is False


def test_tokens_that_others_hardly_reach_do_not_count_as_undecided():
    """Backwards from their own phase they start on the unstable point, and no one else pulls them off it."""
    far = 10.0 * np.arange(8.0)[None, :, None]
    spec = layer(heads=1, count=8, channels=1, omega=far, gain=[1.0], dynamics="clamped",
                 coupling=FrequencyCoupling(alpha=[1.0]), rate=-np.ones((1, 8, 1)))  # fmt: skip
    assert compare(answer(spec, FLOAT64, 0.0), solve(spec)).conforms
