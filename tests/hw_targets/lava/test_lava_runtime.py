"""Nothing hangs, nothing is left behind, no exception text is lost.

Model processes are forked, so a model patched here is patched there.
"""

import logging
import multiprocessing
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path

import pytest

from hw_targets import get_target
from hw_targets.lava.compat import prepare_lava
from oscsim import FrequencyCoupling, PhaseLayerSpec, compare, solve
from oscsim.errors import TargetRunError, TargetUnavailable

prepare_lava()
from lava.magma.core.process.process import ProcessServer  # noqa: E402
from lava.magma.runtime.message_infrastructure import multiprocessing as actors  # noqa: E402

from hw_targets.lava.processes import pair_cells, phase_oscillators  # noqa: E402

TARGET = get_target("lava")
DYNAMICS = ("pair", "network")
MODELS = {"pair": pair_cells._CellsModel, "network": phase_oscillators._OscillatorsModel}


def layer(dynamics: str = "pair") -> PhaseLayerSpec:
    return PhaseLayerSpec(
        omega=[[[0.0], [0.4]]],
        theta=[[[0.1], [0.5]]],
        coupling=FrequencyCoupling(alpha=[0.2]),
        gain=[1.5],
        dynamics=dynamics,
    )


def children() -> set[int]:
    """Process ids of everything this process has started and not yet reaped."""
    mine = Path(f"/proc/{os.getpid()}/task").glob("*/children")
    return {int(pid) for one in mine for pid in one.read_text().split()}


@pytest.fixture(autouse=True)
def nothing_is_left_behind(monkeypatch):
    TARGET.lower(layer()).run()  # Python's resource tracker starts once and stays
    kept = {*children()}
    blocks = []  # only our own: other processes of the machine have theirs beside them
    manager = actors.SharedMemoryManager
    make = manager.create_shared_memory

    def note(self, size):
        block = make(self, size)
        blocks.append(Path("/dev/shm") / block.name)
        return block

    monkeypatch.setattr(manager, "create_shared_memory", note)
    threads, handlers = threading.active_count(), list(logging.getLogger().handlers)
    files = len(os.listdir("/proc/self/fd"))
    yield blocks
    assert children() <= kept and not multiprocessing.active_children()
    assert not any(block.exists() for block in blocks)
    until = time.monotonic() + 2
    while threading.active_count() > threads and time.monotonic() < until:
        time.sleep(0.01)
    assert threading.active_count() <= threads
    assert logging.getLogger().handlers == handlers
    assert len(os.listdir("/proc/self/fd")) <= files + 2
    assert ProcessServer().num_processes == 0


def test_a_regular_run_cleans_up(nothing_is_left_behind):
    TARGET.lower(layer("network")).run()
    assert len(nothing_is_left_behind) > 5  # blocks that the fixture finds gone


class Unpicklable(Exception):
    """An exception that can neither be pickled nor rebuilt from its arguments."""

    def __init__(self, first, second):
        super().__init__(f"{first} and {second}")
        self.lock = threading.Lock()


@pytest.mark.parametrize("dynamics", DYNAMICS)
@pytest.mark.parametrize("error", [ValueError("the cell is on fire"), Unpicklable("the cell", "on fire")])
def test_a_model_that_raises_tells_the_original_text(dynamics, error, monkeypatch):
    run = MODELS[dynamics].run_spk

    def burning(self):
        if self.time_step == 20:
            raise error
        run(self)

    monkeypatch.setattr(MODELS[dynamics], "run_spk", burning)
    with pytest.raises(TargetRunError) as caught:
        TARGET.lower(layer(dynamics)).run()
    assert f"{type(error).__name__}: {error}" in str(caught.value)
    assert "in burning" in str(caught.value)  # the traceback of the model process


@pytest.mark.parametrize("dynamics", DYNAMICS)
def test_a_model_that_cannot_be_built_tells_the_original_text(dynamics, monkeypatch):
    def broken(self, proc_params=None):
        raise KeyError("no arithmetic today")

    monkeypatch.setattr(MODELS[dynamics], "__init__", broken, raising=False)
    with pytest.raises(TargetRunError, match="no arithmetic today"):
        TARGET.lower(layer(dynamics)).run()


@pytest.mark.parametrize("dynamics", DYNAMICS)
def test_a_model_that_blocks_ends_with_the_time_limit(dynamics, monkeypatch):
    def blocked(self):
        threading.Event().wait()

    monkeypatch.setattr(MODELS[dynamics], "run_spk", blocked)
    started = time.monotonic()
    with pytest.raises(TargetRunError, match=r"no answer within timeout_s=1.5 s: a model blocks"):
        TARGET.lower(layer(dynamics), TARGET.config(timeout_s=1.5)).run()
    assert time.monotonic() - started < 4


def test_a_model_that_dies_is_noticed(monkeypatch):
    monkeypatch.setattr(pair_cells._CellsModel, "run_spk", lambda self: os._exit(7))
    with pytest.raises(TargetRunError, match=r"died without an exception \(exit codes \[7\]\)"):
        TARGET.lower(layer()).run()


