"""regime, and the progress of sweeps."""

import os
import pty
import subprocess
import sys

import pytest

from oscsim.cli import sweep_progress
from oscsim.cli.sweep_progress import SweepProgress
from oscsim.regime import CONVENTIONS, read_csv

SMALL = ("--n", 2, "--n", 3, "--spread", 0.3, "--gain", 1.313, "--seeds", 2)


def test_everything_is_written(cli, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = cli("regime", *SMALL, "--csv", "x.csv", "--plot", "x.png", "--json", "-", "-o", "kept")
    assert result.code == 0, result.err
    content = result.json()
    assert content["settings"]["n"] == [2, 3] and content["settings"]["seeds"] == 2
    assert content["conventions"] == dict(CONVENTIONS)
    assert [row["convention"] for row in content["rows"]] == list(CONVENTIONS) * 2
    assert len(read_csv("x.csv")) == 8 and (tmp_path / "x.png").read_bytes().startswith(b"\x89PNG")
    assert "[2/2] N = 3, spread 0.3" in result.err and "self-consistent" in result.err
    again = cli("regime", *SMALL, "--json", "-", "-o", "kept")
    assert again.json() == content
    more = cli("regime", *SMALL, "--seeds", 6, "--json", "-", "-o", "kept").json()
    assert more["rows"] != content["rows"] and len(os.listdir("kept")) == 1 + 2 + 4


def test_people_get_a_table(cli, tmp_path):
    result = cli("regime", *SMALL, "-o", tmp_path / "kept")
    assert result.code == 0 and not result.err.count("error")
    lines = result.out.splitlines()
    assert "mean |S error|" in lines[0] and lines[1].split()[:4] == ["N", "spread", "K", "alpha"]
    assert [line.split()[0] for line in lines[2:4]] == ["2", "3"]
    assert any(line.startswith("steady: r(t) = |") for line in lines)


def test_quick_keeps_what_is_given(cli, tmp_path):
    options = ("--quick", "--n", 2, "--spread", 0.1, "--spread", 0.2, "--json", "-", "-o", tmp_path / "kept")
    settings = cli("regime", *options).json()["settings"]
    assert (settings["n"], settings["spread"], settings["gain"], settings["seeds"]) == (
        [2], [0.1, 0.2], [1.313], 4,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("options", "word"),
    [
        (("--n", 1), "n: given 1"),
        (("--spread", 0), "spread"),
        (("--gain", -1), "gain"),
        (("--alpha", "nan"), "alpha"),
        (("--seeds", 0), "seeds"),
        (("--csv", "-"), "--csv"),
        (("--plot", "x.txt"), "ends in .png"),
        (("--csv", "x", "--json", "x"), "the same file"),
        (("--csv", "kept/regime.json"), "the same file"),
        (("-o", "file"), "expected the name of a folder"),
        (("-o", "foreign"), "not a regime map"),
    ],
)
def test_bad_input(cli, tmp_path, monkeypatch, options, word):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").write_text("")
    (tmp_path / "kept").mkdir()
    (tmp_path / "foreign").mkdir()
    (tmp_path / "foreign" / "letter").write_text("")
    folder = () if "-o" in options else ("-o", "kept")
    result = cli("regime", *SMALL, *folder, *options)
    assert (result.code, result.out, result.err.count("\n")) == (2, "", 1), result.err
    assert word in result.err
    assert not os.listdir(tmp_path / "kept")


def test_progress_elsewhere_is_a_line_now_and_then(capsys, monkeypatch):
    clock = iter([0.0, 1.0, 10.5, 10.5, 12.0, 12.0])
    monkeypatch.setattr(sweep_progress.time, "monotonic", lambda: next(clock))
    sweep = SweepProgress(3)
    with sweep.shown() as shown:
        assert shown is sweep
        for done in (1, 2, 3):
            sweep(done, f"[cell] {done}")
    assert capsys.readouterr() == ("", "[2/3] [cell] 2\n[3/3] [cell] 3\n")


def test_progress_on_a_terminal_is_a_bar():
    program = (
        "from oscsim.cli.sweep_progress import SweepProgress\n"
        "with SweepProgress(4).shown() as sweep:\n"
        "    sweep(1, '[bold]cell 1')\n"
        "    sweep(4, 'cell 4')\n"
    )
    leader, follower = pty.openpty()
    done = subprocess.run(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=follower, check=False, timeout=60,
        env=os.environ | {"TERM": "xterm", "COLUMNS": "100"},
    )  # fmt: skip
    os.close(follower)
    text = b""
    while True:
        try:
            chunk = os.read(leader, 65536)
        except OSError:  # the other end is closed and everything has been read
            break
        if not chunk:
            break
        text += chunk
    os.close(leader)
    assert (done.returncode, done.stdout) == (0, b"")
    assert b"1/4" in text and b"4/4" in text and b"[bold]cell 1" in text and b"\n" in text
