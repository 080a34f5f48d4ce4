"""Killed at any moment and resumed, a run leaves the files of one that nobody interrupted."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

SCRIPT = Path(__file__).with_name("tiny_run.py")
ROOT = Path(__file__).parents[3]
MOMENTS = {  # and the step of the checkpoint that is left
    "between_checkpoints": 5,
    "in_the_first_checkpoint": 0,
    "in_a_checkpoint": 5,
    "before_a_rename": 0,
    "in_a_row": 5,
    "before_the_results": 12,
}


def _start(parent, *moments):
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, str(SCRIPT), str(parent), *moments]
    return subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=environment)


@pytest.fixture(scope="module")
def killed(tmp_path_factory):
    """A folder for each moment, with what a process that was killed then has left."""
    parent = tmp_path_factory.mktemp("killed")
    process = _start(parent, *MOMENTS)
    _, stderr = process.communicate(timeout=120)
    assert process.returncode == 0, stderr
    return parent


@pytest.mark.parametrize("moment", MOMENTS)
def test_resuming_after_kill_9_equals_an_unbroken_run(killed, tiny, same_run, moment):
    folder = killed / moment
    left = sorted(entry.name for entry in folder.iterdir())
    unfinished = [name for name in left if name.startswith(".checkpoint.safetensors.")]
    assert bool(unfinished) == (moment in {"in_the_first_checkpoint", "in_a_checkpoint", "before_a_rename"})
    if moment == "in_a_row":
        assert not (folder / "log.csv").read_text().endswith("\n")
    if moment == "before_the_results":
        assert "model.safetensors" in left and "results.json" not in left
    outcome = tiny.run(folder)
    assert outcome.steps_before == MOMENTS[moment] and not outcome.already_complete
    same_run(folder)


def test_a_process_killed_from_outside_can_be_resumed(tmp_path, tiny, same_run):
    folder = tmp_path / "from_outside"
    process = _start(tmp_path, "from_outside")
    deadline = time.monotonic() + 120
    log = folder / "log.csv"
    while not (log.exists() and log.read_text().count("\n") > 3):  # steps 2, 4 and 6: a checkpoint of 5
        assert process.poll() is None and time.monotonic() < deadline, process.communicate()
        time.sleep(0.02)
    os.kill(int((tmp_path / "from_outside.pid").read_text()), signal.SIGKILL)
    assert process.communicate() and process.returncode == 0
    assert tiny.run(folder).steps_before in (5, 10)
    same_run(folder)


def test_no_point_shows_twice_in_the_event_files(killed, tiny):
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    folder = killed / "between_checkpoints"
    tiny.run(folder)  # so that this test needs no other one
    events = EventAccumulator(str(folder / "tensorboard")).Reload()
    steps = {tag: [point.step for point in events.Scalars(tag)] for tag in events.Tags()["scalars"]}
    rows = [2, 4, 6, 8, 10, 12]
    assert steps.pop("validation_bits_per_byte") == [6, 12]
    assert steps == dict.fromkeys(
        ("bits_per_byte", "learning_rate", "gradient_norm", "penalty", "tokens_per_second"), rows
    )
    logged = [line.split(",") for line in (folder / "log.csv").read_text().splitlines()[1:]]
    shown = [point.value for point in events.Scalars("bits_per_byte")]
    assert shown == pytest.approx([float(row[1]) for row in logged], rel=1e-6)  # event files hold float32
