"""The GPU check cannot rot: the same code at tiny sizes in the interpreter."""

import importlib.util
import json
import sys
from pathlib import Path

import pytest
import torch

from hw_targets.triton.ops import kuramoto_fused

SCRIPT = Path(__file__).parents[2] / "device" / "check.py"


@pytest.fixture
def check(monkeypatch):
    """The script as a module."""
    monkeypatch.setattr(sys, "path", list(sys.path))
    spec = importlib.util.spec_from_file_location("device_check", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_dry_run_holds_and_writes_both_files(check, tmp_path, monkeypatch):
    monkeypatch.setattr(
        check.Session, "run", lambda self: check.Report(self.options, check.machine.facts(self.options))
    )
    monkeypatch.setattr(check.report, "markdown", lambda report: "measured")
    code = check.main(["--dry-run", "--out", str(tmp_path)])
    content = json.loads((tmp_path / "check.json").read_text())
    assert code == 0, [f for f in content["findings"] if not f["ok"]]
    assert content["passed"] and content["dry_run"]
    gates = {finding["gate"] for finding in content["findings"]}
    assert gates == {
        "synchronization",
        "exactness",
        "extremes",
        "kuramoto",
        "order",
        "target",
        "registration",
    }
    assert list(content["benchmarks"]) == ["dry run"]
    assert "measured" in (tmp_path / "check.md").read_text()


def test_a_wrong_kernel_and_a_broken_gate_fail_and_nothing_is_timed(check, tmp_path, monkeypatch):
    right = kuramoto_fused.forward
    monkeypatch.setattr(
        kuramoto_fused, "forward", lambda p: (r := right(p))._replace(increment=1.01 * r.increment)
    )
    import gates

    def broken(place):
        yield "first", 0.0, 0.0
        raise RuntimeError("no such kernel")

    monkeypatch.setitem(gates.GATES, "order", broken)
    code = check.main(["--dry-run", "--out", str(tmp_path), "--gates", "kuramoto", "order"])
    content = json.loads((tmp_path / "check.json").read_text())
    assert code == 1 and not content["passed"]
    assert content["benchmarks"] == {}
    bad = [finding for finding in content["findings"] if not finding["ok"]]
    assert {finding["gate"] for finding in bad} == {"kuramoto", "order"}
    assert bad[-1]["what"] == "raised RuntimeError: no such kernel"
    text = (tmp_path / "check.md").read_text()
    assert "FAILED kuramoto" in text and "tokens/s" not in text


def test_the_real_run_needs_a_gpu(check, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert check.main(["--out", str(tmp_path)]) == 2
    assert "no CUDA device" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_a_gate_nobody_knows_is_refused_with_the_list(check, tmp_path, capsys):
    out = tmp_path / "out"
    assert check.main(["--dry-run", "--out", str(out), "--gates", "order", "nonsense"]) == 2
    assert "--gates: given nonsense, expected some of synchronization" in capsys.readouterr().err
    assert not out.exists()


def test_the_dry_run_measures_no_memory(check, capsys):
    options = check.replace(check.DRY, impl="eager")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(check.Session.run.__globals__["gate"], "DENSE_SIZES", (9,))
        folder = check.Path("unused")
        measured = check.Session(options, check.Check(folder, True, None).step).run()
    assert measured.rows and "memory" not in capsys.readouterr().out
    assert "peak MiB" not in check.report.markdown(measured)


def test_what_a_gpu_would_measure_are_options_that_fit(check):
    for _, options in check.RUNS:
        assert options.checked() == options