def test_ctrl_c_cleans_up(monkeypatch):
    monkeypatch.setattr(pair_cells._CellsModel, "run_spk", lambda self: threading.Event().wait())
    alarm = threading.Timer(1.0, lambda: os.kill(os.getpid(), signal.SIGINT))
    # a test run in the background starts with SIGINT ignored, and brian2's handler cannot cope with that
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    alarm.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            TARGET.lower(layer()).run()
    finally:
        signal.signal(signal.SIGINT, before)
    alarm.join()


def test_runs_after_a_failure_are_sound(monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(pair_cells._CellsModel, "run_spk", lambda self: 1 / 0)
        with pytest.raises(TargetRunError, match="ZeroDivisionError"):
            TARGET.lower(layer()).run()
    for dynamics in (*DYNAMICS, *DYNAMICS):
        assert compare(TARGET.lower(layer(dynamics)).run(), solve(layer(dynamics))).conforms


SCRIPT = """
    from hw_targets import get_target
    from oscsim import FrequencyCoupling, PhaseLayerSpec
    spec = PhaseLayerSpec(omega=[[[0.0], [0.4]]], theta=[[[0.1], [0.5]]],
                          coupling=FrequencyCoupling(alpha=[0.2]), gain=[1.5])
    run = get_target("lava").lower(spec).run
"""


def python(code: str, **options) -> subprocess.Popen:
    command = [sys.executable, "-c", textwrap.dedent(SCRIPT) + textwrap.dedent(code)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options)


def test_other_users_of_multiprocessing_are_undisturbed():
    done = python("""
        import multiprocessing
        run()
        assert multiprocessing.get_start_method(allow_none=True) is None
        multiprocessing.set_start_method("spawn")  # Lava alone would have forbidden this
        print(run().status, multiprocessing.get_start_method())
    """)
    out, err = done.communicate(timeout=60)
    assert out.split() == ["settled", "spawn"], err


def test_torch_in_the_parent_does_no_harm():
    done = python("""
        import torch
        square = torch.rand(300, 300)
        (square @ square).sum().item()  # starts torch's threads
        print(run().status)
    """)
    out, err = done.communicate(timeout=60)
    assert out.strip() == "settled", err


BLOCKED = """
    from hw_targets.lava.compat import prepare_lava
    prepare_lava()
    from hw_targets.lava.processes import pair_cells
    import threading
    pair_cells._CellsModel.run_spk = lambda self: threading.Event().wait()
    print("ready", flush=True)
    run()
"""


def offspring(parent: subprocess.Popen) -> list[str]:
    """Process ids of a blocked run, once it has them all."""
    assert parent.stdout.readline() == "ready\n"
    tree = Path(f"/proc/{parent.pid}/task/{parent.pid}/children")
    until = time.monotonic() + 20
    while len(found := tree.read_text().split()) < 4 and time.monotonic() < until:
        time.sleep(0.05)
    assert len(found) >= 4  # resource tracker, shared memory, model, runtime service
    time.sleep(0.3)
    return found


def all_gone(pids: list[str]) -> bool:
    until = time.monotonic() + 8
    while any(_alive(pid) for pid in pids) and time.monotonic() < until:
        time.sleep(0.1)
    return not any(_alive(pid) for pid in pids)


def test_a_killed_parent_leaves_no_orphans():
    parent = python(BLOCKED)
    pids = offspring(parent)
    parent.kill()
    parent.communicate()
    assert all_gone(pids)


def test_ctrl_c_in_a_terminal_is_one_interrupt():
    """A terminal interrupts the whole group: the models leave it to the parent and print nothing."""
    parent = python(BLOCKED, start_new_session=True)
    pids = offspring(parent)
    os.killpg(parent.pid, signal.SIGINT)
    _, err = parent.communicate(timeout=10)
    assert err.count("Traceback") == err.count("KeyboardInterrupt") == 1
    assert all_gone(pids)


def _alive(pid: str) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().split(")")[1].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def test_a_missing_backend_is_named_with_its_cure(monkeypatch):
    from importlib import metadata

    def absent(name):
        raise metadata.PackageNotFoundError(name)

    executable = TARGET.lower(layer())
    monkeypatch.setattr(metadata, "version", absent)
    with pytest.raises(TargetUnavailable, match=r"lava-nc is not installed.*--no-deps .*lava-nc==0\.10\.0"):
        executable.run()
    assert not TARGET.availability().available


def run_in_pool(_):
    try:
        TARGET.lower(layer()).run()
    except TargetRunError as error:
        return str(error)


def test_a_daemonic_worker_is_told_what_to_use():
    with multiprocessing.get_context("fork").Pool(1) as pool:
        assert "ProcessPoolExecutor" in pool.map(run_in_pool, [0])[0]


def test_a_manager_that_cannot_start_keeps_its_text(monkeypatch):
    def refuse(_):
        raise OSError("no more processes")

    monkeypatch.setattr(actors.SharedMemoryManager, "start", refuse)
    with pytest.raises(TargetRunError, match="Lava could not start: OSError: no more processes"):
        TARGET.lower(layer()).run()
