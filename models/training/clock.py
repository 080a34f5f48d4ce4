"""How long a run takes, all its parts together."""

from __future__ import annotations

import time
import warnings
from pathlib import Path

from oscsim.errors import SchemaError

from .folder import read_json, write_json

_LONGEST_S = 1e10  # three centuries


class WallTimeWarning(UserWarning):
    """How long a run took so far is not known any more; nothing else depends on it."""


class Clock:
    """Seconds of a run, kept in a file beside its checkpoints, which have to be free of times.

    Parameters
    ----------
    path : the file.
    done : steps of earlier parts; with 0 the clock starts anew.
    """

    def __init__(self, path: Path, done: int) -> None:
        self._path = path
        self._earlier = _earlier(path) if done else 0.0
        self._started = time.perf_counter()
        self._last = (done, self._started)

    def seconds(self) -> float | None:
        """Return seconds of this part and the earlier ones, as far as a checkpoint knows of them.

        None where the file of the earlier ones was lost.
        """
        if self._earlier is None:
            return None
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


def is_seconds(value: object) -> bool:
    """Whether a value from JSON can be the time that a run took."""
    return isinstance(value, int | float) and not isinstance(value, bool) and 0.0 <= value < _LONGEST_S


def _earlier(path: Path) -> float | None:
    """Return the seconds in a file; a run does not stop because they are lost."""
    try:
        content = read_json(path)
        seconds = content.get("wall_time_s") if isinstance(content, dict) else None
        reason = f"given {str(content)[:80]}"
    except (OSError, SchemaError) as error:
        seconds, reason = None, str(error)
    if is_seconds(seconds):
        return seconds
    warnings.warn(
        f"{path}: expected the wall time of the run so far ({reason}); the run goes on, and its wall time "
        "is not known any more",
        WallTimeWarning,
        stacklevel=3,
    )
    return None
