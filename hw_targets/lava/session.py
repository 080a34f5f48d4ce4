"""One compiled set of Lava processes with a deadline: start, run, end."""

import queue
import time
import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

from oscsim.errors import TargetRunError

LONGEST_POLL_S = 0.004
# How long a failed model's text, or a regular end, may take to arrive.
GRACE_S = 1.0


class Session:
    """A compiled set of processes with a deadline. Made by :func:`hw_targets.lava.runtime.lava_session`."""

    def __init__(self, tag: str, deadline: float, timeout_s: float) -> None:
        self.tag = tag
        self.deadline = deadline
        self.timeout_s = timeout_s
        self.process: Any = None
        self.processes: list[Any] = []
        self._runtime: Any = None
        self._idle = False

    def start(self, process: Any) -> None:
        """Compile, fork the model processes and wait until each is built."""
        from lava.magma.compiler.compiler_graphs import find_processes
        from lava.magma.core.process.message_interface_enum import ActorType
        from lava.magma.core.run_configs import Loihi2SimCfg
        from lava.magma.runtime.runtime import Runtime

        self.process = process
        self.processes = find_processes(process)
        executable = process.compile(Loihi2SimCfg(select_tag=self.tag))
        self._runtime = runtime = Runtime(executable, ActorType.MultiProcessing)
        executable.assign_runtime_to_all_processes(runtime)
        with warnings.catch_warnings():
            # Python >= 3.12 warns that a fork of several threads may deadlock; the models use no thread
            warnings.filterwarnings("ignore", "This process .* is multi-threaded", DeprecationWarning)
            self._fork(runtime)
        for built in runtime.exception_q:
            self._wait_until_built(built)
        runtime._is_initialized = runtime._is_started = True
        self._idle = True

    def _fork(self, runtime: Any) -> None:
        """What Lava's ``Runtime.initialize`` does before it waits without a deadline."""
        runtime._build_watchdog_manager()
        runtime._build_message_infrastructure()
        runtime._build_channels()
        runtime._build_sync_channels()
        runtime._build_processes()
        runtime._build_runtime_services()
        runtime._start_ports()

    def run(self, steps: int, port: Any, messages: int) -> list[NDArray[np.float64]]:
        """Run a number of Lava time steps and return the messages that a flagged output port sends."""
        from lava.magma.core.run_conditions import RunSteps
        from lava.magma.runtime.mgmt_token_enums import MGMT_RESPONSE, enum_equal

        received: list[NDArray[np.float64]] = []
        self._idle = False
        self._runtime.start(RunSteps(num_steps=steps, blocking=False))
        pause = 0.0001
        while not all(service.probe() for service in self._runtime.service_to_runtime):
            self._drain(port, received)
            self._check()
            time.sleep(pause)
            pause = min(2 * pause, LONGEST_POLL_S)
        answers = [service.recv() for service in self._runtime.service_to_runtime]
        if not all(enum_equal(answer, MGMT_RESPONSE.DONE) for answer in answers):
            raise TargetRunError(self._reason(time.monotonic() + GRACE_S))
        self._runtime._is_running = False
        self._idle = True
        while len(received) < messages:  # a message may arrive after the end of the run is known
            self._drain(port, received)
            self._check()
            time.sleep(0.0001)
        return received

    def close(self) -> None:
        """End every model process, politely when it is idle, and release the shared memory."""
        if self._runtime is None:
            return
        if self._idle:
            self._ask_to_stop()
        runtime, self._runtime = self._runtime, None
        infrastructure = runtime._messaging_infrastructure
        if infrastructure is not None:
            actors = infrastructure.actors
            for actor in actors:
                if not actor._is_done and actor.is_alive():
                    actor.kill()
            for actor in actors:
                actor.join()
            self._join_ports(runtime)
            # a manager that could not start has nothing to shut down, and no method for it
            if hasattr(infrastructure.smm._manager, "shutdown"):
                infrastructure.smm.shutdown()
        runtime._open_ports.clear()
        # so that neither Lava's destructors nor a second close try again
        runtime._is_running = runtime._is_started = False

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
        """Raise if a process failed or the time is over."""
        actors = self._runtime._messaging_infrastructure.actors
        if any(actor.exception is not None or not actor.is_alive() for actor in actors):
            raise TargetRunError(self._reason(time.monotonic() + GRACE_S))
        if time.monotonic() > self.deadline:
            raise TargetRunError(
                f"no answer within timeout_s={self.timeout_s:g} s: a model blocks, or the run needs more "
                "time; raise timeout_s, or lower max_steps"
            )

    def _reason(self, until: float) -> str:
        """What went wrong: the text of the first exception, or else who died."""
        actors = self._runtime._messaging_infrastructure.actors
        while time.monotonic() < until:
            for actor in actors:
                if actor.exception is not None:
                    summary, trace = actor.exception
                    return f"a Lava model raised {summary}\n{trace}"
            time.sleep(0.01)
        codes = [actor.exitcode for actor in actors if not actor.is_alive()]
        return f"a Lava model process died without an exception (exit codes {codes})"

    def _ask_to_stop(self) -> None:
        from lava.magma.runtime.mgmt_token_enums import MGMT_COMMAND

        for service in self._runtime.runtime_to_service:
            service.send(MGMT_COMMAND.STOP)
        until = time.monotonic() + GRACE_S
        actors = self._runtime._messaging_infrastructure.actors
        while any(actor.is_alive() for actor in actors) and time.monotonic() < until:
            time.sleep(0.001)

    def _join_ports(self, runtime: Any) -> None:
        """End the listening threads of the parent's ports."""
        ports = [*runtime.runtime_to_service, *runtime.service_to_runtime]
        for port in self.process.out_ports:
            pipe = getattr(port, "external_pipe_csp_recv_port", None)
            if pipe is not None:
                ports.append(pipe)
        for port in ports:
            port.join()
