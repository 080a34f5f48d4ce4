"""What a run of target lava may leave behind: nothing. Counted by the kernel, not by Lava."""

import gc
import logging
import multiprocessing
import os
import threading
import time
from pathlib import Path

import pytest

from hw_targets import get_target
from hw_targets.lava.compat import prepare_lava
from oscsim import FrequencyCoupling, PhaseLayerSpec

prepare_lava()
from lava.magma.core.process.process import ProcessServer  # noqa: E402
from lava.magma.runtime.message_infrastructure import multiprocessing as actors  # noqa: E402


def two_tokens(dynamics: str = "pair") -> PhaseLayerSpec:
    return PhaseLayerSpec(
        omega=[[[0.0], [0.4]]],
        theta=[[[0.1], [0.5]]],
        coupling=FrequencyCoupling(alpha=[0.2]),
        gain=[1.5],
        dynamics=dynamics,
    )


@pytest.fixture
def small_layer():
    """A layer of two tokens: ``small_layer("network")``."""
    return two_tokens


@pytest.fixture(scope="session")
def resource_tracker():
    """Python's own helper process starts with the first run and stays; so does what is imported then."""
    for dynamics in ("pair", "network"):
        get_target("lava").lower(two_tokens(dynamics)).run()


def children() -> set[int]:
    """Process ids of everything this process has started and not yet reaped."""
    mine = Path(f"/proc/{os.getpid()}/task").glob("*/children")
    return {int(pid) for one in mine for pid in one.read_text().split()}


def held() -> dict[str, int]:
    """How many threads, files, mapped semaphores and mapped blocks of shared memory this process holds."""
    gc.collect()
    maps = Path("/proc/self/maps").read_text().splitlines()
    return {
        "threads": threading.active_count(),
        "files": len(os.listdir("/proc/self/fd")),
        "semaphores": sum("/sem." in line for line in maps),
        "blocks": sum("/psm_" in line for line in maps),
        "log handlers": len(logging.getLogger().handlers),
        "Lava processes": ProcessServer().num_processes,
    }


@pytest.fixture
def held_now():
    """The counter itself, for tests that look in between."""
    return held


@pytest.fixture
def nothing_is_left_behind(monkeypatch, resource_tracker):
    """Compare everything countable after the test with before; yields the blocks of shared memory made."""
    kept, before = children(), held()
    blocks = []  # only our own: other processes of the machine have theirs beside them
    manager = actors.SharedMemoryManager
    make = manager.create_shared_memory

    def note(self, size):
        block = make(self, size)
        blocks.append(Path("/dev/shm") / block.name)
        return block

    monkeypatch.setattr(manager, "create_shared_memory", note)
    named = set(Path("/dev/shm").glob("sem.mp-*"))
    yield blocks
    assert children() <= kept and not multiprocessing.active_children()
    assert not [block for block in blocks if block.exists()]
    until = time.monotonic() + 2
    while (after := held()) != before and time.monotonic() < until:
        time.sleep(0.02)
    assert {name: count for name, count in after.items() if count > before[name]} == {}
    # Python removes the name of a forked semaphore as soon as it is made; others beside us make some too
    left = set(Path("/dev/shm").glob("sem.mp-*")) - named
    time.sleep(0.5 if left else 0)
    assert not [one for one in left if one.exists()]
