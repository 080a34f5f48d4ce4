"""Progress on stderr: one line per finished step, and on a terminal the step that is running."""

import logging
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

from oscsim.cli.streams import stderr_errors

# Long runs say here how far they are, every few seconds.
_RUNNING = logging.getLogger("oscsim.progress")


class Steps:
    """Numbered steps of a longer piece of work.

    Deliberately without a refreshing thread: some targets fork while a step runs.
    """

    def __init__(self, total: int) -> None:
        self._total, self._done = total, 0

    @contextmanager
    def __call__(self, name: str) -> Iterator[None]:
        """Show ``name`` while the body runs and how long it took afterwards."""
        self._done += 1
        line = f"[{self._done:>2}/{self._total}] {name}"
        begin = time.perf_counter()
        if on_terminal():
            print(f"{line} …", end="", file=sys.stderr, flush=True)
        with _shown(line):
            yield
        say(f"{line}  {time.perf_counter() - begin:.1f} s")


@contextmanager
def _shown(line: str) -> Iterator[None]:
    """Show what a running step says of itself: behind its line on a terminal, else as lines of its own."""
    handler, before = logging.Handler(), (_RUNNING.level, _RUNNING.propagate)

    def emit(record: logging.LogRecord) -> None:
        say(f"{line} … {record.getMessage()}", end="" if on_terminal() else "\n")

    handler.emit = emit
    _RUNNING.addHandler(handler)
    _RUNNING.setLevel(logging.INFO)
    _RUNNING.propagate = False  # a backend's own handlers would repeat it
    try:
        yield
    finally:
        _RUNNING.removeHandler(handler)
        _RUNNING.setLevel(before[0])
        _RUNNING.propagate = before[1]


def say(line: str, end: str = "\n") -> None:
    """One line on stderr, over a step that is being shown; line breaks would hide where a message starts.

    Parameters
    ----------
    end : what follows; nothing for a line that is going to be shown over.
    """
    if sys.stderr is None:  # closed; print would take stdout instead
        return
    clear = "\r\x1b[2K" if on_terminal() else ""
    with stderr_errors():
        print(clear + line.replace("\n", " "), end=end, file=sys.stderr, flush=True)


def on_terminal() -> bool:
    """Whether stderr is one."""
    return sys.stderr is not None and sys.stderr.isatty()
