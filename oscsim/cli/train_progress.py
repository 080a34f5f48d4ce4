"""Progress of a training on stderr: a bar on a terminal, a line now and then elsewhere."""

import time
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from oscsim.cli.progress import on_terminal, say
from oscsim.cli.streams import stderr_errors

_LINE_EVERY_S = 10.0


class TrainProgress:
    """What :func:`models.training.train` reports to.

    Deliberately without a refreshing thread, like :class:`oscsim.cli.progress.Steps`.

    Parameters
    ----------
    steps : of the whole run.
    """

    def __init__(self, steps: int) -> None:
        self._steps = steps
        self._validation: float | None = None
        self._bar: Progress | None = None
        self._line_at = time.monotonic()

    @contextmanager
    def shown(self) -> Iterator["TrainProgress"]:
        """Show it while the body runs."""
        if not on_terminal():
            yield self
            return
        quiet = {
            "console": Console(stderr=True), "auto_refresh": False,
            "redirect_stdout": False, "redirect_stderr": False,
        }  # fmt: skip
        columns = (BarColumn(), MofNCompleteColumn(), TextColumn("{task.description}"), TimeRemainingColumn())
        with Progress(*columns, **quiet) as self._bar:
            self._task = self._bar.add_task("", total=self._steps)
            yield self

    def __call__(self, step: int, bits: float, tokens_per_s: float, validation: float | None) -> None:
        """One row of the log."""
        self._validation = self._validation if validation is None else validation
        text = f"{bits:.3f} bits/byte, {tokens_per_s:,.0f} tokens/s"
        if self._validation is not None:
            text += f", validation {self._validation:.3f}"
        if self._bar is not None:
            with stderr_errors():
                self._bar.update(self._task, completed=step, description=text, refresh=True)
        elif validation is not None or time.monotonic() - self._line_at >= _LINE_EVERY_S:
            self._line_at = time.monotonic()
            say(f"[{step}/{self._steps}] {text}")
