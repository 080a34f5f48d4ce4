"""Two processes that train together do what one does, and stop together."""

import os
import subprocess
import sys
from contextlib import nullcontext
from datetime import timedelta
from pathlib import Path

import pytest
import torch
from torch import distributed

from models.training import processes as module
from models.training.processes import reproducible

SCRIPT = Path(__file__).with_name("tiny_run.py")


@pytest.fixture(scope="module")
def shared(tmp_path_factory):
    folder = tmp_path_factory.mktemp("two")
    launch = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc_per_node=2"]
    run = subprocess.run(
        [*launch, str(SCRIPT), str(folder)],
        env={**os.environ, "PYTHONPATH": str(SCRIPT.parents[3]), "OMP_NUM_THREADS": "1"},
        capture_output=True, text=True, check=False, timeout=180,
    )  # fmt: skip
    assert run.returncode == 0, run.stderr
    return folder


def _rows(folder):
    lines = (folder / "log.csv").read_text().splitlines()[1:]
    return [[float(number or 0.0) for number in line.split(",")] for line in lines]


def test_the_loss_curve_is_that_of_one_process(shared, tiny, tmp_path):
    tiny.run(tmp_path, shape=tiny.TinyConfig(dropout=0.0))
    rows, wanted = _rows(shared / "shared"), _rows(tmp_path)
    assert len(rows) == len(wanted) == 6
    for row, expected in zip(rows, wanted, strict=True):
        # equal up to the order of float32 sums: losses of about 7 bits, a dozen steps
        assert row == pytest.approx(expected, abs=1e-5)


def test_only_the_first_process_writes(shared, unbroken):
    names = {path.name for path in (shared / "shared").iterdir()}
    assert names == {path.name for path in unbroken.iterdir()}
    assert len(list((shared / "shared" / "tensorboard").iterdir())) == 1


def test_both_processes_stop_with_the_reason(shared):
    first, second = ((shared / f"messages{rank}").read_text().splitlines() for rank in range(2))
    reason = "TrainingDiverged: step 3: NaN or infinity, first in the output of layer drop.1 (Spoiled)"
    assert first[0].startswith(reason) and second[0].startswith(reason)
    assert first[1].startswith("ConfigError: ") and "given a folder that already holds a run" in first[1]
    assert second[1] == f"OscsimError: process 0 stopped: {first[1].removeprefix('ConfigError: ')}"
    assert first[2] == second[2] == "already complete: True"


def test_no_thread_of_a_process_group_outlives_it(shared):
    """One that is busy when Python ends aborts the process, after all results are written."""
    for rank in range(2):
        threads = (shared / f"threads{rank}").read_text().split()
        assert threads and not [name for name in threads if "gloo" in name]


def test_the_others_wait_for_hours_while_the_first_measures(monkeypatch):
    joined = []
    monkeypatch.setattr(module, "rendezvous", lambda _: iter([(distributed.HashStore(), 0, 2)]))
    monkeypatch.setattr(distributed, "init_process_group", lambda *_, **options: joined.append(options))
    monkeypatch.setattr(distributed, "destroy_process_group", lambda: None)
    monkeypatch.setenv("WORLD_SIZE", "2")
    with module.processes("cpu"):
        pass
    assert len(joined) == 1 and joined[0]["timeout"] >= timedelta(hours=3)


@pytest.mark.parametrize(("device", "warn_only"), [("cpu", False), ("cuda", True)])
def test_a_kernel_without_a_deterministic_version_ends_a_run_on_the_cpu_only(monkeypatch, device, warn_only):
    monkeypatch.setattr(torch.random, "fork_rng", lambda devices: nullcontext())  # there may be no GPU here
    before = torch.is_deterministic_algorithms_warn_only_enabled()
    with reproducible(torch.device(device)):
        assert torch.are_deterministic_algorithms_enabled()
        assert torch.is_deterministic_algorithms_warn_only_enabled() is warn_only
    assert not torch.are_deterministic_algorithms_enabled()
    assert torch.is_deterministic_algorithms_warn_only_enabled() is before
