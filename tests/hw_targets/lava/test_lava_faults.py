"""Whatever goes wrong in a run ends it within seconds, says what it was and leaves nothing behind.

Model processes are forked, so a model patched here is patched there.
"""

import os
import re
import signal
import threading
import time
from pathlib import Path

import pytest

from hw_targets import get_target
from hw_targets.lava import ending
from hw_targets.lava.processes import pair_cells, phase_oscillators
from hw_targets.lava.session import Session
from oscsim import compare, solve
from oscsim.errors import TargetRunError

pytestmark = pytest.mark.usefixtures("nothing_is_left_behind")

TARGET = get_target("lava")
DYNAMICS = ("pair", "network")
MODELS = {"pair": pair_cells.PyPairCellsFixed, "network": phase_oscillators.PyPhaseOscillatorsFixed}
NAMES = {"pair": "PairCells", "network": "PhaseOscillators"}


class Unpicklable(Exception):
    """An exception that can neither be pickled nor rebuilt from its arguments."""

    def __init__(self, first, second):
        super().__init__(f"{first} and {second}")
        self.lock = threading.Lock()


class Speechless(Exception):
    def __str__(self):
        raise RuntimeError("no words")


@pytest.fixture
def disturb(monkeypatch):
    """Make models do something at one time step: ``disturb("pair", action)``."""

    def patch(dynamics, action, step=20):
        run = MODELS[dynamics].run_spk

        def disturbed(self):
            if self.time_step == step:
                action()
            run(self)

        monkeypatch.setattr(MODELS[dynamics], "run_spk", disturbed)

    return patch


def failure(spec, **options) -> tuple[str, float]:
    """The message of a run that has to fail, and how long it took, s."""
    started = time.monotonic()
    with pytest.raises(TargetRunError) as caught:
        TARGET.lower(spec, TARGET.config(**options)).run()
    return str(caught.value), time.monotonic() - started


def throw(error):
    raise error


@pytest.mark.parametrize("dynamics", DYNAMICS)
@pytest.mark.parametrize("error", [ValueError("the cell is on fire"), Unpicklable("the cell", "on fire")])
def test_a_model_that_raises_tells_the_original_text(dynamics, error, disturb, small_layer):
    disturb(dynamics, lambda: throw(error))
    message, took_s = failure(small_layer(dynamics))
    assert f"{type(error).__name__}: {error}" in message and "in disturbed" in message  # its traceback
    assert took_s < 10


@pytest.mark.parametrize(
    ("error", "words"), [(Speechless(), "Speechless"), (SystemExit("stop here"), "SystemExit: stop here")]
)
def test_strange_exceptions_are_named_too(error, words, disturb, small_layer):
    disturb("pair", lambda: throw(error))
    assert words in failure(small_layer())[0]


@pytest.mark.parametrize("dynamics", DYNAMICS)
def test_a_model_that_cannot_be_built_tells_the_original_text(dynamics, monkeypatch, small_layer):
    def broken(self, proc_params=None):
        raise KeyError("no arithmetic today")

    monkeypatch.setattr(MODELS[dynamics], "__init__", broken, raising=False)
    assert "no arithmetic today" in failure(small_layer(dynamics))[0]


@pytest.mark.parametrize(("dynamics", "options"), [("pair", {"stall_s": 1}), ("network", {})])
def test_a_model_that_blocks_ends_within_ten_seconds(dynamics, options, disturb, small_layer, tmp_path):
    def block():
        (tmp_path / "since").write_text(repr(time.monotonic()))
        threading.Event().wait()

    disturb(dynamics, block)
    message, _ = failure(small_layer(dynamics), **options)
    took_s = time.monotonic() - float((tmp_path / "since").read_text())
    stall_s = options.get("stall_s", 8)  # the default
    # Dense waits for the oscillators: it is not the one that holds the others up
    assert f"stall_s={stall_s} s: {NAMES[dynamics]} is in time step 20. A model blocks" in message
    assert stall_s - 0.1 < took_s < stall_s + 2


def test_a_model_that_spins_is_named(disturb, small_layer):
    def spin():
        while True:
            pass

    disturb("network", spin, step=3)
    message, took_s = failure(small_layer("network"), stall_s=0.8)
    assert "PhaseOscillators is in time step 3. A model blocks" in message and took_s < 10


def test_a_model_that_never_comes_up_is_named(monkeypatch, small_layer):
    monkeypatch.setattr(MODELS["pair"], "__init__", lambda self, proc_params=None: threading.Event().wait(),
                        raising=False)  # fmt: skip
    message, _ = failure(small_layer(), stall_s=0.8)
    assert "PairCells is not built yet" in message


@pytest.fixture
def slow(monkeypatch):
    """Every time step of a pair layer takes 30 ms."""
    run = pair_cells.PyPairCellsFixed.run_spk
    monkeypatch.setattr(pair_cells.PyPairCellsFixed, "run_spk", lambda self: (time.sleep(0.03), run(self)))


def test_a_long_run_of_short_steps_is_no_stall(slow, small_layer):
    started = time.monotonic()
    TARGET.lower(small_layer(), TARGET.config(stall_s=0.5)).run()
    assert time.monotonic() - started > 3 * 0.5


def test_the_time_limit_says_where_the_run_was(slow, small_layer):
    message, took_s = failure(small_layer(), timeout_s=1.2)
    assert re.search(
        r"no answer within timeout_s=1.2 s: PairCells (is in|has finished) time step \d\d", message
    )
    assert took_s < 10


