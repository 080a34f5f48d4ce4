"""Progress of a sweep on stderr: a counted bar on a terminal, a line now and then elsewhere."""

import time
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from oscsim.cli.progress import on_terminal, say
from oscsim.cli.streams import stderr_errors

_LINE_EVERY_S = 10.0


class SweepProgress:
    """What a sweep over many equal pieces of work reports to: runs, cells, chip instances.

    Deliberately without a refreshing thread, like :class:`oscsim.cli.progress.Steps`.

    Parameters
    ----------
    total : pieces of the whole sweep, at least 1.

    >>> sweep = SweepProgress(3)
    >>> with sweep.shown():
    ...     for done in range(1, 4):
    ...         sweep(done, "N = 32")
    """

    def __init__(self, total: int) -> None:
        self._total = total
        self._bar: Progress | None = None
        self._line_at = time.monotonic()

    @contextmanager
    def shown(self) -> Iterator["SweepProgress"]:
        """Show it while the body runs."""
        if not on_terminal():
            yield self
            return
        quiet = {
            "console": Console(stderr=True), "auto_refresh": False,
            "redirect_stdout": False, "redirect_stderr": False,
        }  # fmt: skip
        said = TextColumn("{task.description}", markup=False)
        columns = (BarColumn(), MofNCompleteColumn(), said, TimeRemainingColumn())
        with Progress(*columns, **quiet) as self._bar:
            self._task = self._bar.add_task("", total=self._total)
            try:
                yield self
            finally:
                # a sweep stopped half way leaves the bar where it was, with what it was doing
                with stderr_errors():
                    self._bar.refresh()
        self._bar = None

    def __call__(self, done: int, text: str) -> None:
        """Say how many pieces are done and which came last; off a terminal at most every ten seconds."""
        if self._bar is not None:
            with stderr_errors():
                self._bar.update(self._task, completed=done, description=text, refresh=True)
        elif done >= self._total or time.monotonic() - self._line_at >= _LINE_EVERY_S:
            self._line_at = time.monotonic()
            say(f"[{done}/{self._total}] {text}")
