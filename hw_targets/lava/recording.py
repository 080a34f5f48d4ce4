"""Keep what a run did with Lava: which processes, how many time steps, what they sent."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(eq=False)
class Recording:
    """One session: what built its processes, their tag, Lava time steps in all and messages in order."""

    build: Callable[[], Any] | None = None
    tag: str = ""
    port: str = ""
    lava_steps: int = 0
    messages: list[NDArray[np.float64]] = field(default_factory=list)


_CURRENT: ContextVar[Recording | None] = ContextVar("recording", default=None)


def current_recording() -> Recording | None:
    """Where the session that starts now has to note what it does."""
    return _CURRENT.get()


@contextmanager
def recorded() -> Iterator[Recording]:
    """Record the one run that is made inside.

    >>> with recorded() as recording:
    ...     current_recording() is recording
    True
    >>> current_recording() is None
    True
    """
    recording = Recording()
    token = _CURRENT.set(recording)
    try:
        yield recording
    finally:
        _CURRENT.reset(token)
