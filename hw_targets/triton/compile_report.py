"""What every Triton kernel compiles to: ``python -m hw_targets.triton.compile_report`` writes it to the docs.

No GPU is needed; it takes minutes. Each architecture and width is compiled in a process of its own, for a
process whose TRITON_INTERPRET is set cannot compile. Exit codes as of ``oscsim``: 1 a kernel did not compile,
2 bad input, 3 torch or triton is missing.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterable
from importlib.metadata import version
from pathlib import Path
from typing import Annotated, Any

import typer

from oscsim.cli.files import checked_path
from oscsim.cli.guard import ExitCode, guarded, lacks
from oscsim.cli.page import around_marks
from oscsim.cli.progress import Steps
from oscsim.errors import ConfigError, TargetRunError
from oscsim.io import atomic_write

if lacks("torch", "triton", command="pip install -e '.[triton]'"):
    raise SystemExit(int(ExitCode.BACKEND_MISSING))

from hw_targets.triton.compile_cases import ARCHITECTURES

PAGE = Path(__file__).parents[2] / "docs" / "targets" / "triton.md"
BEGIN, END = "<!-- compile report -->", "<!-- end of compile report -->"
WIDTHS = (64, 128)

Row = dict[str, Any]


def compiled(architecture: str, width: int, *words: str) -> list[Row]:
    """Figures of every case whose description holds all ``words``; TargetRunError if one does not compile."""
    environment = {k: v for k, v in os.environ.items() if k != "TRITON_INTERPRET"}
    command = [sys.executable, "-m", "hw_targets.triton.compile_measure", f"{architecture}:{width}", *words]
    run = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    if run.returncode:
        raise TargetRunError(f"compiling for {architecture} failed:\n{run.stderr[-3000:]}")
    return [json.loads(line) for line in run.stdout.splitlines()]


def section(rows: Iterable[Row]) -> str:
    """The report in Markdown: one table per width, the worst of a kernel's variants in each cell."""
    groups: dict[int, dict[tuple[str, str], dict[str, list[Row]]]] = {}
    for row in rows:
        numbers = ", ".join(word for word in row["options"].split(", ") if word in _SHOWN)
        kernel = groups.setdefault(row["width"], {}).setdefault((row["kernel"], numbers), {})
        kernel.setdefault(row["architecture"], []).append(row)
    text = [BEGIN, "", _ABOUT.format(version=version("triton")), ""]
    for width, kernels in groups.items():
        text += [f"Head width {width}:", "", _HEAD, _RULE]
        text += [_line(name, numbers, by_target) for (name, numbers), by_target in kernels.items()]
        text.append("")
    return "\n".join([*text, END])


_ABOUT = """Compiled ahead of time with Triton {version}, no GPU involved, by
`python -m hw_targets.triton.compile_report`, which takes kernels, constants and tiles from the tables that
the ops launch from. Registers per thread, spills (instructions that move a register to or from memory; AMD:
spilled vector registers), shared memory per program, and for the inner loop on sm_90 the instructions and
special-function operations per score. Each cell is the largest over the variants of a call (full, causal,
and causal with one strength per row, a block map, dropout and padding); instructions are those without
dropout."""

_SHOWN = ("fast", "accurate", "fp32", "float32", "bfloat16", "polynomial", "exponential")
_HEAD = (
    "| kernel | variant | sm_90: registers | spills | shared KiB | matrix unit | instructions | special | "
    + " | ".join(f"{name}: registers | spills | shared KiB" for name in ARCHITECTURES[1:])
    + " |"
)
_RULE = "|---" * (8 + 3 * (len(ARCHITECTURES) - 1)) + "|"


def _line(name: str, numbers: str, by_target: dict[str, list[Row]]) -> str:
    first = by_target.get(ARCHITECTURES[0], [])
    matrix = sorted({unit for row in first for unit in row["matrix"]})
    plain = [row for row in first if "dropout" not in row["options"] and row["per_score"] is not None]
    cells = [f"`{name}`", numbers, *_resources(first), ", ".join(matrix) or "—"]
    for figure in ("per_score", "special_per_score"):
        cells.append(f"{max(row[figure] for row in plain):.1f}" if plain else "—")
    for target in ARCHITECTURES[1:]:
        cells += _resources(by_target.get(target, []))
    return "| " + " | ".join(cells) + " |"


def _resources(rows: list[Row]) -> list[str]:
    if not rows:
        return ["—"] * 3
    shared = max(row["shared_bytes"] for row in rows) / 1024
    return [
        str(max(row["registers"] for row in rows)),
        str(max(row["spills"] for row in rows)),
        f"{shared:.0f}",
    ]


def command(
    output: Annotated[
        Path, typer.Option(metavar="FILE.md", help="Page whose marked section is filled.")
    ] = PAGE,
) -> None:
    """Compile every kernel for every architecture and rewrite the marked section of a page."""
    with guarded():
        checked_path(str(output), "--output")
        if not output.exists():
            raise ConfigError(
                f"--output: given {output}, expected a page that exists; create it with its marks"
            )
        around_marks(output, "--output", BEGIN, END)  # refused now, not after minutes
        passes = [(architecture, width) for width in WIDTHS for architecture in ARCHITECTURES]
        rows, step = [], Steps(len(passes))
        for architecture, width in passes:
            with step(f"{architecture}, width {width}"):
                rows += compiled(architecture, width)
        before, after = around_marks(output, "--output", BEGIN, END)
        atomic_write(output, f"{before}{section(rows)}{after}".encode())


if __name__ == "__main__":
    typer.run(command)
