"""Signs of life: which time step every model is in, seen by the parent without any message.

The numbers lie in anonymous memory that forked processes share: without a name, nothing can be left behind.
"""

import mmap
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

# Per model: the time step it has begun, the last one it has finished, whether it waits at a port.
BEGUN, FINISHED, WAITING = range(3)
NOT_BUILT = -1

Signs = NDArray[np.int64]


class Heartbeat:
    """Watches models that are about to be forked.

    Parameters
    ----------
    names : what to call the models, in the order of ``builders``.
    builders : Lava's builders of the models; from now on what they build reports its time steps.
    """

    def __init__(self, names: Sequence[str], builders: Sequence[Any]) -> None:
        self.names = list(names)
        memory = mmap.mmap(-1, max(1, 3 * 8 * len(builders)))
        self._signs: Signs = np.frombuffer(memory, np.int64, 3 * len(builders)).reshape(-1, 3)
        self._signs[:, :2] = NOT_BUILT
        for builder, signs in zip(builders, self._signs, strict=True):
            builder.build = partial(_build, builder.build, signs)
        self.restart()

    def restart(self) -> None:
        """Count the time without progress from now."""
        self._seen, self._since = self._signs.copy(), time.monotonic()

    def silent_s(self) -> float:
        """Seconds since any model began or finished a time step, as far as this method saw it."""
        if not np.array_equal(self._signs[:, :2], self._seen[:, :2]):
            self.restart()
        return time.monotonic() - self._since

    def finished(self) -> int:
        """The last time step that every model has finished."""
        return max(0, int(self._signs[:, FINISHED].min())) if len(self.names) else 0

    def step(self, place: int) -> str:
        """Where a model is, in words."""
        begun, finished, _ = self._signs[place]
        if begun == NOT_BUILT:
            return f"{self.names[place]} is not built yet"
        if begun == finished:
            return f"{self.names[place]} has finished time step {finished}"
        return f"{self.names[place]} is in time step {begun}"

    def positions(self) -> str:
        """Where every model is."""
        return "; ".join(self.step(place) for place in range(len(self.names)))

    def where(self) -> str:
        """Who holds the others up: the models that are busy, or else those that wait for a message."""
        places = range(len(self.names))
        unfinished = [p for p in places if self._signs[p, BEGUN] != self._signs[p, FINISHED]]
        unbuilt = [p for p in places if self._signs[p, BEGUN] == NOT_BUILT]
        busy = [p for p in unfinished if not self._signs[p, WAITING]]
        if busy or unbuilt:
            return "; ".join(self.step(p) for p in busy or unbuilt)
        if unfinished:
            return "; ".join(f"{self.step(p)} and waits for a message" for p in unfinished)
        return f"{self.positions()}; Lava's runtime service does not go on"


def _build(build: Callable[[], Any], signs: Signs) -> Any:
    """In the child: build the model, then note its time steps and when it waits at a port."""
    model = build()
    run = model.run_spk

    def run_spk() -> None:
        signs[BEGUN] = model.time_step
        run()
        signs[FINISHED] = model.time_step

    model.run_spk = run_spk
    for port in model.py_ports:
        for name in ("recv", "send"):
            if hasattr(port, name):
                setattr(port, name, _noting(getattr(port, name), signs))
    signs[:2] = 0
    return model


def _noting(transfer: Callable[..., Any], signs: Signs) -> Callable[..., Any]:
    """The same transfer of a port, noted while it lasts."""

    def noted(*data: Any) -> Any:
        signs[WAITING] = 1
        result = transfer(*data)
        signs[WAITING] = 0
        return result

    return noted
