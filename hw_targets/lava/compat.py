"""Make lava-nc 0.10.0 importable on Python >= 3.11, without leaving traces in other users of multiprocessing.

Nothing on disk is changed. Three things are set right while or after Lava is imported:

* one dataclass of Lava uses an instance of an unhashable dataclass as a default, which Python refuses since
  3.11; that class gets an identity hash while its module is imported;
* Lava sets the start method of the whole interpreter to fork, and fails where one was set before; the call is
  ignored during import, and Lava's own processes, queues and semaphores are bound to a fork context instead;
* a model's exception reaches the parent as text, so one that cannot be pickled is not lost, and the processes
  end when their parent does (a killed parent leaves no orphans).
"""

import dataclasses
import importlib
import multiprocessing
import os
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable
from functools import cache
from multiprocessing.shared_memory import SharedMemory
from typing import Any

from oscsim.errors import TargetRunError

PATCHED_MODULE = "lava.magma.compiler.var_model"
# What that module imports: loaded beforehand, so that only its own classes meet the substitute.
DEPENDENCIES = (
    "lava.magma.compiler.mappable_interface",
    "lava.magma.compiler.subcompilers.address",
    "lava.magma.core.process.ports.connection_config",
    "lava.magma.core.process.variable",
)
PARENT_POLL_S = 0.5


@cache
def prepare_lava() -> None:
    """Import Lava's core so that every later ``import lava...`` works; repeated calls do nothing.

    Raises
    ------
    TargetRunError
        the platform cannot fork (Windows).
    """
    if "fork" not in multiprocessing.get_all_start_methods():
        raise TargetRunError(
            f"target 'lava': {sys.platform} cannot fork, and Lava's runtime needs it; use Linux or macOS"
        )
    _import_unhashable_default()
    given = multiprocessing.set_start_method
    multiprocessing.set_start_method = _ignore_start_method
    try:
        importlib.import_module("lava.magma.runtime.runtime")
    finally:
        multiprocessing.set_start_method = given
    _bind_to_fork()


def _ignore_start_method(method: str | None, force: bool = False) -> None:
    """Stands in for ``multiprocessing.set_start_method`` while Lava is imported."""


def _import_unhashable_default() -> None:
    """Import the one module whose dataclass default Python >= 3.11 refuses."""
    if PATCHED_MODULE in sys.modules:
        return
    for name in DEPENDENCIES:
        importlib.import_module(name)
    given = dataclasses.dataclass

    def with_identity_hash(cls: type | None = None, /, **options: Any) -> Any:
        made = given(cls, **options)
        if cls is not None and cls.__name__ == "ByteEncoder":
            made.__hash__ = object.__hash__
        return made

    dataclasses.dataclass = with_identity_hash
    try:
        importlib.import_module(PATCHED_MODULE)
    finally:
        dataclasses.dataclass = given


def _bind_to_fork() -> None:
    """Bind every multiprocessing primitive that Lava's runtime uses to a fork context."""
    from lava.magma.compiler.channels import pypychannel
    from lava.magma.runtime import runtime
    from lava.magma.runtime.message_infrastructure import multiprocessing as lava_processes

    fork = multiprocessing.get_context("fork")
    actors: Any = lava_processes
    runtime.Queue = fork.Queue
    pypychannel.Semaphore = fork.Semaphore
    actors.SystemProcess._Popen = staticmethod(fork.Process._Popen)
    actors.SystemProcess.run = _run_actor
    actors.SharedMemoryManager = _shared_memory_manager(actors.SharedMemoryManager, fork)


def _shared_memory_manager(base: type, fork: Any) -> type:
    """Lava's shared-memory manager, forked, and ending with its parent."""
    from multiprocessing.managers import SharedMemoryManager

    class ForkedSharedMemoryManager(base):
        def __init__(self) -> None:
            # instead of the base's: its manager would fix the interpreter's default start method
            self._shared_memory_handles = []
            self._manager = SharedMemoryManager(ctx=fork)

        def start(self) -> None:
            self._manager.start(follow_parent, (os.getpid(),))

        def shutdown(self) -> None:
            names = [block.name for block in self._shared_memory_handles]
            for block in self._shared_memory_handles:
                block.close()
            self._shared_memory_handles.clear()
            # a manager that could not start has nothing to shut down, and no method for it
            if hasattr(self._manager, "shutdown"):
                self._manager.shutdown()
            for name in names:
                _unlink(name)

    return ForkedSharedMemoryManager


def _unlink(name: str) -> None:
    """Remove a block of shared memory that its manager has left: one that was killed removes nothing."""
    try:
        block = SharedMemory(name)
    except FileNotFoundError:
        return
    block.close()
    block.unlink()


def _run_actor(self: Any) -> None:
    """Body of a model process: run, and send what it raised to the parent as text."""
    follow_parent(self._parent_pid)
    target: Callable[..., None] = self._target
    try:
        target(*self._args, **self._kwargs)
        self._cconn.send(None)
    except (Exception, SystemExit) as error:
        # this formats even an exception whose own text fails
        summary = "".join(traceback.format_exception_only(error)).strip()
        self._cconn.send((summary, traceback.format_exc()))


def follow_parent(parent: int) -> None:
    """In a child: leave Ctrl-C to the parent, and end when the parent is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(PARENT_POLL_S)
        os._exit(1)

    threading.Thread(target=watch, daemon=True, name="follow-parent").start()
