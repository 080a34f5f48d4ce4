"""Run Lava processes so that nothing can hang, nothing is left behind and no exception text is lost.

Lava's own ``run`` blocks for ever when a model process raises or dies while a peer waits for it. Here a run
is started without blocking and polled: for its end, for exceptions and deaths of model processes, for time
steps that do not end, and for a deadline. Whatever happens, the model processes are ended and their shared
memory is released.
"""

import logging
import multiprocessing
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from hw_targets.lava.compat import prepare_lava
from hw_targets.lava.recording import current_recording
from hw_targets.lava.session import Session
from oscsim.errors import TargetRunError

# A step of the largest layer that lowering accepts takes about a second.
STALL_S = 8.0


@contextmanager
def lava_session(
    build: Callable[[], Any], tag: str, timeout_s: float, stall_s: float = STALL_S
) -> Iterator[Session]:
    """Build processes, compile and start them, and take everything down again afterwards.

    Parameters
    ----------
    build : makes and connects the processes; returns the one whose ports are read.
    tag : which process models to run, "fixed_pt" or "floating_pt".
    timeout_s : wall time for everything together.
    stall_s : wall time after which a time step that does not end is an error.

    Raises
    ------
    TargetRunError
        a model raised (with the original text), a process died, one blocks, or the time ran out.
    """
    prepare_lava()
    from lava.magma.core.process.process import ProcessServer

    handlers = list(logging.getLogger().handlers)
    recording = current_recording()
    if recording is not None:
        recording.build, recording.tag = build, tag
    session = Session(tag, timeout_s, stall_s, recording)
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
