"""Peak memory of one call above its inputs: on a CPU in a fresh process, on a GPU by torch's own counter.

    python -m hw_targets.triton.bench.memory '{"case": "ssa", "n": 2048, ...}'      prints one JSON line

The resident set's high-water mark is set back after the inputs exist and everything is loaded and warm:
what is counted is what the call itself makes resident, its result included. In that process glibc gives
freed memory back at once (large blocks are mapped, the heap is trimmed), or what the inputs left behind
would be used again unseen.
"""

from __future__ import annotations

import ctypes
import gc
import json
import os
import subprocess
import sys
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import torch

from hw_targets.triton.bench.contender import Contender
from hw_targets.triton.bench.contenders import contender
from hw_targets.triton.bench.options import CASES, BenchOptions
from hw_targets.triton.bench.workload import Workload, build
from oscsim.errors import TargetRunError

_GIVE_BACK = {"MALLOC_MMAP_THRESHOLD_": "65536", "MALLOC_TRIM_THRESHOLD_": "65536"}
_STATUS, _RESET = Path("/proc/self/status"), Path("/proc/self/clear_refs")
_WARM_SIZE = 64


def measurable(device: str) -> bool:
    """Whether this machine can tell: CUDA always, otherwise Linux."""
    return device == "cuda" or (_STATUS.exists() and _RESET.exists())


def peak_bytes(load: Workload, name: str, what: str, options: BenchOptions) -> int:
    """Bytes one pass of a contender needs on top of its inputs."""
    if options.device == "cuda":
        return _on_gpu(contender(name, load, options), what)
    question = {"case": load.case.name, "n": load.n, "name": name, "pass": what, "options": asdict(options)}
    question["threads"] = torch.get_num_threads()
    run = subprocess.run(
        [sys.executable, "-m", __spec__.name if __spec__ else __name__, json.dumps(question)],
        capture_output=True, text=True, check=False, env=os.environ | _GIVE_BACK,
    )  # fmt: skip
    if run.returncode != 0:
        raise TargetRunError(
            f"memory of {name} at N = {load.n}: the measuring process failed: {run.stderr[-500:]}"
        )
    return int(json.loads(run.stdout.splitlines()[-1])["peak_bytes"])


def _on_gpu(given: Contender, what: str) -> int:
    given.run(what)
    torch.cuda.synchronize()
    torch.cuda.reset_peak_memory_stats()
    before = torch.cuda.memory_allocated()
    given.run(what)
    torch.cuda.synchronize()
    return torch.cuda.max_memory_allocated() - before


def _answer(question: dict[str, Any]) -> int:
    torch.set_num_threads(question["threads"])
    given = question["options"]
    options = BenchOptions(**{**given, "cases": tuple(given["cases"]), "sizes": tuple(given["sizes"])})
    case = CASES[question["case"]]
    small = build(case, _WARM_SIZE, replace(options, batch=1))
    contender(question["name"], small, options).run(question["pass"])
    load = build(case, question["n"], options)
    waiting = contender(question["name"], load, options)
    gc.collect()
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)  # glibc's
    if trim is not None:
        trim(0)
    _RESET.write_text("5")
    before = _kibibytes("VmRSS")
    waiting.run(question["pass"])
    return 1024 * max(0, _kibibytes("VmHWM") - before)


def _kibibytes(entry: str) -> int:
    for line in _STATUS.read_text().splitlines():
        if line.startswith(f"{entry}:"):
            return int(line.split()[1])
    raise TargetRunError(f"{_STATUS}: no entry {entry}; expected Linux")


if __name__ == "__main__":
    print(json.dumps({"peak_bytes": _answer(json.loads(sys.argv[1]))}))
