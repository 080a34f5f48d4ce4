"""ngspice as a child process: one netlist in, sampled vectors out, and no trust in its exit code."""

import re
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from oscsim.errors import TargetRunError

PROGRAM = "ngspice"
_RAW, _NETLIST = "out.raw", "layer.cir"
# An aborted analysis inside .control ends with exit code 0; these words are what it leaves.
_TROUBLE = re.compile(
    r"aborted|timestep too small|singular matrix|doanalyses|fatal|no such|not found|out of memory|"
    r"^\s*error(?!: measure)|error on line|unknown|iteration limit|no convergence",
    re.IGNORECASE | re.MULTILINE,
)
_MEASURED = re.compile(r"^\s*(\w+)\s+=\s+(\S+)", re.MULTILINE)
_SHOWN = 6  # lines of ngspice's own words in a message


def version() -> str | None:
    """What ``ngspice --version`` says, e.g. "ngspice-39"; None when it is not on the path."""
    if shutil.which(PROGRAM) is None:
        return None
    said = subprocess.run(
        [PROGRAM, "--version"], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
    )
    found = re.search(r"ngspice-\S+", said.stdout)
    return found.group() if found else PROGRAM


def simulate(lines: Sequence[str], vectors: Sequence[str], end_s: float, timeout_s: float) -> "Waveforms":
    """Run one netlist to ``end_s`` in a folder of its own, which is gone afterwards, whatever happens.

    Raises
    ------
    TargetRunError
        ngspice stopped early, failed or took longer than ``timeout_s``; the message holds its own words.
    """
    control = [".control", "run", f"write {_RAW} {' '.join(vectors)}", "quit", ".endc", ".end"]
    with tempfile.TemporaryDirectory(prefix="oscsim-spice-") as folder:
        (Path(folder) / _NETLIST).write_text("\n".join([*lines, *control]) + "\n", encoding="ascii")
        said, code = _run(folder, timeout_s)
        raw = Path(folder) / _RAW
        if code != 0 or _TROUBLE.search(said) or not raw.is_file():
            raise TargetRunError(f"target 'spice': ngspice failed (exit code {code}): {_reason(said)}")
        times, values = _read_raw(raw.read_bytes(), len(vectors))
    if not len(times) or times[-1] < end_s * (1.0 - 1e-6):
        reached = times[-1] if len(times) else 0.0
        raise TargetRunError(
            f"target 'spice': ngspice stopped at {reached:.6g} s, expected {end_s:.6g} s: {_reason(said)}"
        )
    if not np.isfinite(values).all():
        raise TargetRunError("target 'spice': ngspice wrote values that are not finite")
    return Waveforms(times, values, {name: _value(text) for name, text in _MEASURED.findall(said)})


class Waveforms:
    """times (T,) in s, values (T, vectors), and what ``.measure`` lines said (NaN where they failed)."""

    def __init__(
        self, times: NDArray[np.float64], values: NDArray[np.float64], measured: dict[str, float]
    ) -> None:
        self.times, self.values, self.measured = times, values, measured


def _run(folder: str, timeout_s: float) -> tuple[str, int]:
    command = [PROGRAM, "-n", "-b", _NETLIST]  # -n: a start-up file of the user would change the result
    child = subprocess.Popen(
        command, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )
    try:
        said, _ = child.communicate(timeout=timeout_s)
    except subprocess.TimeoutExpired:
        raise TargetRunError(
            f"target 'spice': ngspice took longer than {timeout_s:g} s and was stopped; expected a smaller "
            "layer, fewer cycles (max_cycles) or a larger timeout_s"
        ) from None
    finally:  # also on Ctrl-C: nothing is left running
        if child.poll() is None:
            child.kill()
            child.wait()
        if child.stdout is not None:
            child.stdout.close()
    return said.decode("utf-8", "replace"), child.returncode


def _reason(said: str) -> str:
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    first = next((k for k, line in enumerate(lines) if _TROUBLE.search(line)), max(0, len(lines) - _SHOWN))
    return "; ".join(lines[first : first + _SHOWN]) or "it said nothing"


def _value(text: str) -> float:
    try:
        return float(text)
    except ValueError:  # "failed"
        return float("nan")


def _read_raw(content: bytes, count: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Binary raw file: a text header, then rows of time and values as native doubles."""
    head, separator, body = content.partition(b"Binary:\n")
    points = re.search(rb"No\. Points: (\d+)", head)
    if not separator or points is None:
        raise TargetRunError("target 'spice': ngspice wrote no binary raw file")
    rows = int(points.group(1))
    data = np.frombuffer(body, dtype=np.float64)
    if len(data) != rows * (count + 1):
        raise TargetRunError(
            f"target 'spice': ngspice wrote {len(data)} numbers, expected {rows} rows of {count + 1}"
        )
    table = data.reshape(rows, count + 1)
    return table[:, 0].copy(), table[:, 1:].copy()
