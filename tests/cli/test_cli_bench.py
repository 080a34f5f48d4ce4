"""bench."""

import json
import subprocess
import sys

import pytest

from hw_targets.triton.bench import gate
from hw_targets.triton.bench.gate import Check
from hw_targets.triton.bench.options import CASES
from hw_targets.triton.bench.results import Report
from hw_targets.triton.ops import eager, native_ssa

SMALL = ("--impl", "eager", "--heads", 2, "--channels", 8, "--n", 24, "--n", 32)


@pytest.fixture(autouse=True)
def small_gate(monkeypatch):
    monkeypatch.setattr(gate, "DENSE_SIZES", (17,))
    monkeypatch.setattr(gate, "SPARSE_SIZES", (320,))


def test_quick_run_writes_everything(cli, tmp_path):
    page = tmp_path / "page.md"
    page.write_text("# Title\n\n<!-- bench: begin -->\nEARLIER\n<!-- bench: end -->\n\nend\n")
    files = ("--csv", tmp_path / "x.csv", "--plot", tmp_path / "x.png", "--markdown", page)
    result = cli("bench", "--quick", *SMALL, *files, "--json", "-")
    assert result.code == 0, result.err
    content = result.json()
    assert content["passed"] and content["machine"]["implementation"] == "eager"
    assert {row["case"] for row in content["rows"]} == set(CASES)
    assert {row["what"] for row in content["rows"]} == {"forward", "forward+backward"}
    assert len((tmp_path / "x.csv").read_text().splitlines()) == 1 + len(content["rows"])
    assert (tmp_path / "x.png").read_bytes().startswith(b"\x89PNG")
    text = page.read_text()
    assert text.startswith("# Title") and text.endswith("end\n") and "EARLIER" not in text
    assert text.count("\n| ssa") == len([r for r in content["rows"] if r["case"].startswith("ssa")])
    assert "FlexAttention: not measured" in result.err
    assert ", memory" not in result.err and "peak MiB" not in text
    assert f"[{result.err.count('/36] ')}/36]" in result.err


def test_a_failed_gate_prints_no_speed(cli, tmp_path, monkeypatch):
    right = eager.backward

    def spoiled(*arguments):
        grads = right(*arguments)
        return grads._replace(values=1.01 * grads.values)

    monkeypatch.setattr(eager, "backward", spoiled)
    files = ("--csv", tmp_path / "x.csv", "--plot", tmp_path / "x.png", "--json", tmp_path / "x.json")
    result = cli("bench", "--quick", "--case", "ssa", *SMALL, *files)
    assert (result.code, result.out) == (1, "")
    assert "gate: ssa, N = 17, gradient by values" in result.err
    assert "nothing was timed" in result.err
    assert not (tmp_path / "x.png").exists()
    assert len((tmp_path / "x.csv").read_text().splitlines()) == 1
    content = json.loads((tmp_path / "x.json").read_text())
    assert (content["passed"], content["rows"]) == (False, [])


@pytest.mark.parametrize(
    ("options", "word"),
    [
        (("--n", 1), "--n"),
        (("--case", "ssb"), "ssa-sparse"),
        (("--impl", "numpy"), "native"),
        (("--device", "tpu"), "cuda"),
        (("--engine", "avx2", "--impl", "eager"), "--engine"),
        (("--csv", "-"), "--csv"),
        (("--csv", "x", "--plot", "x"), "the same file"),
        (("--plot", "nowhere/x.png"), "--plot"),
        (("--plot", "x.txt"), "ends in .png"),
        (("--engine", "portable", "--case", "kuramoto"), "--case kuramoto"),
    ],
)
def test_bad_input(cli, options, word):
    result = cli("bench", *options)
    assert (result.code, result.out, result.err.count("\n")) == (2, "", 1), result.err
    assert word in result.err


@pytest.mark.parametrize(
    "text", ["# Mine\n", "a\n<!-- bench: begin -->\nb\n", "\xff"], ids=["no marks", "one mark", "no text"]
)
def test_a_page_without_its_marks_is_refused_before_measuring(cli, tmp_path, monkeypatch, text):
    monkeypatch.setattr("hw_targets.triton.bench.session.Session.run", lambda _: pytest.fail("measures"))
    page = tmp_path / "page.md"
    page.write_bytes(text.encode("latin-1"))
    result = cli("bench", "--quick", *SMALL, "--markdown", page, "--json", tmp_path / "x.json")
    assert (result.code, result.out, result.err.count("\n")) == (2, "", 1), result.err
    assert f"--markdown: given {page}" in result.err
    assert page.read_bytes() == text.encode("latin-1")
    assert not (tmp_path / "x.json").exists()


def test_what_is_given_beside_quick_wins(cli, monkeypatch):
    seen = []

    def run(session):
        seen.append(session.options)
        return Report(session.options, {}, checks=[Check("ssa", 17, "output", 1.0, 0.5)])

    monkeypatch.setattr("hw_targets.triton.bench.session.Session.run", run)
    for given in ((), ("--repeats", 5, "--n", 24, "--flex", "--memory"), ("--no-memory", "--n", 300)):
        assert cli("bench", "--quick", "--impl", "eager", "--device", "cpu", *given).code == 1
    found = [(o.repeats, o.sizes, o.flex, o.memory) for o in seen]
    assert found == [
        (3, (256, 512), False, False),
        (5, (24,), True, True),
        (3, (300,), False, False),
    ]


def test_an_engine_this_machine_lacks(cli, monkeypatch):
    monkeypatch.setattr(native_ssa, "engines", lambda: ("portable", "avx2"))
    monkeypatch.setattr("hw_targets.triton.bench.gate.check_case", lambda *_: pytest.fail("measures"))
    result = cli("bench", "--case", "ssa", "--case", "kuramoto", "--impl", "native", "--engine", "amx")
    assert (result.code, result.out) == (2, "")
    assert (
        "error: --engine: given 'amx', expected one of portable, avx2, which this machine has" in result.err
    )


def test_a_gpu_that_is_not_there(cli):
    result = cli("bench", "--device", "cuda")
    assert result.code == 3
    assert "torch sees no GPU" in result.err


def test_without_torch(tmp_path):
    """The options are known without torch, and a run names the command that installs it."""
    script = (
        "import sys\n"
        "sys.modules['torch'] = None\n"
        "from oscsim.cli.commands import app\n"
        "app(['bench', *sys.argv[1:]])\n"
    )
    for options, code, word in ((["--help"], 0, "--precision"), ([], 3, "pip install")):
        run = subprocess.run(
            [sys.executable, "-c", script, *options], capture_output=True, text=True, check=False
        )
        assert run.returncode == code, run.stderr
        assert word in run.stdout + run.stderr
