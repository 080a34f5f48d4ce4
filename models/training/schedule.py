"""The learning rate over time."""

from __future__ import annotations

import math


def learning_rate_factor(done: int, steps: int, warm_up: int) -> float:
    """Return the factor after ``done`` steps: linear warm-up, then half a cosine down to one tenth.

    >>> [round(learning_rate_factor(done, 110, 10), 2) for done in (0, 10, 60, 110)]
    [0.1, 1.0, 0.55, 0.1]
    """
    if done < warm_up:
        return (done + 1) / warm_up
    share = (done - warm_up) / max(1, steps - warm_up)
    return 0.1 + 0.45 * (1.0 + math.cos(math.pi * min(share, 1.0)))
