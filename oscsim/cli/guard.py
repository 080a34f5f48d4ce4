"""What a user sees when something goes wrong: one line on stderr and an exit code, never a traceback."""

import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from enum import IntEnum
from importlib import util
from typing import Any

import typer
from typer.core import TyperGroup

from oscsim.cli.progress import say
from oscsim.cli.streams import READER_LEFT, discard, stdout_errors
from oscsim.errors import OscsimError, TargetRunError, TargetUnavailable
from oscsim.target import ConvergenceWarning


class ExitCode(IntEnum):
    """Exit codes of every command.

    conforms: done, and what was compared conforms (a finding has no verdict and counts as done).
    differs: a run failed, did not converge or does not conform. bad_input: a file, option or layer
    nobody can work with, or a place nobody can write to. backend_missing: stderr names the command that
    installs it. reader_left: stdout was a pipe and its reader closed it.
    """

    CONFORMS = 0
    DIFFERS = 1
    BAD_INPUT = 2
    BACKEND_MISSING = 3
    INTERRUPTED = 130
    READER_LEFT = READER_LEFT


@contextmanager
def guarded() -> Iterator[None]:
    """Turn errors raised on purpose into their exit code, and warnings into one line each.

    An error this project did not raise on purpose is a bug and keeps its traceback.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("always", ConvergenceWarning)
        warnings.showwarning = _one_line
        try:
            yield
        except TargetUnavailable as error:
            raise _stop(error, ExitCode.BACKEND_MISSING) from None
        except TargetRunError as error:
            raise _stop(error, ExitCode.DIFFERS) from None
        except OscsimError as error:
            raise _stop(error, ExitCode.BAD_INPUT) from None
        except OSError as error:
            if error.filename is None:  # help texts: typer prints them, nobody else writes without a name
                discard(sys.stdout)
            place = "" if error.filename is None else f"{error.filename}: "
            raise _stop(f"{place}{error.strerror or error}", ExitCode.BAD_INPUT) from None
        except KeyboardInterrupt as error:  # training says how far its checkpoint is
            message = str(error) or "interrupted; files written earlier are unchanged"
            raise _stop(message, ExitCode.INTERRUPTED) from None


def lacks(*packages: str, command: str) -> bool:
    """Say which package is not installed, before a module that is run by ``python -m`` imports it.

    >>> lacks("numpy", command="pip install numpy")
    False
    """
    missing = [name for name in packages if util.find_spec(name) is None]
    if missing:
        say(f"error: package {' and '.join(missing)} is not installed. Install it with: {command}")
    return bool(missing)


def _stop(message: object, code: ExitCode) -> typer.Exit:
    say(f"error: {message}")
    return typer.Exit(int(code))


def _one_line(message: Warning | str, category: type[Warning], *_: Any, **__: Any) -> None:
    del category
    say(f"warning: {message}")


class GuardedGroup(TyperGroup):
    """The command group: every command, and what typer itself prints, runs inside :func:`guarded`."""

    def make_context(self, *args: Any, **kwargs: Any) -> Any:
        with guarded(), stdout_errors():
            return super().make_context(*args, **kwargs)

    def invoke(self, ctx: Any) -> Any:
        with guarded():
            return super().invoke(ctx)
