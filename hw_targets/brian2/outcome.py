"""What a circuit hands back, before it becomes a result."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from oscsim.result import SyncStatus
from oscsim.tolerance import Accuracy

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Outcome:
    """Read-out of a circuit; shapes as in SyncResult, masked cells zero.

    Parameters
    ----------
    trajectory : (samples, H, N, D) rad with times (samples,) in time units of the fastest clock, or None.
    """

    sync: Array
    locked: NDArray[np.bool_]
    order_parameter: Array
    status: SyncStatus
    notes: tuple[str, ...]
    accuracy: Accuracy
    phase: Array | None = None
    trajectory: Array | None = None
    times: Array | None = None


class Trajectory:
    """At most ``samples`` evenly thinned snapshots of a run whose length is not known in advance.

    When full, every second snapshot is dropped and the spacing doubles; the end is always kept.

    >>> film = Trajectory(samples=4)
    >>> for k in range(10):
    ...     film.offer(float(k), np.array([10.0 * k]))
    >>> film.finish(9.0, np.array([90.0]))[0].tolist()
    [0.0, 4.0, 8.0, 9.0]
    """

    def __init__(self, samples: int) -> None:
        self._room = samples - 1
        self._offered, self._spacing = 0, 1
        self._times: list[float] = []
        self._states: list[Array] = []

    def offer(self, time: float, state: Array) -> None:
        """Take a snapshot if it is this one's turn."""
        if self._room > 0 and self._offered % self._spacing == 0:
            self._times.append(time)
            self._states.append(state.copy())
            if len(self._times) > self._room:
                self._times, self._states = self._times[::2], self._states[::2]
                self._spacing *= 2
        self._offered += 1

    def finish(self, time: float, state: Array) -> tuple[Array, Array]:
        """(times, states) with the last state included."""
        if not self._times or self._times[-1] != time:
            self._times.append(time)
            self._states.append(state.copy())
        return np.array(self._times), np.stack(self._states)
