"""Streams and disks that take no more, and inputs that are no files: one line, exit code 2, nothing lost."""

import errno
import os
import resource
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from oscsim.errors import SchemaError
from oscsim.io import atomic_write, read_regular

FULL = "/dev/full"


def command(*arguments, **options):
    """Run the installed command in its own process, with real streams."""
    start = [sys.executable, "-m", "oscsim.cli.commands", *map(str, arguments)]
    options = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "timeout": 120} | options
    return subprocess.run(start, check=False, **options)


def one_error(stderr):
    assert stderr.startswith(b"error: "), stderr
    assert stderr.count(b"\n") == 1, stderr
    return stderr.decode()


@pytest.mark.parametrize("json", [(), ("--json", "-")], ids=["table", "json"])
def test_full_stdout_is_one_line(saved, json):
    with open(FULL, "wb") as full:
        done = command("info", saved(), *json, stdout=full)
    assert "stdout: No space left" in one_error(done.stderr)
    assert done.returncode == 2


@pytest.mark.parametrize("arguments", [("--help",), ("info", "--help"), ()], ids=str)
def test_full_stdout_of_help_is_one_line(arguments):
    with open(FULL, "wb") as full:
        done = command(*arguments, stdout=full)
    assert "No space left" in one_error(done.stderr)
    assert done.returncode == 2


@pytest.mark.parametrize("close", [2, None], ids=["closed", "full"])
def test_stderr_that_takes_no_more_changes_no_exit_code(saved, close):
    with open(FULL, "wb") as full:
        options = {"stderr": full} if close is None else {"preexec_fn": lambda: os.close(close)}
        assert command("info", "nowhere.phase", **options).returncode == 2
        done = command("info", saved(), "--json", "-", **options)
    assert done.returncode == 0
    assert done.stdout.startswith(b"{")


def test_closed_stdout_is_refused_for_json(saved):
    done = command("info", saved(), "--json", "-", preexec_fn=lambda: os.close(1))
    assert "stdout is closed" in one_error(done.stderr)
    assert done.returncode == 2


@pytest.mark.parametrize("json", [(), ("--json", "-")], ids=["table", "json"])
def test_reader_that_left_ends_the_command_quietly(saved, json):
    read, write = os.pipe()
    os.close(read)
    with os.fdopen(write, "wb", closefd=True) as pipe:
        done = command("info", saved(), *json, stdout=pipe)
    assert (done.returncode, done.stderr) == (128 + signal.SIGPIPE, b"")


def test_file_larger_than_allowed_keeps_the_old_one(saved, tmp_path):
    layer, result = saved(count=30), tmp_path / "x.sync"
    result.write_bytes(b"earlier")
    before = sorted(tmp_path.iterdir())

    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))

    done = command(
        "solve", layer, "-o", result, preexec_fn=limit, env=os.environ | {"PYTHONDONTWRITEBYTECODE": "1"}
    )
    message = one_error(done.stderr)
    assert "File too large" in message
    assert str(result) in message
    assert done.returncode == 2
    assert result.read_bytes() == b"earlier"
    assert sorted(tmp_path.iterdir()) == before


@pytest.mark.parametrize("step", ["fsync", "replace", "chmod"])
def test_failed_write_names_the_file_and_leaves_nothing(tmp_path, monkeypatch, step):
    def full(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    (tmp_path / "x").write_bytes(b"earlier")
    monkeypatch.setattr(os, step, full)
    with pytest.raises(OSError, match="No space left") as caught:
        atomic_write(tmp_path / "x", b"new")
    assert caught.value.filename == str(tmp_path / "x")
    assert [path.read_bytes() for path in tmp_path.iterdir()] == [b"earlier"]


def test_written_link_stays_a_link(tmp_path):
    (tmp_path / "link").symlink_to(tmp_path / "file")
    for content in (b"first", b"second"):
        atomic_write(tmp_path / "link", content)
        assert (tmp_path / "link").is_symlink()
        assert (tmp_path / "file").read_bytes() == content


def test_error_without_a_file_name_is_one_line(cli, saved, monkeypatch):
    def full(_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("oscsim.cli.commands.describe", full)
    result = cli("info", saved())
    assert (result.code, result.out, result.err) == (2, "", "error: No space left on device\n")


@pytest.mark.parametrize("depth", [300, 960, 1000, 5000, 50000])
@pytest.mark.parametrize("opening", ["[", '{"a":'], ids=["list", "object"])
def test_deeply_nested_option_value(cli, saved, depth, opening):
    for arguments in (
        ("run", "--target", "brian2", "--plan", "--set", "step=" + opening * depth),
        ("run", "--target", "brian2", "--plan", "--set", "step=" + "[" * depth + "]" * depth),
        ("compare", "--target", "brian2", "--set", "brian2.step=" + "[" * depth + "]" * depth),
    ):
        result = cli(arguments[0], saved(), *arguments[1:])
        assert (result.code, result.out) == (2, "")
        assert result.err.startswith("error: ")
        assert result.err.count("\n") == 1


@pytest.fixture(params=["/dev/zero", "pipe", "folder", "link"])
def no_file(request, tmp_path):
    """A path that exists and is not a regular file, and the word that says what it is."""
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    (tmp_path / "link").symlink_to("/dev/zero")
    words = {"/dev/zero": "device", "pipe": "pipe", "folder": "directory", "link": "device"}
    return tmp_path / request.param, words[request.param]


@pytest.mark.parametrize("name", ["info", "solve", "run", "compare"])
def test_layer_has_to_be_a_regular_file(cli, no_file, name):
    path, word = no_file
    result = cli(name, path, *(("--target", "brian2") if name == "run" else ()))
    assert (result.code, result.out) == (2, "")
    assert result.err == f"error: {path}: this is a {word}, expected a regular file; name a file on disk\n"


def test_text_and_model_have_to_be_regular_files(cli, no_file, checkpoint, tmp_path):
    path, word = no_file
    for model, text in ((checkpoint, f"@{path}"), (path, "Alice")):
        result = cli("export", model, "--text", text, "-o", tmp_path / "x.phase")
        assert (result.code, result.out) == (2, "")
        assert f"{path}: this is a {word}" in result.err
    assert not (tmp_path / "x.phase").exists()


def test_missing_file_stays_a_missing_file(tmp_path):
    with pytest.raises(FileNotFoundError):
        read_regular(tmp_path / "nowhere")


def test_file_larger_than_memory(tmp_path, monkeypatch):
    def too_much(_):
        raise MemoryError

    (tmp_path / "x").write_bytes(b"12345")
    monkeypatch.setattr(Path, "read_bytes", too_much)
    with pytest.raises(SchemaError, match="5 bytes do not fit into memory"):
        read_regular(tmp_path / "x")
