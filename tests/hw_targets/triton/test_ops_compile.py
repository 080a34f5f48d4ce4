"""The attention kernels as the op launches them: no spills, tensor cores, instructions per score."""

import json
import os
import subprocess
import sys

import pytest
import typer
from typer.testing import CliRunner

from hw_targets.triton import compile_report
from hw_targets.triton.compile_report import section

# In a process of its own: one in which kernels are interpreted cannot compile.
SCRIPT = """
import json, sys
from dataclasses import replace
from hw_targets.triton.compile_cases import ssa_cases
from hw_targets.triton.compile_measure import measure
from hw_targets.triton.ops.fused_launch import Variant

main = ("ssa_forward_plain", "ssa_backward_symmetric", "ssa_backward_plain")
chosen = {
    ("sm_90", 64): [
        *((precision, "bfloat16", causal) for precision in ("fast", "accurate") for causal in (False, True)),
        ("accurate", "float32", True),
    ],
    ("sm_90", 128): [("fast", "bfloat16", False), ("accurate", "bfloat16", True)],
    ("sm_80", 64): [("accurate", "bfloat16", True)],
    ("gfx942", 64): [("accurate", "bfloat16", True)],
}
for (architecture, width), variants in chosen.items():
    for precision, values, causal in variants:
        variant = Variant(
            width, width, precision=precision, values=values, causal=causal, architecture=architecture
        )
        for case in ssa_cases(variant):
            if case.launch.kernel in main and case.launch.constants.get("LEVEL", 0) == 0:
                row = {"architecture": architecture, "width": width, "op": case.op}
                row |= {"kernel": case.launch.kernel, "options": case.options}
                print(json.dumps(row | measure(case)._asdict()))
"""


@pytest.fixture(scope="module")
def rows(tmp_path_factory):
    environment = {k: v for k, v in os.environ.items() if k != "TRITON_INTERPRET"}
    environment["TRITON_CACHE_DIR"] = str(tmp_path_factory.mktemp("compiled"))
    run = subprocess.run(
        [sys.executable, "-c", SCRIPT], capture_output=True, text=True, env=environment, check=False
    )
    assert run.returncode == 0, run.stderr[-3000:]
    found = [json.loads(line) for line in run.stdout.splitlines()]
    assert len(found) == 18  # a forward and a backward kernel of nine variants
    return found


def test_no_register_spills_to_memory(rows):
    assert [row for row in rows if row["spills"] > 0] == []


def test_products_run_on_tensor_cores(rows):
    unit = {"sm_90": "HGMMA", "sm_80": "HMMA", "gfx942": "v_mfma"}
    assert [row for row in rows if not row["matrix"].get(unit[row["architecture"]])] == []


def test_shared_memory_fits_the_architecture(rows):
    limit = {"sm_90": 227, "sm_80": 99, "gfx942": 64}
    assert [row for row in rows if row["shared_bytes"] > 1024 * limit[row["architecture"]]] == []


@pytest.mark.parametrize(("precision", "most"), [("fast", 12.0), ("accurate", 14.0)])
def test_instructions_per_score_of_the_forward_pass(rows, precision, most):
    forward = [
        row
        for row in rows
        if row["architecture"] == "sm_90"
        and row["width"] == 64
        and row["kernel"] == "ssa_forward_plain"
        and row["options"].startswith(f"{precision}, bfloat16")
    ]
    assert len(forward) == 2
    assert max(row["per_score"] for row in forward) <= most
    assert max(row["special_per_score"] for row in forward) <= 1.1


def test_report_shows_the_worst_variant_of_a_kernel(rows):
    text = section(rows)
    line = next(x for x in text.splitlines() if "ssa_forward_plain" in x and "accurate, bfloat16" in x)
    forward = [row for row in rows if row["kernel"] == "ssa_forward_plain" and row["width"] == 64]
    worst = max(
        row["registers"]
        for row in forward
        if row["architecture"] == "sm_90" and row["options"].startswith("accurate, bfloat16")
    )
    assert f"| {worst} | 0 |" in line


def _invoke(*arguments):
    app = typer.Typer()
    app.command()(compile_report.command)
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


@pytest.mark.parametrize(
    "text",
    [None, "# Mine\n", f"{compile_report.BEGIN}\n", f"{compile_report.END} {compile_report.BEGIN}"],
    ids=["no file", "no marks", "one mark", "wrong order"],
)
def test_a_page_without_its_marks_is_refused_before_anything_is_compiled(text, tmp_path, monkeypatch):
    monkeypatch.setattr(compile_report, "compiled", lambda *_: pytest.fail("compiles"))
    page = tmp_path / "page.md"
    if text is not None:
        page.write_text(text)
    result = _invoke("--output", page)
    assert (result.exit_code, result.stderr.count("\n")) == (2, 1), result.output
    assert "--output: given" in result.stderr and "marks" in result.stderr
    assert text is None or page.read_text() == text


def test_the_report_fills_its_section_and_says_how_far_it_is(tmp_path, monkeypatch):
    monkeypatch.setattr(compile_report, "compiled", lambda *_: [])
    page = tmp_path / "page.md"
    page.write_text(f"before\n{compile_report.BEGIN}\nOLD\n{compile_report.END}\nafter\n")
    result = _invoke("--output", page)
    assert (result.exit_code, result.stdout) == (0, ""), result.output
    assert result.stderr.count("\n") == 6 and "[ 6/6] gfx942, width 128" in result.stderr
    assert page.read_text() == f"before\n{section([])}\nafter\n"
