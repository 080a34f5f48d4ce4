"""An output is never an input or another output, whatever the two are called; nothing is lost."""

import os

import pytest

import models

KINDS = ("same", "dots", "link", "hard link", "linked folder")


def alias(path, kind):
    """Another name of the same file; the file itself need not be there, except for a hard link."""
    folder = path.parent
    if kind == "link":
        (folder / "link").symlink_to(path)
        return folder / "link"
    if kind == "hard link":
        os.link(path, folder / "hard")
        return folder / "hard"
    if kind == "linked folder":
        (folder / "there").symlink_to(folder)
        return folder / "there" / path.name
    return f"{folder}/./{path.name}" if kind == "dots" else path


def refused(result, *options):
    assert (result.code, result.out) == (2, ""), result.err
    assert result.err.startswith("error: ")
    assert result.err.count("\n") == 1
    assert "the same file" in result.err
    for option in options:
        assert option in result.err


COMMANDS = (
    (("info",), "--json"), (("solve",), "--output"), (("solve",), "--json"),
    (("run", "--target", "brian2"), "--output"), (("run", "--target", "brian2"), "--json"),
    (("run", "--target", "brian2", "--plan"), "--json"), (("compare", "--target", "brian2"), "--json"),
)  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("command", "option"), COMMANDS)
def test_layer_is_never_overwritten(cli, saved, command, option, kind):
    path = saved()
    before = path.read_bytes()
    refused(cli(command[0], path, *command[1:], option, alias(path, kind)), option, "FILE.phase")
    assert path.read_bytes() == before


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("command", [("solve",), ("run", "--target", "brian2")], ids=lambda c: c[0])
def test_two_outputs_are_two_files(cli, saved, tmp_path, command, kind):
    path, out = saved(), tmp_path / "out"
    if kind == "hard link":
        out.write_bytes(b"earlier")
    refused(cli(command[0], path, *command[1:], "-o", out, "--json", alias(out, kind)), "--output", "--json")
    assert not out.exists() or out.read_bytes() == b"earlier"


@pytest.mark.parametrize("option", ["-o", "--json"])
def test_export_keeps_the_model_and_the_text(cli, checkpoint, tmp_path, option):
    model, text = tmp_path / "model", tmp_path / "text"
    model.write_bytes(checkpoint.read_bytes())
    text.write_text("Alice")
    rest = () if option == "-o" else ("-o", tmp_path / "x.phase")
    refused(cli("export", model, "--text", "Alice", option, model, *rest), "CHECKPOINT")
    refused(cli("export", model, "--text", f"@{text}", option, text, *rest), "--text")
    assert model.read_bytes() == checkpoint.read_bytes()
    assert text.read_text() == "Alice"
    assert not (tmp_path / "x.phase").exists()


def test_export_keeps_the_shipped_model(cli, tmp_path):
    shipped = models.shipped_checkpoint_path()
    before = shipped.read_bytes()
    (tmp_path / "link").symlink_to(shipped)
    refused(cli("export", "shipped", "--text", "Alice", "-o", tmp_path / "link"), "--output", "shipped model")
    assert shipped.read_bytes() == before


def test_export_writes_two_files(cli, checkpoint, tmp_path):
    out = tmp_path / "x"
    refused(cli("export", checkpoint, "--text", "Alice", "-o", out, "--json", out), "--output", "--json")
    assert not out.exists()


@pytest.mark.parametrize(
    ("given", "names"),
    [
        (("--json", "demo/report.html"), ("--json", "--output report.html")),
        (("--json", "demo/result.json"), ("--json", "--output result.json")),
        (("--picture", "demo/report.html"), ("--picture", "--output report.html")),
        (("--picture", "demo"), ("--picture", "--output")),
        (("--json", "demo"), ("--json", "--output")),
        (("--json", "x", "--picture", "./x"), ("--json", "--picture")),
        (("--json", "model"), ("--json", "--checkpoint")),
        (("--picture", "model"), ("--picture", "--checkpoint")),
        (("--json", "text"), ("--json", "--text")),
    ],
)
def test_demo_writes_files_of_their_own(cli, checkpoint, tmp_path, monkeypatch, given, names):
    monkeypatch.chdir(tmp_path)
    text = "Alice was beginning to get very tired of sitting by her sister on the bank,"
    (tmp_path / "text").write_text(text)
    (tmp_path / "model").write_bytes(checkpoint.read_bytes())
    if given[1].startswith("demo/"):
        (tmp_path / "demo").mkdir()
    before = {path: path.is_dir() or path.read_bytes() for path in tmp_path.rglob("*")}
    refused(cli("demo", "--checkpoint", "model", "--text", "@text", "--output", "demo", *given), *names)
    assert {path: path.is_dir() or path.read_bytes() for path in tmp_path.rglob("*")} == before


def test_a_picture_is_a_png(cli, tmp_path):
    result = cli("demo", "--output", tmp_path / "demo", "--picture", tmp_path / "x.svg")
    assert (result.code, result.out, result.err.count("\n")) == (2, "", 1)
    assert "--picture: given" in result.err and "ends in .png" in result.err
    assert list(tmp_path.iterdir()) == []


def test_only_json_writes_to_stdout(cli, saved, checkpoint, tmp_path, monkeypatch):
    path = saved()
    monkeypatch.chdir(tmp_path)
    for arguments in (
        ("solve", path, "-o", "-"),
        ("run", path, "--target", "brian2", "-o", "-"),
        ("export", checkpoint, "--text", "Alice", "-o", "-"),
        ("demo", "--checkpoint", checkpoint, "--output", "-"),
        ("demo", "--checkpoint", checkpoint, "--picture", "-"),
    ):
        result = cli(*arguments)
        assert (result.code, result.out) == (2, "")
        assert "given -" in result.err
    assert list(tmp_path.iterdir()) == [path]


def test_file_that_stdout_goes_to_is_no_output(cli, saved, tmp_path, monkeypatch):
    with open(tmp_path / "log", "w") as log:
        monkeypatch.setattr("oscsim.cli.files.sys", type("sys", (), {"stdout": log, "stderr": log}))
        refused(cli("solve", saved(), "-o", tmp_path / "log"), "--output", "stdout")
        assert cli("solve", saved(), "-o", tmp_path / "x.sync").code == 0


def test_different_files_are_written(cli, saved, tmp_path):
    path = saved()
    (tmp_path / "copy").write_bytes(path.read_bytes())
    assert cli("solve", path, "-o", tmp_path / "copy", "--json", tmp_path / "x.json").code == 0
    assert (tmp_path / "x.json").read_text().startswith("{")
    assert (tmp_path / "copy").read_bytes() != path.read_bytes()
