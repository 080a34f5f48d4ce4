"""Lava beside others: multiprocessing, torch, threads, notebooks, scripts from stdin, a killed parent."""

import multiprocessing
import os
import signal
import subprocess
import sys
import textwrap
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from hw_targets import get_target
from oscsim import compare, solve
from oscsim.errors import TargetRunError, TargetUnavailable

pytestmark = pytest.mark.usefixtures("nothing_is_left_behind")

TARGET = get_target("lava")


def test_a_regular_run_cleans_up(nothing_is_left_behind, small_layer):
    TARGET.lower(small_layer("network")).run()
    assert len(nothing_is_left_behind) > 5  # blocks that the fixture finds gone


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


def test_a_script_from_stdin_needs_no_main_guard(tmp_path):
    code = textwrap.dedent(SCRIPT) + "print(run().status)\n"
    done = subprocess.run(
        [sys.executable, "-"],
        input=code,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert done.stdout.split() == ["settled"], done.stderr


def test_a_cell_of_a_notebook_runs_inside_its_event_loop():
    """A notebook executes text of no file, in the thread of a running loop, beside threads of its own."""
    done = python("""
        import asyncio, threading
        threading.Thread(target=threading.Event().wait, daemon=True).start()
        async def cell():
            beat = asyncio.create_task(asyncio.sleep(0.01, "loop alive"))
            scope = {"run": run}
            exec(compile("status = run().status", "<ipython-input-1>", "single"), scope)
            return scope["status"], await beat
        print(*asyncio.run(cell()))
    """)
    out, err = done.communicate(timeout=60)
    assert out.strip() == "settled loop alive" and not err, err


def test_runs_in_two_threads_do_not_disturb_each_other(small_layer):
    layers = [small_layer("pair"), small_layer("network")] * 2
    with ThreadPoolExecutor(2) as pool:
        results = list(pool.map(lambda one: TARGET.lower(one).run(), layers))
    assert all(compare(one, solve(layer)).conforms for one, layer in zip(results, layers, strict=True))


BLOCKED = """
    from hw_targets.lava.compat import prepare_lava
    prepare_lava()
    from hw_targets.lava.processes import pair_cells
    import threading
    pair_cells.PyPairCellsFixed.run_spk = lambda self: threading.Event().wait()
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


def shared_memory(process: subprocess.Popen) -> set[Path]:
    """Blocks that a process has mapped."""
    lines = Path(f"/proc/{process.pid}/maps").read_text().splitlines()
    return {Path(line.split()[-1]) for line in lines if line.split()[-1].startswith("/dev/shm/psm_")}


def all_gone(pids: list[str]) -> bool:
    until = time.monotonic() + 8
    while any(_alive(pid) for pid in pids) and time.monotonic() < until:
        time.sleep(0.1)
    return not any(_alive(pid) for pid in pids)


def test_a_killed_parent_leaves_no_orphans():
    parent = python(BLOCKED)
    pids, blocks = offspring(parent), shared_memory(parent)
    assert len(blocks) > 2
    parent.kill()
    parent.communicate()
    assert all_gone(pids)
    until = time.monotonic() + 5  # Python's resource tracker removes them when the last process is gone
    while any(block.exists() for block in blocks) and time.monotonic() < until:
        time.sleep(0.1)
    assert not any(block.exists() for block in blocks)


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


def test_a_missing_backend_is_named_with_its_cure(monkeypatch, small_layer):
    from importlib import metadata

    def absent(name):
        raise metadata.PackageNotFoundError(name)

    executable = TARGET.lower(small_layer())
    monkeypatch.setattr(metadata, "version", absent)
    with pytest.raises(TargetUnavailable, match=r"lava-nc is not installed.*--no-deps .*lava-nc==0\.10\.0"):
        executable.run()
    assert not TARGET.availability().available


def run_in_pool(spec):
    try:
        TARGET.lower(spec).run()
    except TargetRunError as error:
        return str(error)


def test_a_daemonic_worker_is_told_what_to_use(small_layer):
    with multiprocessing.get_context("fork").Pool(1) as pool:
        assert "ProcessPoolExecutor" in pool.map(run_in_pool, [small_layer()])[0]


def test_a_manager_that_cannot_start_keeps_its_text(monkeypatch, small_layer):
    def refuse(_):
        raise OSError("no more processes")

    from lava.magma.runtime.message_infrastructure import multiprocessing as actors

    monkeypatch.setattr(actors.SharedMemoryManager, "start", refuse)
    with pytest.raises(TargetRunError, match="Lava could not start: OSError: no more processes"):
        TARGET.lower(small_layer()).run()
