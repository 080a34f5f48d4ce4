"""Check the kernels on a GPU, then measure them: one script, six minutes at most on one H200, no downloads.

    python tests/device/check.py [--out FOLDER]      needs CUDA, torch, triton and this checkout
    python tests/device/check.py --dry-run           the same code at tiny sizes in Triton's interpreter

Writes check.json and check.md into FOLDER, also when something fails (then without any speed). Exit codes:
0 all gates hold, 1 some do not, 2 no CUDA or a gate nobody knows, 3 torch or triton is missing. pytest does
not collect it; tests/hw_targets/triton has a test that runs it dry.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "conformance"), str(Path(__file__).parent)]

from oscsim.cli.guard import ExitCode, lacks  # noqa: E402

if lacks("torch", "triton", command="pip install -e '.[triton]'"):
    raise SystemExit(int(ExitCode.BACKEND_MISSING))

import gates  # noqa: E402
import torch  # noqa: E402

from hw_targets.triton.bench import machine, report  # noqa: E402
from hw_targets.triton.bench.options import BenchOptions  # noqa: E402
from hw_targets.triton.bench.results import Report  # noqa: E402
from hw_targets.triton.bench.session import Session  # noqa: E402

BUDGET_S = 330.0
"""No further measurement begins after this; a machine may be lent for six minutes."""
REAL = BenchOptions(impl="triton", device="cuda", repeats=7, flex=True)
DENSE = ("ssa", "ssa-causal", "ssa-prefix", "kuramoto")
LOW = {"dtype": "bfloat16", "precision": "fast"}
RUNS = (
    ("float32, accurate", replace(REAL, cases=DENSE, sizes=(2048, 8192))),
    ("bfloat16, fast", replace(REAL, cases=DENSE, sizes=(2048, 8192), **LOW)),
    ("sparse", replace(REAL, cases=("ssa-sparse",), sizes=(4096, 16384, 65536), flex=False)),
)
DRY = BenchOptions(
    cases=("ssa",), sizes=(16,), impl="triton", repeats=3, heads=1, channels=16, memory=False, dense=False
)


def main(arguments: list[str]) -> int:
    """Run everything; the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--out", default="device-check", help="folder for check.json and check.md")
    parser.add_argument("--dry-run", action="store_true", help="tiny sizes in the interpreter, without a GPU")
    parser.add_argument("--gates", nargs="+", help=f"only these (default: all): {', '.join(gates.GATES)}")
    given = parser.parse_args(arguments)
    unknown = [name for name in given.gates or () if name not in gates.GATES]
    if unknown:
        print(
            f"error: --gates: given {', '.join(unknown)}, expected some of {', '.join(gates.GATES)}; "
            "leave it out to run all",
            file=sys.stderr,
        )
        return 2
    if not given.dry_run and not torch.cuda.is_available():
        print("error: torch sees no CUDA device; run this on a GPU, or with --dry-run", file=sys.stderr)
        return 2
    return Check(Path(given.out), given.dry_run, given.gates).run()


class Check:
    """One run: what was found so far is on disk after every step."""

    def __init__(self, folder: Path, dry: bool, only: list[str] | None) -> None:
        self.folder, self.dry, self.only = folder, dry, only
        self.begin, self.findings, self.benches = time.monotonic(), [], []
        self.machine = machine.facts(DRY if dry else REAL)

    def run(self) -> int:
        """Gates, then speeds if all of them hold."""
        place = gates.Place("cpu", (1, 9), 24) if self.dry else gates.Place("cuda", (1, 17, 130, 257), 1000)
        for name in self.only if self.only is not None else gates.GATES:
            with self.guarded(name):
                for what, error, allowed in gates.GATES[name](place):
                    self.add(name, what, error, allowed)
            self.write()
        if self.failed():
            return 1
        for name, options in (("dry run", DRY),) if self.dry else RUNS:
            if time.monotonic() - self.begin > BUDGET_S:
                self.benches.append((name, None))
                continue
            with self.guarded(f"benchmark, {name}"):
                measured = Session(options, self.step).run()
                self.benches.append((name, measured))
                for check in measured.checks:
                    self.add(
                        f"benchmark, {name}",
                        f"{check.case}, N = {check.n}, {check.tensor}",
                        check.error,
                        check.allowed,
                    )
            self.write()
        return int(bool(self.failed()))

    def add(self, gate: str, what: str, error: float, allowed: float) -> None:
        """Note one comparison."""
        ok = error <= allowed
        self.findings.append({"gate": gate, "what": what, "error": error, "allowed": allowed, "ok": ok})
        if not ok:
            print(f"FAILED {gate}: {what}: error {error:.3g}, allowed {allowed:.3g}", flush=True)

    def failed(self) -> list[dict[str, Any]]:
        """Findings that do not hold."""
        return [finding for finding in self.findings if not finding["ok"]]

    @contextmanager
    def guarded(self, name: str) -> Iterator[None]:
        """A gate that breaks is a gate that failed; the others still run."""
        begin = time.monotonic()
        try:
            yield
        except Exception as error:
            traceback.print_exc()
            self.add(name, f"raised {type(error).__name__}: {str(error)[:400]}", float("inf"), 0.0)
        print(f"{name}: {time.monotonic() - begin:.1f} s", flush=True)

    @contextmanager
    def step(self, name: str) -> Iterator[None]:
        """Progress of the benchmark."""
        begin = time.monotonic()
        yield
        print(f"  {name}: {time.monotonic() - begin:.1f} s", flush=True)

    def write(self) -> None:
        """Both files; no speed while a gate fails."""
        good = not self.failed()
        self.folder.mkdir(parents=True, exist_ok=True)
        done = [(name, measured) for name, measured in self.benches if measured is not None] if good else []
        content = {
            "passed": good, "dry_run": self.dry, "seconds": round(time.monotonic() - self.begin, 1),
            "machine": self.machine, "findings": [_finite(finding) for finding in self.findings],
            "benchmarks": {name: measured.to_json() for name, measured in done},
            "not_measured": [name for name, measured in self.benches if measured is None],
        }  # fmt: skip
        (self.folder / "check.json").write_text(json.dumps(content, indent=1, allow_nan=False) + "\n")
        (self.folder / "check.md").write_text(self.markdown(done))

    def markdown(self, done: list[tuple[str, Report]]) -> str:
        """A page for people."""
        gates = dict.fromkeys(finding["gate"] for finding in self.findings)
        lines = ["# Device check" + (" (dry run in the interpreter)" if self.dry else ""), ""]
        lines += [f"* {key.replace('_', ' ')}: {value}" for key, value in self.machine.items()]
        lines += ["", "| gate | checks | failed | worst error / allowed |", "|---|---|---|---|"]
        for gate in gates:
            rows = [finding for finding in self.findings if finding["gate"] == gate]
            ratio = max((f["error"] / f["allowed"] for f in rows if f["allowed"] > 0), default=0.0)
            bad = sum(not f["ok"] for f in rows)
            lines.append(f"| {gate} | {len(rows)} | {bad} | {ratio:.2g} |")
        lines += ["", *(f"* FAILED {f['gate']}: {f['what']}" for f in self.failed())]
        for name, measured in done:
            lines += ["", f"## {name}", "", report.markdown(measured)]
        return "\n".join(lines) + "\n"


def _finite(finding: dict[str, Any]) -> dict[str, Any]:
    return {
        key: str(x) if isinstance(x, float) and abs(x) == float("inf") else x for key, x in finding.items()
    }


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
