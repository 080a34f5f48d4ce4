"""Progress on stderr: one line per finished step, and on a terminal the step that is running."""

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

from oscsim.cli.streams import stderr_errors


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
        yield
        say(f"{line}  {time.perf_counter() - begin:.1f} s")


def say(line: str) -> None:
    """One line on stderr, over a step that is being shown; line breaks would hide where a message starts."""
    if sys.stderr is None:  # closed; print would take stdout instead
        return
    clear = "\r\x1b[2K" if on_terminal() else ""
    with stderr_errors():
        print(clear + line.replace("\n", " "), file=sys.stderr, flush=True)


def on_terminal() -> bool:
    """Whether stderr is one."""
    return sys.stderr is not None and sys.stderr.isatty()
