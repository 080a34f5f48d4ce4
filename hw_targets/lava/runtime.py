"""Run Lava processes so that nothing can hang, nothing is left behind and no exception text is lost.

Lava's own ``run`` blocks for ever when a model process raises or dies while a peer waits for it. Here a run
is started without blocking and polled: for its end, for exceptions and deaths of model processes, and for a
deadline. Whatever happens, the model processes are ended and their shared memory is released.
"""

import logging
import multiprocessing
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from hw_targets.lava.compat import prepare_lava
from hw_targets.lava.session import Session
from oscsim.errors import TargetRunError


@contextmanager
def lava_session(build: Callable[[], Any], tag: str, timeout_s: float) -> Iterator[Session]:
    """Build processes, compile and start them, and take everything down again afterwards.

    Parameters
    ----------
    build : makes and connects the processes; returns the one whose ports are read.
    tag : which process models to run, "fixed_pt" or "floating_pt".
    timeout_s : wall time for everything together.

    Raises
    ------
    TargetRunError
        a model raised (with the original text), a model process died, or the time ran out.
    """
    prepare_lava()
    from lava.magma.core.process.process import ProcessServer

    handlers = list(logging.getLogger().handlers)
    session = Session(tag, time.monotonic() + timeout_s, timeout_s)
    try:
        _start(session, build)
        yield session
    finally:
        try:
            session.close()
        finally:
            # Lava keeps every process for ever and adds one handler to the root logger for each
            for process in session.processes:
                process._runtime = None
                ProcessServer().processes.remove(process)
            for handler in [one for one in logging.getLogger().handlers if one not in handlers]:
                logging.getLogger().removeHandler(handler)


def _start(session: Session, build: Callable[[], Any]) -> None:
    """Build and compile; whatever Lava says against it becomes a TargetRunError with its text."""
    if multiprocessing.current_process().daemon:
        raise TargetRunError(
            "Lava starts processes of its own, which a daemonic process (a worker of multiprocessing.Pool) "
            "may not do; use concurrent.futures.ProcessPoolExecutor instead"
        )
    try:
        session.start(build())
    except TargetRunError:
        raise
    except Exception as error:
        raise TargetRunError(f"Lava could not start: {type(error).__name__}: {error}") from error
