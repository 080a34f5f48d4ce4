"""Confidence intervals of shares and of root mean squares."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

CONFIDENCE = 0.95


@dataclass(frozen=True)
class Estimate:
    """A number with its 95 % confidence interval."""

    value: float
    low: float
    high: float


def share(successes: int, trials: int) -> Estimate:
    """Share of independent trials with Wilson's score interval (J. Am. Stat. Assoc. 22 (1927) 209).

    >>> found = share(8, 10)
    >>> found.value, round(found.low, 4), round(found.high, 4)
    (0.8, 0.4902, 0.9433)
    """
    from scipy import stats  # a second to import, and it looks for torch

    interval: Any = stats.binomtest(successes, trials).proportion_ci(CONFIDENCE, "wilson")
    return Estimate(successes / trials, float(interval.low), float(interval.high))


def mean(values: ArrayLike, least: float = -math.inf, most: float = math.inf) -> Estimate:
    """Mean of independent values with Student's t interval, cut off at what is possible.

    One value says nothing about its spread: the interval is everything.

    >>> found = mean([1.0, 2.0, 3.0])
    >>> found.value, round(found.low, 4)
    (2.0, -0.4841)
    """
    data = np.asarray(values, float)
    middle = float(data.mean())
    if len(data) < 2:
        return Estimate(middle, least, most)
    return _around(middle, float(data.std(ddof=1)) / math.sqrt(len(data)), len(data) - 1, least, most)


def moments(first: float, second: float, count: int, least: float = -math.inf) -> Estimate:
    """The same for ``count`` values of which only the mean and the mean square are known."""
    spread = math.sqrt(max(second - first * first, 0.0) / max(count - 1, 1))
    return _around(first, spread, count - 1, least, math.inf)


def root(square: Estimate) -> Estimate:
    """Of a mean square: the root keeps the order of the ends."""
    return Estimate(math.sqrt(square.value), math.sqrt(square.low), math.sqrt(square.high))


def _around(middle: float, error: float, freedom: int, least: float, most: float) -> Estimate:
    if error == 0.0:  # exactly equal values, for instance all zero
        return Estimate(middle, middle, middle)
    from scipy import stats

    half = float(stats.t.ppf(0.5 * (1.0 + CONFIDENCE), max(freedom, 1))) * error
    return Estimate(middle, max(middle - half, least), min(middle + half, most))
