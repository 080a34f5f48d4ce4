"""stdout and stderr that take no more: a full disk, a closed descriptor, a reader that left."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TextIO

import typer

READER_LEFT = 141
"""Exit code when the reader of stdout left (``| head -1``): 128 + SIGPIPE, as of any other command."""


@contextmanager
def stdout_errors() -> Iterator[None]:
    """Name stdout in the error when it takes no more; end quietly when its reader left.

    Raises
    ------
    OSError
        ``filename`` is stdout.
    """
    try:
        yield
    except BrokenPipeError:
        discard(sys.stdout)
        raise typer.Exit(READER_LEFT) from None
    except OSError as error:
        discard(sys.stdout)
        raise OSError(error.errno, error.strerror or str(error), "stdout") from None


@contextmanager
def stderr_errors() -> Iterator[None]:
    """Go on when stderr takes no more: there is no place left to say so, and results do not depend on it."""
    try:
        yield
    except OSError:
        discard(sys.stderr)


def discard(stream: TextIO | None) -> None:
    """Let what is still buffered go nowhere; Python writes it again when it ends, and would fail again."""
    try:
        descriptor = -1 if stream is None else stream.fileno()
    except (OSError, ValueError):  # no descriptor behind it: a test or a notebook
        return
    if descriptor >= 0:
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, descriptor)
        os.close(null)
