"""The end of a session: nothing that it started may stay."""

import signal
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from hw_targets.lava.heartbeat import Heartbeat

# How long a regular end may take before processes are killed.
POLITE_S = 1.0


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Put off Ctrl-C until the block is done; other threads than the main one never get it."""
    given = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(given):
        yield
        return
    pressed: list[tuple[int, Any]] = []
    signal.signal(signal.SIGINT, lambda number, frame: pressed.append((number, frame)))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, given)
        if pressed:
            given(*pressed[0])


def ask_to_stop(runtime: Any) -> None:
    """Tell idle processes to end by themselves."""
    from lava.magma.runtime.mgmt_token_enums import MGMT_COMMAND

    for service in runtime.runtime_to_service:
        if service.probe():  # a service that died has not taken the message before
            service.send(MGMT_COMMAND.STOP)
    until = time.monotonic() + POLITE_S
    actors = runtime._messaging_infrastructure.actors
    while any(actor.is_alive() for actor in actors) and time.monotonic() < until:
        time.sleep(0.001)


def end(runtime: Any, process: Any) -> None:
    """Kill what still runs, end the listening threads, release the shared memory."""
    infrastructure = runtime._messaging_infrastructure
    if infrastructure is not None:
        actors = infrastructure.actors
        for actor in actors:
            if not actor._is_done and actor.is_alive():
                actor.kill()
        for actor in actors:
            actor.join()
        _join_ports(runtime, process)
        infrastructure.smm.shutdown()
    runtime._open_ports.clear()
    # so that neither Lava's destructors nor a second close try again
    runtime._is_running = runtime._is_started = False


def death(actors: Sequence[Any], heartbeat: Heartbeat) -> str:
    """Who died without an exception, of what, and where it was."""
    dead = []
    for place, actor in enumerate(actors):
        if actor.is_alive():
            continue
        code = actor.exitcode
        cause = f"exit code {code}" if code >= 0 else f"killed by {signal.Signals(-code).name}"
        # the models first, then the services that Lava coordinates them with
        is_model = place < len(heartbeat.names)
        dead.append(f"{heartbeat.step(place) if is_model else 'Lava runtime service'} ({cause})")
    return f"a Lava process died without an exception: {'; '.join(dead)}"


def _join_ports(runtime: Any, process: Any) -> None:
    """End the listening threads of the parent's ports."""
    ports = [*runtime.runtime_to_service, *runtime.service_to_runtime]
    for port in process.out_ports:
        pipe = getattr(port, "external_pipe_csp_recv_port", None)
        if pipe is not None:
            ports.append(pipe)
    for port in ports:
        port.join()
