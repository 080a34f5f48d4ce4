"""One compiled set of Lava processes with a deadline: start, run, read."""

import logging
import queue
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hw_targets.lava.ending import ask_to_stop, death, end, uninterrupted
from hw_targets.lava.heartbeat import Heartbeat
from hw_targets.lava.recording import Recording
from hw_targets.lava.starting import compiled, fork, name_of
from oscsim.errors import TargetRunError

LONGEST_POLL_S = 0.004
# Who waits for a run is told where it is this often; the command line listens to this logger.
PROGRESS_S = 5.0
_PROGRESS = logging.getLogger("oscsim.progress")
# How long a failed model's text may take to arrive.
GRACE_S = 1.0


class Session:
    """A compiled set of processes with a deadline. Made by :func:`hw_targets.lava.runtime.lava_session`."""

    def __init__(self, tag: str, timeout_s: float, stall_s: float, recording: Recording | None) -> None:
        self.tag = tag
        self.deadline = time.monotonic() + timeout_s
        self.timeout_s = timeout_s
        self.stall_s = stall_s
        self.process: Any = None
        self.processes: list[Any] = []
        self._recording = recording
        self._runtime: Any = None
        self._heartbeat = Heartbeat([], [])
        self._idle = False
        self._told = time.monotonic()

    def start(self, process: Any) -> None:
        """Compile, fork the model processes and wait until each is built."""
        from lava.magma.compiler.compiler_graphs import find_processes

        self.process = process
        self.processes = find_processes(process)
        self._runtime, builders = compiled(process, self.tag)
        self._heartbeat = Heartbeat([name_of(one) for one in builders], list(builders.values()))
        # an interrupt in between would lose a process that is forked, but not yet listed
        with uninterrupted():
            fork(self._runtime)
        self._heartbeat.restart()
        for built in self._runtime.exception_q:
            self._wait_until_built(built)
        self._runtime._is_initialized = self._runtime._is_started = True
        self._idle = True

    def run(self, steps: int, port: Any, messages: int) -> list[NDArray[np.float64]]:
        """Run a number of Lava time steps and return the messages that a flagged output port sends."""
        from lava.magma.core.run_conditions import RunSteps
        from lava.magma.runtime.mgmt_token_enums import MGMT_RESPONSE, enum_equal

        received: list[NDArray[np.float64]] = []
        services = self._runtime.service_to_runtime

        def finished() -> bool:
            self._drain(port, received)
            return all(service.probe() for service in services)

        def complete() -> bool:  # a message may arrive after the end of the run is known
            self._drain(port, received)
            return len(received) >= messages

        self._idle = False
        self._runtime.start(RunSteps(num_steps=steps, blocking=False))
        self._until(finished)
        answers = [service.recv() for service in services]
        if not all(enum_equal(answer, MGMT_RESPONSE.DONE) for answer in answers):
            raise TargetRunError(self._reason())
        self._runtime._is_running = False
        self._idle = True
        self._until(complete)
        if self._recording is not None:
            self._recording.port = port.name
            self._recording.lava_steps += steps
            self._recording.messages += received
        return received

    def read(self, var: Any) -> NDArray[np.float64]:
        """Value of a variable of a process, between runs; about 0.2 ms per element."""
        from lava.magma.runtime.mgmt_token_enums import MGMT_COMMAND, enum_to_np

        model = self._runtime._executable.node_configs[0].var_models[var.id]
        out = self._runtime.runtime_to_service[model.runtime_srv_id]
        back = self._runtime.service_to_runtime[model.runtime_srv_id]
        for token in (MGMT_COMMAND.GET_DATA, enum_to_np(model.proc_id), enum_to_np(var.id)):
            self._until(out.probe)
            out.send(token)
        self._until(back.probe)
        values = np.zeros(int(back.recv()[0]))
        for place in range(len(values)):
            self._until(back.probe)
            values[place] = back.recv()[0]
        return values.reshape(var.shape)

    def close(self) -> None:
        """End every model process, politely when it is idle, and release the shared memory."""
        runtime, self._runtime = self._runtime, None
        if runtime is None:
            return
        with uninterrupted():
            if self._idle:
                ask_to_stop(runtime)
            end(runtime, self.process)

    def _until(self, ready: Callable[[], bool]) -> None:
        """Wait until something is so, unless a process fails, all stall, or the time is over."""
        self._heartbeat.restart()
        pause = 0.0001
        while not ready():
            self._check()
            self._tell()
            time.sleep(pause)
            pause = min(2 * pause, LONGEST_POLL_S)

    def _tell(self) -> None:
        """Say now and then how far the run is."""
        if time.monotonic() > self._told + PROGRESS_S:
            self._told = time.monotonic()
            _PROGRESS.info("%d time steps of Lava done", self._heartbeat.finished())

    def _wait_until_built(self, built: Any) -> None:
        """Wait for one process to report that its model was constructed."""
        while True:
            try:
                problem = built.get(timeout=0.02)
            except queue.Empty:
                self._check()
                continue
            if problem is not None:
                trace = getattr(problem, "trace", "")
                raise TargetRunError(f"a Lava model could not be built: {problem!r}\n{trace}")
            return

    def _drain(self, port: Any, received: list[NDArray[np.float64]]) -> None:
        pipe = port.external_pipe_csp_recv_port
        while pipe.probe():
            received.append(pipe.recv())

    def _check(self) -> None:
        """Raise if a process failed, none makes progress or the time is over."""
        actors = self._runtime._messaging_infrastructure.actors
        if any(actor.exception is not None or not actor.is_alive() for actor in actors):
            raise TargetRunError(self._reason())
        if self._heartbeat.silent_s() > self.stall_s:
            raise TargetRunError(
                f"no time step was finished for stall_s={self.stall_s:g} s: {self._heartbeat.where()}. "
                "A model blocks; if one step really takes that long, raise stall_s"
            )
        if time.monotonic() > self.deadline:
            raise TargetRunError(
                f"no answer within timeout_s={self.timeout_s:g} s: {self._heartbeat.positions()}. The run "
                "needs more time, or a model blocks; raise timeout_s, or lower max_steps"
            )

    def _reason(self) -> str:
        """What went wrong: the text of the first exception, or else who died."""
        actors = self._runtime._messaging_infrastructure.actors
        until = time.monotonic() + GRACE_S
        while time.monotonic() < until:
            for actor in actors:
                if actor.exception is not None:
                    summary, trace = actor.exception
                    return f"a Lava model raised {summary}\n{trace}"
            time.sleep(0.01)
        return death(actors, self._heartbeat)
