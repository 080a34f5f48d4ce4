"""Timing side by side: every round runs each contender once, so what the machine does hits all of them."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median, quantiles

import torch

from hw_targets.triton.bench.contender import Contender

# A sample shorter than this is made of several calls.
SHORTEST_SAMPLE_S = 0.02
# A contender that has used this up does not take part in further rounds, but in three at least.
BUDGET_S = 40.0
FEWEST_ROUNDS = 3


@dataclass(frozen=True)
class Spread:
    """Median with lower and upper quartile."""

    median: float
    low: float
    high: float


def spread(samples: Sequence[float]) -> Spread:
    """Median and quartiles.

    >>> spread([1.0, 2.0, 3.0, 4.0, 100.0])
    Spread(median=3.0, low=2.0, high=4.0)
    """
    if len(samples) < 2:
        return Spread(samples[0], samples[0], samples[0])
    low, _, high = quantiles(samples, n=4, method="inclusive")
    return Spread(median(samples), low, high)


def paired_ratio(samples: Sequence[float], others: Sequence[float]) -> Spread:
    """Ratio of two contenders, from the rounds in which both took part.

    >>> paired_ratio([1.0, 2.0, 3.0], [2.0, 4.0, 6.0, 9.0]).median
    0.5
    """
    return spread([mine / other for mine, other in zip(samples, others, strict=False)])


def interleaved(
    contenders: Sequence[Contender], what: str, repeats: int, watch: Callable[[], float] = time.perf_counter
) -> dict[str, list[float]]:
    """Seconds per call of every contender, one sample per round; a first, uncounted round warms up.

    Parameters
    ----------
    what : the pass, see contender.py.
    watch : what reads the clock.
    """
    calls, rounds = {}, {}
    for contender in contenders:
        contender.run(what)  # compiles, allocates
        once = _sample(contender, what, 1, watch)
        calls[contender.name] = max(1, round(SHORTEST_SAMPLE_S / max(once, 1e-6)))
        taken = max(once, SHORTEST_SAMPLE_S)
        rounds[contender.name] = max(min(repeats, FEWEST_ROUNDS), min(repeats, int(BUDGET_S / taken)))
    samples: dict[str, list[float]] = {contender.name: [] for contender in contenders}
    for index in range(repeats):
        for contender in contenders:
            if index < rounds[contender.name]:
                samples[contender.name].append(_sample(contender, what, calls[contender.name], watch))
    return samples


def _sample(contender: Contender, what: str, calls: int, watch: Callable[[], float]) -> float:
    _wait(contender)
    begin = watch()
    for _ in range(calls):
        contender.run(what)
    _wait(contender)
    return (watch() - begin) / calls


def _wait(contender: Contender) -> None:
    if contender.d_output.is_cuda:
        torch.cuda.synchronize()


def exponent(sizes: Sequence[int], seconds: Sequence[float]) -> float | None:
    """Least-squares slope of log time against log N; None for fewer than two sizes.

    >>> round(exponent([1, 2, 4], [3.0, 12.0, 48.0]), 6)
    2.0
    """
    if len(sizes) < 2:
        return None
    x, y = (torch.tensor(v, dtype=torch.float64).log() for v in (sizes, seconds))
    x = x - x.mean()
    return float((x * y).sum() / x.square().sum())
