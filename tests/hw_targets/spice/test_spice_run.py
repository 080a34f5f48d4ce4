"""Whole runs: results like those of any target, and what happens when ngspice gives up."""

import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pytest

from hw_targets.spice.process import simulate
from oscsim import ExplicitCoupling, PhaseLayerSpec, SyncStatus, compare, solve
from oscsim.circuits.validity import CircuitWarning
from oscsim.errors import TargetRunError, TargetUnavailable

TANK = ["* tank", "C0 a 0 1p IC=1", "L0 a 0 1n IC=0", ".options reltol=1e-6"]


def ran(target, spec, **options):
    executable = target.lower(spec, target.config(**options))
    return executable.run(), executable


def test_pair_layer(target, pair):
    result, executable = ran(target, pair(values=np.ones((1, 2, 3))), mu=0.1)
    assert compare(result, solve(pair(values=np.ones((1, 2, 3))))).conforms
    assert result.status is SyncStatus.SETTLED
    assert result.output is not None and result.output.shape == (1, 2, 3)
    assert result.provenance.plan_digest == executable.plan.digest
    assert result.provenance.versions["ngspice"].startswith("ngspice-")


def test_unlocked_pair_is_averaged_over_whole_beats(target, pair):
    result, _ = ran(target, pair(rho=1.3), mu=0.1)
    assert not result.locked[0, 0, 1] and result.locked[0, 0, 0]
    assert result.sync[0, 0, 1] < 2e-3
    assert "1 drifting" in " ".join(result.provenance.notes)


def test_network_layer(target, network):
    spec = network(3, padding=np.array([False, False, True]))
    result, _ = ran(target, spec, mu=0.1)
    np.testing.assert_allclose(result.sync, solve(spec).sync, atol=2e-3)
    assert result.status is SyncStatus.SETTLED and result.locked[0, :2, :2].all()
    assert (result.sync[:, 2] == 0).all() and (result.sync[:, :, 2] == 0).all()


@pytest.fixture
def clamped():
    rng = np.random.default_rng(1)
    return PhaseLayerSpec(
        omega=np.zeros((1, 2, 1)), theta=[[[0.4], [-0.7]]], gain=[0.1], dynamics="clamped",
        coupling=ExplicitCoupling(matrix=rng.uniform(0.3, 1.0, (1, 2, 2))),
        phase_0=np.array([[[7.0], [-1.0]]]), duration=20.0,
    )  # fmt: skip


def test_clamped_layer_for_a_duration(target, clamped, own):
    result, executable = ran(target, clamped, mu=0.3, coupler="transconductance")
    ours = own(executable._lowered, 0, 20.0)
    frame = (ours[2:] - executable._lowered.circuit.array.start[0, 2:]).mean()
    moved = result.phase[0, :, 0] - (ours[:2] - frame)
    np.testing.assert_allclose(np.angle(np.exp(1j * moved)), 0.0, atol=5e-4)
    assert np.abs(result.phase - clamped.phase_0).max() < np.pi  # continuous from the start


def test_clamped_layer_until_rest(target, clamped):
    spec = clamped.replace(duration=np.inf)
    result, _ = ran(target, spec, mu=0.3, coupler="transconductance")
    assert result.status is SyncStatus.SETTLED
    assert "held sources drifted apart" in " ".join(result.provenance.notes)
    assert np.abs(np.angle(np.exp(1j * (result.phase - solve(spec).phase)))).max() < 0.1


def test_a_layer_of_no_duration(target, clamped):
    result, _ = ran(target, clamped.replace(duration=0.0), coupler="transconductance")
    np.testing.assert_allclose(result.phase, clamped.phase_0, atol=1e-4)


def test_too_short_a_run_says_so(target, pair):
    spec = pair(psi_0=np.full((1, 2, 2), -2.0))
    with pytest.warns(CircuitWarning, match="later than max_cycles=20"), pytest.warns(match="not_converged"):
        result, _ = ran(target, spec, mu=0.1, max_cycles=20.0)
    assert result.status is SyncStatus.NOT_CONVERGED


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        ([*TANK, "V1 a 0 1", "V2 a 0 2", ".tran 1p 1n 0 1p uic"], "singular"),
        ([*TANK, "B1 a 0 I=V(a)/(V(a)-V(a))", ".tran 1p 1n 0 1p uic"], "."),
        ([*TANK, "M1 a a 0 0 nothing", ".tran 1p 1n 0 1p uic"], "nothing"),
        ([*TANK, "B1 a 0 I=unheard(V(a))", ".tran 1p 1n 0 1p uic"], "unheard"),
        ([*TANK, ".tran 1p 0.5n 0 1p uic"], "stopped at 5e-10 s"),
        (TANK, "failed"),
    ],
)
def test_an_aborted_run_is_an_error_with_ngspice_own_words(target, lines, words):
    with pytest.raises(TargetRunError, match=words):
        simulate(lines, ["v(a)"], 1e-9, 20.0)


def test_a_timeout_leaves_nothing(target, monkeypatch, tmp_path):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    begin = time.perf_counter()
    with pytest.raises(TargetRunError, match=r"longer than 0\.3 s"):
        simulate([*TANK, ".tran 1p 1m 0.9m 1p uic"], ["v(a)"], 1e-3, 0.3)
    assert time.perf_counter() - begin < 5.0
    assert list(tmp_path.iterdir()) == []


def test_an_interrupt_kills_ngspice_and_leaves_nothing(target, tmp_path):
    script = (
        "import tempfile, sys\n"
        "from hw_targets.spice.process import simulate\n"
        f"tempfile.tempdir = {str(tmp_path)!r}\n"
        f"lines = {[*TANK, '.tran 1p 1m 0.9m 1p uic']!r}\n"
        "print('ready', flush=True)\n"
        "simulate(lines, ['v(a)'], 1e-3, 60.0)\n"
    )
    run = subprocess.Popen(
        [sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    assert run.stdout is not None and run.stdout.readline() == "ready\n"
    while not list(tmp_path.glob("*/layer.cir")):
        time.sleep(0.02)
    time.sleep(0.1)  # let ngspice read it
    run.send_signal(signal.SIGINT)
    assert run.wait(10) != 0
    assert list(tmp_path.iterdir()) == []
    working = [_folder(entry) for entry in Path("/proc").iterdir() if entry.name.isdigit()]
    assert not [folder for folder in working if folder.startswith(f"{tmp_path}/")]


def _folder(process):
    """Working folder of a process, ending in "(deleted)" where it is gone."""
    try:
        return os.readlink(process / "cwd")
    except OSError:  # another user's process, or one that has just ended
        return ""


def test_without_ngspice(monkeypatch, pair, tmp_path):
    from hw_targets import get_target

    monkeypatch.setenv("PATH", str(tmp_path))
    target = get_target("spice")
    executable = target.lower(pair(), target.config())  # lowering and netlist need no program
    assert executable.netlist.startswith("* oscsim layer")
    assert not target.availability().available
    with pytest.raises(TargetUnavailable, match="apt-get install ngspice"):
        executable.run()
