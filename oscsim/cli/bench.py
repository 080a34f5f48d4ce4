"""``oscsim bench``: how fast the fused attention ops are, once they have been shown to be right."""

from pathlib import Path
from typing import Annotated, Any

import typer
from rich.text import Text

from hw_targets.triton.bench.options import CASES, QUICK, BenchOptions
from oscsim.cli import arguments as arg
from oscsim.cli.files import check_distinct, check_suffix, checked_path
from oscsim.cli.guard import ExitCode
from oscsim.cli.output import Output
from oscsim.cli.page import around_marks
from oscsim.cli.progress import Steps, say
from oscsim.errors import TargetUnavailable
from oscsim.io import atomic_write

INSTALL = "pip install -e '.[triton]'"
_CASES = ", ".join(CASES)
_QUICK = " ".join(
    [*(f"--n {n}" for n in QUICK["sizes"]), f"--repeats {QUICK['repeats']}", "--no-flex --no-memory"]
)


def bench(
    case: Annotated[
        list[str] | None, typer.Option(help=f"Repeat for several: {_CASES}; default: all.")
    ] = None,
    n: Annotated[
        list[int] | None, typer.Option("--n", help="Tokens; repeat. Default: each case's own.")
    ] = None,
    impl: Annotated[
        str | None, typer.Option(help="triton, native or eager; default: the device's own.")
    ] = None,
    device: Annotated[
        str | None, typer.Option(help="cpu or cuda; default: cuda where torch sees one.")
    ] = None,
    engine: Annotated[
        str | None, typer.Option(help="Of native: portable, avx2, avx512, amx; default: best.")
    ] = None,
    precision: Annotated[str, typer.Option(help="accurate, fast or fp32.")] = "accurate",
    dtype: Annotated[str, typer.Option(help="float32, bfloat16 or float16.")] = "float32",
    batch: Annotated[int, typer.Option(help="Sequences per call.")] = 1,
    heads: Annotated[int, typer.Option(help="Heads.")] = 8,
    channels: Annotated[int, typer.Option(help="Width of a head.")] = 64,
    repeats: Annotated[
        int | None, typer.Option(help="Rounds; each runs every contender once. Default: 15.")
    ] = None,
    flex: Annotated[
        bool | None,
        typer.Option(help="Compiled FlexAttention, half a minute per size; default: on cuda only."),
    ] = None,
    memory: Annotated[
        bool | None, typer.Option(help="Peak memory; on a CPU a process per contender. Default: on.")
    ] = None,
    short: Annotated[
        bool,
        typer.Option(
            "--quick", help=f"A minute to see that it works: {_QUICK}, except for what is given beside it."
        ),
    ] = False,
    json: arg.Json = None,
    csv: Annotated[str | None, typer.Option("--csv", metavar="FILE", help="Every row as CSV.")] = None,
    plot: Annotated[str | None, typer.Option("--plot", metavar="FILE.png", help="Ratios and times.")] = None,
    markdown: Annotated[
        str | None,
        typer.Option(
            "--markdown", metavar="FILE.md", help="A new file, or a page: its marked section is filled."
        ),
    ] = None,
) -> None:
    """Measure the attention ops against SDPA, FlexAttention and the public dense formula.

    Before anything is timed, the same build at the same precision, dtype, mask and sparsity has to pass a
    correctness gate in float64: outputs and every gradient. If it does not, exit 1 and no speed is printed.
    """
    out = Output(json)
    written = {"--json": json, "--csv": csv, "--plot": plot, "--markdown": markdown}
    for option in ("--csv", "--plot", "--markdown"):
        checked_path(written[option], option)
    check_distinct({}, written)
    check_suffix(plot, "--plot", ".png")
    asked = {"sizes": tuple(n or ()) or None, "repeats": repeats, "flex": flex, "memory": memory}
    chosen = (QUICK if short else {}) | {name: value for name, value in asked.items() if value is not None}
    options = BenchOptions(
        cases=tuple(case or CASES), impl=impl, device=device or "cpu", engine=engine, precision=precision,
        dtype=dtype, batch=batch, heads=heads, channels=channels, **chosen,
    ).checked()  # fmt: skip
    session, report_text, picture = _load()
    options = session.on_this_machine(options, device, chosen.get("flex")).checked()
    if markdown is not None:
        _page(markdown, "", report_text)  # refused now, not after minutes
    with out.quiet_stdout():
        report = session.Session(options, Steps(session.step_count(options))).run()
    out.write_json(report.to_json())
    if csv is not None:
        atomic_write(csv, report_text.csv_text(report).encode())
    if markdown is not None:
        atomic_write(markdown, _page(markdown, report_text.markdown(report), report_text).encode())
    if report.failed:
        for check in report.failed:
            say(f"gate: {check}")
        say("error: the correctness gate failed; nothing was timed")
        raise typer.Exit(ExitCode.DIFFERS)
    if plot is not None:
        atomic_write(plot, picture.png(report))
    _show(out, report, report_text)


def _load() -> tuple[Any, Any, Any]:
    """Modules that need torch, imported here and nowhere before."""
    try:
        from hw_targets.triton.bench import plot, report, session
    except ModuleNotFoundError as error:
        if error.name not in ("torch", "triton"):
            raise
        raise TargetUnavailable("triton", f"package {error.name} is not installed", INSTALL) from None
    return session, report, plot


def _page(path: str, section: str, report_text: Any) -> str:
    """What the Markdown file is going to hold: its own text around the section, or the section alone."""
    if not Path(path).exists():
        return section
    before, after = around_marks(path, "--markdown", report_text.BEGIN, report_text.END)
    return f"{before}{report_text.BEGIN}\n{section}{report_text.END}{after}"


def _show(out: Output, report: Any, report_text: Any) -> None:
    out.facts("machine", [(key.replace("_", " "), value) for key, value in report.machine.items()])
    out.print(Text(f"gate: {len(report.checks)} checks hold"))
    out.table(report_text.columns(report), [report_text.cells(report, row) for row in report.rows])
    lines = (*report_text.exponent_lines(report), *report_text.input_lines(report), *report.notes)
    for line in lines:
        out.print(Text(line))
    if report.blocks:
        out.table(report.blocks[0], [entry.values() for entry in report.blocks])
