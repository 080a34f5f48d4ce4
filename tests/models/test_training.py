"""Training is reproducible, and the command refuses what it cannot do."""

import math
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from typer.testing import CliRunner

import models
from hw_targets.triton.ops import native_ssa
from hw_targets.triton.ops.native import build
from models import fit
from models.schedule import learning_rate_factor

SHAPE = models.OSNConfig(width=16, blocks=1, heads=2, channels=4, hidden=16, context=32)


def _bytes(folder, config, text=None):
    model = models.train(text or models.load_text()[:8000], SHAPE, config)
    models.save_checkpoint(model, folder / "tiny.safetensors")
    return (folder / "tiny.safetensors").read_bytes()


def _config(**changes):
    return models.TrainingConfig(**{"steps": 30, "batch": 4, "warm_up": 5, "seed": 3, **changes})


def test_the_same_seed_gives_the_same_bytes_and_another_does_not(tmp_path):
    torch.manual_seed(11)
    first = _bytes(tmp_path, _config())
    torch.manual_seed(12)  # the surrounding random state must not matter
    assert _bytes(tmp_path, _config()) == first
    assert _bytes(tmp_path, _config(seed=4)) != first


@pytest.mark.parametrize(
    "change",
    [
        {"learning_rate": 1e-3},
        {"frequency_rate": 1.0},
        {"warm_up": 10},
        {"weight_decay": 0.0},
        {"clip": 0.01},
        {"held_out": 0.2},
        {"wanted_locked": 0.3},
        {"locked_target": (0.6, 0.7)},
        {"locked_weight": 0.0, "locked_target": (0.6, 0.7)},
        {"penalty_batch": 1, "locked_target": (0.6, 0.7)},
        {"batch": 5},
        {"implementation": "native"},
        {"steps": 9},
    ],
    ids="-".join,
)
def test_every_setting_changes_the_trained_parameters(change):
    text = models.load_text()[:8000]
    first = models.train(text, SHAPE, _config(steps=8))
    twin = _config(**{"steps": 8, **change})
    other = models.train(text, SHAPE, twin)
    if "locked_weight" in change:  # against the same target with the default weight
        first = models.train(text, SHAPE, _config(steps=8, locked_target=change["locked_target"]))
    pairs = zip(first.parameters(), other.parameters(), strict=True)
    assert any(not torch.equal(left, right) for left, right in pairs)


def test_training_leaves_global_state_alone():
    torch.manual_seed(5)
    expected = torch.rand(3)
    threads = torch.get_num_threads()
    torch.manual_seed(5)
    models.train(models.load_text()[:8000], SHAPE, _config(steps=2))
    assert torch.equal(torch.rand(3), expected)
    assert torch.get_num_threads() == threads
    assert not torch.are_deterministic_algorithms_enabled()


def test_training_learns_and_reports():
    seen = []
    config = _config(steps=60, monitor_every=20, batch=16, learning_rate=1e-2)
    model = models.train(
        models.load_text()[:20000],
        SHAPE,
        config,
        lambda step, bits, locked: seen.append((step, bits, locked.shape)),
    )
    assert [step for step, _, _ in seen] == [20, 40, 60]
    assert seen[-1][1] < seen[0][1] < math.log2(len(model.vocabulary))
    assert seen[0][2] == (1, 2)
    assert not model.training and model.record["training"]["steps"] == 60


def test_a_text_shorter_than_a_context_is_refused():
    with pytest.raises(models.checkpoint.SpecError, match="longer text"):
        models.train("too short", SHAPE, _config())
    with pytest.raises(models.checkpoint.SpecError, match="held_out"):
        fit.split_text("text", 1.0)


def test_the_schedule_starts_low_peaks_after_warm_up_and_ends_at_a_tenth():
    factors = [learning_rate_factor(step, 100, 10) for step in range(101)]
    assert max(factors) == factors[9] == factors[10] == 1.0
    assert factors[0] == pytest.approx(0.1) and factors[100] == pytest.approx(0.1)


def _invoke(*arguments):
    import typer

    from models.training import command

    app = typer.Typer()
    app.command()(command)
    return CliRunner().invoke(app, list(arguments))


def test_the_command_prints_the_shipped_record():
    result = _invoke("--report")
    assert result.exit_code == 0
    assert "bits per character" in result.output and "locked fraction" in result.output


def test_the_command_refuses_a_missing_folder_before_training(tmp_path):
    result = _invoke("--output", str(tmp_path / "nowhere" / "model.safetensors"))
    assert result.exit_code == 2 and "existing folder" in " ".join(result.stderr.split())


def test_the_command_refuses_an_implementation_nobody_knows(tmp_path):
    result = _invoke("--output", str(tmp_path / "m.safetensors"), "--impl", "nonsense")
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith("error: impl: given 'nonsense'") and result.stderr.count("\n") == 1


def test_the_command_needs_a_compiler_for_the_native_kernels(tmp_path, monkeypatch):
    monkeypatch.setenv("CXX", "/nowhere/c++")
    monkeypatch.setenv("TORCH_EXTENSIONS_DIR", str(tmp_path))
    monkeypatch.setattr(build, "_library", build._library.__wrapped__)  # what this process has loaded
    monkeypatch.setattr(native_ssa, "engines", native_ssa.engines.__wrapped__)
    monkeypatch.setattr("models.training.OSNConfig", lambda: SHAPE)
    monkeypatch.setattr("models.training.load_text", lambda: models.load_text()[:8000])
    result = _invoke("--output", str(tmp_path / "m.safetensors"), "--steps", "1", "--impl", "native")
    assert result.exit_code == 3 and "no C++ compiler" in result.stderr, result.output
    assert not (tmp_path / "m.safetensors").exists()


@pytest.mark.parametrize(
    "command",
    [
        ("-m", "models.training", "--report"),
        ("-m", "hw_targets.triton.compile_report"),
        ("tests/device/check.py", "--dry-run"),
    ],
    ids=lambda command: command[-2],
)
def test_without_torch_a_command_names_the_one_that_installs_it(command):
    root = Path(__file__).parents[2]
    script = (
        "import runpy, sys\n"
        "sys.modules['torch'] = None\n"
        "module = sys.argv[1] == '-m'\n"
        "sys.argv = sys.argv[1 + module:]\n"
        "(runpy.run_module if module else runpy.run_path)(sys.argv[0], run_name='__main__')\n"
    )
    run = subprocess.run(
        [sys.executable, "-c", script, *command], capture_output=True, text=True, check=False, cwd=root
    )
    assert (run.returncode, run.stdout) == (3, ""), run.stderr
    assert run.stderr.startswith("error: package torch is not installed. Install it with: pip install")
    assert run.stderr.count("\n") == 1


@pytest.mark.parametrize("arguments", [(), ("--report", "--output", "x.safetensors")])
def test_the_command_wants_exactly_one_job(arguments):
    assert _invoke(*arguments).exit_code == 2


def test_the_command_trains_and_writes(tmp_path):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("models.training.OSNConfig", lambda: SHAPE)
        patch.setattr("models.training.load_text", lambda: models.load_text()[:8000])
        result = _invoke("--output", str(tmp_path / "m.safetensors"), "--steps", "3", "--seed", "9")
    assert result.exit_code == 0, result.output
    model = models.load_checkpoint(tmp_path / "m.safetensors")
    assert model.record["training"]["seed"] == 9 and model.config == SHAPE
