"""Confidence intervals: known values, coverage, and a width that shrinks like 1/sqrt(chips)."""

import numpy as np
import pytest

from oscsim.circuits import CircuitDesign
from oscsim.monte_carlo import Point, Study, random_layer, sweep
from oscsim.monte_carlo.intervals import mean, moments, root, share
from oscsim.monte_carlo.row import row_of
from oscsim.monte_carlo.score import Score


def test_intervals_cover_as_often_as_they_say():
    random = np.random.default_rng(0)
    hits = random.binomial(200, 0.9, 500)
    covered = [found.low <= 0.9 <= found.high for found in (share(int(k), 200) for k in hits)]
    assert 0.92 < np.mean(covered) < 0.98
    samples = random.normal(1.0, 2.0, (500, 8))
    covered = [found.low <= 1.0 <= found.high for found in map(mean, samples)]
    assert 0.92 < np.mean(covered) < 0.98


def test_moments_and_values_give_the_same_interval():
    values = np.random.default_rng(1).exponential(1.0, 50)
    one, two = mean(values), moments(values.mean(), (values**2).mean(), 50)
    assert (one.low, one.high) == pytest.approx((two.low, two.high), rel=1e-12)


def test_ends_stay_possible():
    assert share(0, 5).low == 0.0 < share(0, 5).high and share(5, 5).high == 1.0
    assert mean([0.0, 0.0, 1e-3], 0.0).low == 0.0
    alone = mean([0.3], 0.0, 1.0)
    assert (alone.low, alone.high) == (0.0, 1.0)
    assert root(mean([4.0, 4.0])).value == 2.0


def test_width_shrinks_with_the_root_of_the_number_of_chips():
    layer = random_layer(0.03, tokens=12)
    points = [Point("x", CircuitDesign(frequency_mismatch=0.003))]
    few, many = (sweep(Study(layer, "ideal", points, chips))[0] for chips in (12, 192))
    ratio = (few.agreement_high - few.agreement_low) / (many.agreement_high - many.agreement_low)
    assert ratio == pytest.approx(4.0, rel=0.15)
    ratio = (few.error_high - few.error_low) / (many.error_high - many.error_low)
    assert ratio == pytest.approx(4.0, rel=0.5)  # the spread itself is an estimate
    assert many.error_low < few.error_high and few.error_low < many.error_high


def _score(agree, square=0.01):
    return Score(10, agree, 5, square, square**2, None, None, True)


def test_chips_of_a_network_are_single_trials():
    point = Point("x", CircuitDesign())
    row = row_of(point, "ideal", [_score(10)] * 4, mutual=True)
    assert (row.agreement_low, row.agreement_high) == (pytest.approx(share(4, 4).low), 1.0)
    row = row_of(point, "ideal", [_score(10), _score(8)], mutual=True)
    assert row.agreement == pytest.approx(0.9) and row.agreement_low == 0.0 and row.agreement_high == 1.0
    assert row.built_error is None
    cells = row_of(point, "ideal", [_score(10), _score(8)], mutual=False)
    assert cells.agreement_low == pytest.approx(share(18, 20).low)
