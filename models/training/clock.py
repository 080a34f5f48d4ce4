"""How long a run takes, all its parts together."""

from __future__ import annotations

import time
from pathlib import Path

from .folder import read_json, write_json


class Clock:
    """Seconds of a run, kept in a file beside its checkpoints, which have to be free of times.

    Parameters
    ----------
    path : the file.
    done : steps of earlier parts; with 0 the clock starts anew.
    """

    def __init__(self, path: Path, done: int) -> None:
        self._path = path
        self._earlier: float = read_json(path)["wall_time_s"] if done else 0.0
        self._started = time.perf_counter()
        self._last = (done, self._started)

    def seconds(self) -> float:
        """Return seconds of this part and the earlier ones, as far as a checkpoint knows of them."""
        return round(self._earlier + time.perf_counter() - self._started, 3)

    def save(self) -> None:
        """Write the seconds so far."""
        write_json(self._path, {"wall_time_s": self.seconds()})

    def steps_per_second(self, step: int) -> float:
        """Return the speed since the last call."""
        now = time.perf_counter()
        steps, seconds = step - self._last[0], now - self._last[1]
        self._last = (step, now)
        return steps / seconds if seconds > 0.0 else 0.0
