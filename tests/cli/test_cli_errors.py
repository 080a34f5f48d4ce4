"""Bad input ends with exit code 2 and one line that says what to do; nothing is written."""

import os
import pickle
import stat
import subprocess
import sys

import pytest

from oscsim.io import atomic_write


def refused(result, *words, code=2):
    """One line on stderr, nothing on stdout, no traceback."""
    assert result.code == code, result.err
    assert result.out == ""
    assert result.err.count("\n") == 1, result.err
    assert result.err.startswith("error: ")
    assert "Traceback" not in result.err
    for word in words:
        assert word in result.err


COMMANDS = (("info",), ("solve",), ("run", "--target", "brian2"), ("compare",))


@pytest.mark.parametrize("command", COMMANDS, ids=lambda c: c[0])
def test_missing_file(cli, command):
    refused(cli(command[0], "nowhere.phase", *command[1:]), "nowhere.phase", "No such file")


@pytest.mark.parametrize("command", COMMANDS, ids=lambda c: c[0])
def test_pickle_is_never_read(cli, tmp_path, command):
    (tmp_path / "x.phase").write_bytes(pickle.dumps({"omega": 1}))
    refused(cli(command[0], tmp_path / "x.phase", *command[1:]), "pickle")


def test_text_file(cli, tmp_path):
    (tmp_path / "x.phase").write_text("this is not a layer, and long enough to have a header length")
    refused(cli("info", tmp_path / "x.phase"), "offset 0")


def test_truncated_file(cli, saved):
    path = saved()
    path.write_bytes(path.read_bytes()[:-9])
    refused(cli("info", path), "offset")


def test_flipped_bit(cli, saved):
    path = saved()
    data = bytearray(path.read_bytes())
    data[-1] ^= 1
    path.write_bytes(data)
    refused(cli("solve", path), "SHA-256")


def test_folder_instead_of_file(cli, tmp_path):
    refused(cli("info", tmp_path), "directory")


def test_result_instead_of_layer(cli, saved, tmp_path):
    cli("solve", saved(), "-o", tmp_path / "x.sync")
    refused(cli("info", tmp_path / "x.sync"), "sync-result")


def test_unknown_target(cli, saved):
    refused(cli("run", saved(), "--target", "abacus"), "abacus", "triton, brian2, lava")
    refused(cli("compare", saved(), "--target", "abacus"), "abacus")


def test_unknown_option_lists_the_known_ones(cli, saved):
    refused(cli("run", saved(), "--target", "brian2", "--set", "stepp=1"), "stepp", "max_duration")
    refused(cli("compare", saved(), "--set", "brian2.stepp=1"), "stepp", "max_duration")


def test_impossible_option_value(cli, saved):
    refused(cli("run", saved(), "--target", "brian2", "--set", "step=quick"), "step", "quick")
    refused(cli("run", saved(), "--target", "brian2", "--set", "step=-1"), "step", "-1")


@pytest.mark.parametrize("setting", ["step", "=1", "step=0.1"])
def test_settings_of_compare_name_a_target(cli, saved, setting):
    refused(cli("compare", saved(), "--set", setting), "option=value")


def test_option_given_twice(cli, saved):
    refused(cli("run", saved(), "--target", "brian2", "--set", "step=0.1", "--set", "step=0.2"), "twice")


def test_plan_has_no_result_to_save(cli, saved, tmp_path):
    refused(cli("run", saved(), "--target", "brian2", "--plan", "-o", tmp_path / "x.sync"), "--plan")


@pytest.mark.parametrize("option", ["--json", "-o"])
def test_output_folder_has_to_exist(cli, saved, tmp_path, option):
    refused(cli("solve", saved(), option, tmp_path / "no" / "x"), "folder", "create it")
    refused(cli("solve", saved(), option, tmp_path), "a folder")


@pytest.mark.parametrize("option", ["--json", "-o"])
def test_device_is_never_replaced_by_a_file(cli, saved, tmp_path, option):
    os.mkfifo(tmp_path / "pipe")
    refused(cli("solve", saved(), option, tmp_path / "pipe"), "a device or pipe")
    with pytest.raises(OSError, match="not a regular file"):
        atomic_write(tmp_path / "pipe", b"")
    assert stat.S_ISFIFO((tmp_path / "pipe").stat().st_mode)


