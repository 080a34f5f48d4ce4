"""The start of a session: from processes to a runtime whose models are forked."""

import warnings
from typing import Any


def compiled(process: Any, tag: str) -> tuple[Any, dict[Any, Any]]:
    """Lava's runtime for everything connected to a process, and its builders by process; nothing runs yet."""
    from lava.magma.core.process.message_interface_enum import ActorType
    from lava.magma.core.run_configs import Loihi2SimCfg
    from lava.magma.runtime.runtime import Runtime

    executable = process.compile(Loihi2SimCfg(select_tag=tag))
    runtime = Runtime(executable, ActorType.MultiProcessing)
    executable.assign_runtime_to_all_processes(runtime)
    return runtime, executable.proc_builders


def fork(runtime: Any) -> None:
    """What Lava's ``Runtime.initialize`` does before it waits without a deadline."""
    with warnings.catch_warnings():
        # Python >= 3.12 warns that a fork of several threads may deadlock; the models use no thread
        warnings.filterwarnings("ignore", "This process .* is multi-threaded", DeprecationWarning)
        runtime._build_watchdog_manager()
        runtime._build_message_infrastructure()
        runtime._build_channels()
        runtime._build_sync_channels()
        runtime._build_processes()
        runtime._build_runtime_services()
        runtime._start_ports()


def name_of(process: Any) -> str:
    """The class of a process, and its own name where somebody gave it one."""
    kind = type(process).__name__
    return kind if process.name == f"Process_{process.id}" else f"{kind} {process.name!r}"
