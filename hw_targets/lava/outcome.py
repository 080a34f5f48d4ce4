"""What a run of one dynamics hands over to become a result."""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from oscsim.result import SyncStatus

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Outcome:
    """The measured parts of a SyncResult, and what a reader has to know about them.

    Parameters
    ----------
    average_error : estimated error of a time average that ended the run, 0 where nothing drifts.
    counters : name -> how often, as the processes counted it (program.COUNTERS).
    """

    sync: Array
    locked: NDArray[np.bool_]
    order_parameter: Array
    phase: Array | None
    status: SyncStatus
    notes: tuple[str, ...]
    average_error: float = 0.0
    trajectory: Array | None = None
    times: Array | None = None
    counters: dict[str, int] = field(default_factory=dict)