def test_impossible_texts_and_blocks(cli, checkpoint, tmp_path):
    out = tmp_path / "x.phase"
    refused(cli("export", checkpoint, "--text", "Alice", "--block", 9, "-o", out), "block 9")
    refused(cli("export", checkpoint, "--text", "", "-o", out), "empty")
    refused(cli("export", checkpoint, "--text", "@nowhere.txt", "-o", out), "nowhere.txt")
    refused(cli("export", checkpoint, "--text", "Alice", "--duration", 1, "-o", out), "--duration", "clamped")
    refused(
        cli("export", checkpoint, "--text", "Alice", "--dynamics", "clamped", "--duration", "nan", "-o", out),
        "nan",
    )
    assert not out.exists()


def test_text_file_has_to_be_utf8(cli, checkpoint, tmp_path):
    (tmp_path / "text.txt").write_bytes(b"Alice \xff")
    result = cli("export", checkpoint, "--text", f"@{tmp_path}/text.txt", "-o", tmp_path / "x.phase")
    refused(result, "UTF-8", "byte 6")


def test_layer_instead_of_model(cli, saved, tmp_path):
    refused(cli("export", saved(), "--text", "Alice", "-o", tmp_path / "x.phase"), "expected a")


def test_failed_command_leaves_earlier_output_untouched(cli, saved, tmp_path):
    (tmp_path / "x.sync").write_text("earlier")
    cli("solve", tmp_path / "nowhere.phase", "-o", tmp_path / "x.sync")
    assert (tmp_path / "x.sync").read_text() == "earlier"


@pytest.mark.parametrize("arguments", [("info",), ("info", "a", "--nonsense"), ("nonsense",)])
def test_usage_errors_are_bad_input(cli, arguments):
    result = cli(*arguments)
    assert (result.code, result.out) == (2, "")


def test_missing_torch_names_the_command(cli, checkpoint, tmp_path, monkeypatch):
    for name in [name for name in sys.modules if name == "models" or name.startswith(("models.", "torch."))]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "torch", None)
    result = cli("export", checkpoint, "--text", "Alice", "-o", tmp_path / "x.phase")
    refused(result, "torch", "pip install", code=3)


def test_foreign_models_package_is_recognised(cli, checkpoint, tmp_path, monkeypatch):
    (tmp_path / "models").mkdir()
    (tmp_path / "models" / "__init__.py").write_text("")
    for name in [name for name in sys.modules if name == "models" or name.startswith("models.")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.syspath_prepend(str(tmp_path))
    refused(cli("export", checkpoint, "--text", "Alice", "-o", tmp_path / "x.phase"), "shadows", "doctor")


def test_interrupt(cli, saved, monkeypatch):
    def interrupted(_):
        raise KeyboardInterrupt

    monkeypatch.setattr("oscsim.cli.commands.describe", interrupted)
    refused(cli("info", saved()), "interrupted", code=130)


def test_a_bug_keeps_its_traceback(cli, saved, monkeypatch):
    def broken(_):
        raise ZeroDivisionError("bug")

    monkeypatch.setattr("oscsim.cli.commands.describe", broken)
    with pytest.raises(ZeroDivisionError):
        cli("info", saved())


def test_installed_command_needs_no_backend_for_info(saved):
    code = (
        "import sys; sys.argv = ['oscsim', 'info', sys.argv[1], '--json', '-']\n"
        "from oscsim.cli.commands import main\n"
        "try: main()\n"
        "except SystemExit as end: code = end.code\n"
        "heavy = {'torch', 'triton', 'brian2', 'lava', 'matplotlib', 'models'} & set(sys.modules)\n"
        "sys.exit(code or (f'imported {heavy}' if heavy else 0))"
    )
    run = subprocess.run(
        [sys.executable, "-c", code, str(saved())], capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stderr
    assert run.stdout.startswith("{")


@pytest.mark.parametrize(
    ("target", "settings", "text"),
    [
        ("lava", ("delay_steps=1",), "delay_steps: given 1 with integrator='runge_kutta', whose stages"),
        ("lava", ("number_format=floating_point", "phase_bits=20"), "phase_bits: given with number_format="),
        ("lava", ("steps_per_turn=100",), "option 'steps_per_turn': given 100; expected a power of two"),
        ("brian2", ("trajectory_samples=1",), "trajectory_samples: given 1, expected 0 (store nothing)"),
        ("brian2", ("step=5",), "option 'step': given 5; expected less than or equal to 0.5"),
        ("triton", ("precision=half",), "option 'precision': given 'half'; expected "),
    ],
)
def test_a_refused_option_is_named_in_our_words(cli, saved, target, settings, text):
    sets = [part for one in settings for part in ("--set", one)]
    result = cli("run", saved(), "--target", target, *sets)
    refused(result, f"error: target '{target}': {text}")
    for word in ("Value error", "Input should", "option ''"):
        assert word not in result.err