def test_a_model_that_leaves_is_noticed(disturb, small_layer):
    disturb("pair", lambda: os._exit(7))
    assert "PairCells is in time step 20 (exit code 7)" in failure(small_layer())[0]


@pytest.mark.parametrize("dynamics", DYNAMICS)
def test_a_killed_model_is_named(dynamics, disturb, small_layer):
    disturb(dynamics, lambda: os.kill(os.getpid(), signal.SIGKILL))
    message, took_s = failure(small_layer(dynamics))
    assert f"{NAMES[dynamics]} is in time step 20 (killed by SIGKILL)" in message and took_s < 10


def helpers(pid: int) -> list[int]:
    """The processes of a run in the order of their start: shared memory, models, runtime service."""
    # as the kernel lists them: process ids start again at some point
    return [int(one) for one in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


@pytest.mark.parametrize("words", ["Lava runtime service (killed by SIGKILL)", "Dense"])
def test_any_killed_helper_of_a_network_is_named(words, disturb, small_layer):
    parent, kept = os.getpid(), set(helpers(os.getpid()))

    def kill():
        _, *models, service = (one for one in helpers(parent) if one not in kept)
        others = [one for one in models if one != os.getpid()]
        os.kill(others[0] if words == "Dense" else service, signal.SIGKILL)
        time.sleep(0.1)

    disturb("network", kill)
    message, took_s = failure(small_layer("network"))
    assert words in message and took_s < 10


def test_killed_shared_memory_does_not_stay(disturb, small_layer, nothing_is_left_behind):
    """The process that owns the blocks is only needed at the end: the result is right, the blocks go."""
    parent, kept = os.getpid(), set(helpers(os.getpid()))

    def kill_manager():
        os.kill(next(one for one in helpers(parent) if one not in kept), signal.SIGKILL)

    disturb("pair", kill_manager)
    result = TARGET.lower(small_layer()).run()
    assert compare(result, solve(small_layer())).conforms
    assert len(nothing_is_left_behind) > 2  # that the fixture finds gone


def test_a_death_between_two_commands_is_noticed(monkeypatch, small_layer):
    """A service that is gone takes no message: reading the counters must not wait for it."""
    run = Session.run

    def run_and_kill(self, *arguments, **options):
        received = run(self, *arguments, **options)
        self._runtime._messaging_infrastructure.actors[-1].kill()
        return received

    monkeypatch.setattr(Session, "run", run_and_kill)
    message, took_s = failure(small_layer())
    assert "Lava runtime service (killed by SIGKILL)" in message and took_s < 10


def test_a_variable_is_read_between_runs(monkeypatch, small_layer):
    run, seen = Session.run, []

    def run_and_read(self, *arguments, **options):
        received = run(self, *arguments, **options)
        seen.append((self.read(self.process.psi), received[0][0]))
        return received

    monkeypatch.setattr(Session, "run", run_and_read)
    TARGET.lower(small_layer()).run()
    ((variable, record),) = seen
    assert variable.tolist() == record.tolist() and len(record) > 1


def press():
    os.kill(os.getpid(), signal.SIGINT)


@pytest.mark.parametrize("again", [False, True])
def test_ctrl_c_cleans_up_however_often_it_is_pressed(again, disturb, monkeypatch, small_layer):
    disturb("pair", threading.Event().wait)
    end = ending.end

    def end_while_pressed(*arguments):
        press()
        end(*arguments)

    if again:
        monkeypatch.setattr("hw_targets.lava.session.end", end_while_pressed)
    alarm = threading.Timer(1.0, press)
    # a test run in the background starts with SIGINT ignored, and brian2's handler cannot cope with that
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    started = time.monotonic()
    alarm.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            TARGET.lower(small_layer()).run()
    finally:
        signal.signal(signal.SIGINT, before)
    alarm.join()
    assert time.monotonic() - started < 10


def test_twenty_runs_and_failures_leave_nothing(monkeypatch, small_layer, held_now):
    """What a run holds is counted after the second one and after the last one (and by the fixture)."""
    counts = []
    for index in range(20):
        dynamics = DYNAMICS[index % 2]
        with monkeypatch.context() as patch:
            if index % 4 == 1:
                patch.setattr(MODELS[dynamics], "run_spk", lambda self: 1 / 0)
                assert "ZeroDivisionError" in failure(small_layer(dynamics))[0]
                continue
            result = TARGET.lower(small_layer(dynamics)).run()
        assert compare(result, solve(small_layer(dynamics))).conforms
        counts.append(held_now())
    assert all(count[name] <= counts[0][name] for count in counts[1:] for name in count), counts


def test_a_long_run_says_how_far_it_is(slow, monkeypatch, caplog, small_layer):
    """Some 80 steps of 30 ms, told every 0.5 s instead of every 5 s."""
    monkeypatch.setattr("hw_targets.lava.session.PROGRESS_S", 0.5)
    with caplog.at_level("INFO", logger="oscsim.progress"):
        TARGET.lower(small_layer()).run()
    done = [int(record.message.split()[0]) for record in caplog.records]
    assert len(done) >= 3 and sorted(done) == done and 0 < done[-1] < 200
    assert caplog.records[0].message.endswith(" time steps of Lava done")
