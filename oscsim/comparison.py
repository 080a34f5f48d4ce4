"""The outcome of a comparison, as data."""

from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Comparison:
    """How a result agrees with the reference.

    Parameters
    ----------
    source : where the result comes from.
    status : "conforms", "differs", "finding" (no exact oracle exists), "other_state" (a network that
        rests in another stable state), "unstable_state", "not_settled", "undecided" (too many cells at
        the locking edge), "malformed", "other_spec", "no_promise".
    conforms : True or False; None for "finding" and "other_state", which have no verdict.
    max_abs_error, mean_abs_error : of S over compared off-diagonal cells (dimensionless).
    worst_ratio : largest error / allowed error over everything compared; at most 1 when it conforms.
    max_phase_error : rad, None without phases.
    tolerance : epsilon, the allowed error at condition 1.
    locked_agreement : share of compared cells with the same lock decision.
    locked_fraction : of the result, off-diagonal unmasked cells.
    excluded_pairs, excluded_share : cells inside the edge band.
    averaging_error : of time averages of unlocked cells, as the result states it; a fraction of |J|.
    problems : in words, everything that does not conform; oracle : what it was compared with.
    """

    source: str
    status: str
    conforms: bool | None
    oracle: str
    tolerance: float
    max_abs_error: float = float("nan")
    mean_abs_error: float = float("nan")
    worst_ratio: float = float("nan")
    max_phase_error: float | None = None
    locked_agreement: float = float("nan")
    locked_fraction: float = float("nan")
    excluded_pairs: int = 0
    excluded_share: float = 0.0
    averaging_error: float = 0.0
    wall_s: float = 0.0
    problems: tuple[str, ...] = field(default=())

    def to_json(self) -> dict[str, Any]:
        """Plain JSON; not-a-number becomes null."""
        return {k: None if isinstance(v, float) and np.isnan(v) else v for k, v in asdict(self).items()}
