"""What the runs of an experiment say: means, paired differences and their intervals."""

from __future__ import annotations

import bz2
import csv
import gzip
import io
import lzma
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import stats

from oscsim.errors import ConfigError

COLUMNS = (
    "run", "variant", "seed", "learning_rate", "steps", "parameters",
    "validation_bits_per_byte", "test_bits_per_byte", "wall_time_s",
)  # fmt: skip


@dataclass(frozen=True)
class Difference:
    """A mean paired difference, run by run with the same seed and batches, in bits per byte.

    mean, low, high : with its 95 % interval, mean +- t_{0.975, n-1} s / sqrt(n); low and high are None for
        one pair, which has no interval.
    pairs : number of seeds n.
    """

    mean: float
    low: float | None
    high: float | None
    pairs: int


def paired_difference(these: dict[int, float], those: dict[int, float]) -> Difference:
    """Return the difference of two results by seed, these minus those, over the seeds both have.

    ConfigError when there is none. Student, *The probable error of a mean*, Biometrika 6 (1908) 1.

    >>> d = paired_difference({1: 2.0, 2: 2.2}, {1: 1.9, 2: 2.0})
    >>> round(d.mean, 3), round(d.high - d.mean, 3)
    (0.15, 0.635)
    """
    seeds = sorted(these.keys() & those.keys())
    if not seeds:
        raise ConfigError(
            f"given seeds {sorted(these)} and {sorted(those)}; expected a common one; train with the same"
        )
    gaps = np.array([these[seed] - those[seed] for seed in seeds])
    mean, pairs = float(gaps.mean()), len(gaps)
    if pairs < 2:
        return Difference(mean, None, None, pairs)
    half = float(stats.t.ppf(0.975, pairs - 1) * gaps.std(ddof=1) / np.sqrt(pairs))
    return Difference(mean, mean - half, mean + half, pairs)


def row(result: dict[str, Any]) -> dict[str, Any]:
    """Return one line of the table of runs."""
    training = result["training"]
    known = {**result, **training}
    return {column: known[column] for column in COLUMNS}


def csv_text(rows: Sequence[dict[str, Any]]) -> str:
    """Return rows with the same keys as CSV."""
    stream = io.StringIO()
    writer = csv.DictWriter(stream, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return stream.getvalue()


def by_seed(rows: Sequence[dict[str, Any]], variant: str, column: str) -> dict[int, float]:
    """Return a column of a variant's rows by seed."""
    return {line["seed"]: line[column] for line in rows if line["variant"] == variant}


def compressors(content: bytes) -> dict[str, float]:
    """Return the bits per byte of general compressors on the same bytes, at their strongest setting.

    >>> sorted(compressors(b"ab" * 1000))
    ['bzip2 -9', 'gzip -9', 'xz -9e']
    """
    packed = {
        "gzip -9": gzip.compress(content, 9, mtime=0),
        "bzip2 -9": bz2.compress(content, 9),
        "xz -9e": lzma.compress(content, preset=9 | lzma.PRESET_EXTREME),
    }
    return {name: 8.0 * len(data) / len(content) for name, data in packed.items()}
