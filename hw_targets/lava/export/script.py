"""The text of ``run.py`` in an exported folder."""

from dataclasses import fields
from string import Template
from typing import Any

import numpy as np

from hw_targets.lava.export.sources import PACKAGE, renamed

_SCRIPT = Template('''\
"""A phase layer on Lava's processes, exported by oscsim; runs with lava-nc 0.10.0 and numpy alone.

    python run.py        runs it, compares every recorded state with the run it came from, writes sync.npy

Exit code 0: the same run; 1: something differs or a model failed; 2: arrays.npz is not the exported one.

Layer $spec_digest ($dynamics, $heads heads of $tokens tokens, $channels channels),
plan $plan_digest. Arrays are in arrays.npz; the processes are in $package/processes.
Linux or macOS. lava-nc 0.10.0 on Python 3.11 or later:
    $install
"""

import hashlib
import sys
import zipfile
import zlib
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

from $package.export.read_out import ReadOutFormat, $reader
from $package.$arithmetic_module import $arithmetic
from $package.program import COUNTERS, $program
from $package.runtime import lava_session

TAG = $tag
LAVA_STEPS = $lava_steps
MESSAGES = $messages
RESIDUAL = $residual
STATES_SHA256 = $digest
COUNTED = $counted
SHAPES = {
$shapes
}


def load(path):
    """The arrays, or the end of this script with what is wrong with their file."""
    try:
        with np.load(path) as file:
            arrays = {name: file[name] for name in file.files}
    except FileNotFoundError:
        stop(f"{path}: no such file; copy the whole exported folder")
    except (OSError, ValueError, EOFError, zipfile.BadZipFile, zlib.error, NotImplementedError) as error:
        stop(f"{path}: damaged or not arrays ({type(error).__name__}: {error}); copy it again")
    found = {name: (array.shape, array.dtype.str) for name, array in arrays.items()}
    for name in sorted({*found, *SHAPES}):
        if found.get(name) != SHAPES.get(name):
            given, expected = found.get(name, "nothing"), SHAPES.get(name, "nothing")
            stop(f"{path}: array {name}: given {given}, expected {expected}; copy the file again")
    return arrays


def stop(problem):
    print(f"error: {problem}", file=sys.stderr)
    raise SystemExit(2)


def main() -> int:
    # first of all $package.runtime: it makes lava-nc importable
    from $build_module import $build

    arrays = load(HERE / "arrays.npz")
    given = {name.removeprefix("given."): arrays[name] for name in arrays if name.startswith("given.")}
    arithmetic = $arithmetic(
$arithmetic_fields
    )
    program = $program(
$program_fields
    )

    def build():
        return $build(program=program, arithmetic=arithmetic)

    with lava_session(build, TAG, timeout_s=$timeout_s, stall_s=$stall_s) as session:
        messages = session.run(LAVA_STEPS, session.process.$port, messages=MESSAGES)
        counted = [int(count) for count in session.read(session.process.counters)]
    states = $states
    sync = $reading
    np.save(HERE / "sync.npy", sync)
    print("S, rows are receiving tokens:")
    print(np.array2string(sync, precision=4, suppress_small=True, threshold=200))
    print("counted:", ", ".join(f"{name} {count}" for name, count in zip(COUNTERS, counted, strict=True)))
    return max(check(states, sync, arrays), int(counted != COUNTED))


def rounded(error, arrays) -> float:
    """An error of a cosine, and what couplings this large and phases this far from zero round away."""
    phases = (arrays[name] for name in ("given.theta", "given.phase_0") if name in arrays)
    farthest = max((float(np.abs(one).max()) for one in phases), default=0.0)
    scale = max(float(np.abs(arrays["given.coupling"]).max()), 1e-300)
    return scale * (error + 2.0**-50 * farthest)


$check

if __name__ == "__main__":
    sys.exit(main())
''')

_CHECK_EXACT = '''def check(states, sync, arrays) -> int:
    """Integers: every state of the record must be the same."""
    same = hashlib.sha256(states.astype("<i8").tobytes()).hexdigest() == STATES_SHA256
    error = float(np.abs(sync - arrays["sync"]).max())
    print(f"states: {states.size}, {'identical, bit by bit' if same else 'DIFFERENT'}")
    allowed = rounded(1e-12, arrays)
    print(f"S: largest difference {error:.2g}, allowed {allowed:.2g} (its read-out is float64)")
    return 0 if same and error <= allowed else 1
'''

_CHECK_CLOSE = '''def check(states, sync, arrays) -> int:
    """Floating point: the last digits may depend on the library of sines."""
    same = hashlib.sha256(states.astype("<f8").tobytes()).hexdigest() == STATES_SHA256
    error = float(np.abs(sync - arrays["sync"]).max())
    print(f"states: {states.size}, {'identical, bit by bit' if same else 'not the same bits'}")
    allowed = rounded(1e-9, arrays)
    print(f"S: largest difference {error:.2g}, allowed {allowed:.2g}")
    return 0 if error <= allowed else 1
'''


def script(
    facts: dict[str, Any], program: Any, arithmetic: Any, arrays: dict[str, np.ndarray[Any, Any]]
) -> str:
    """The whole text.

    Parameters
    ----------
    facts : what fills the template and is not derived here.
    arrays : what is in arrays.npz; the script refuses others.
    """
    exact = facts["tag"] == "fixed_pt"
    quoted = {name: repr(facts[name]) for name in ("tag", "residual", "digest", "counted")}
    return _SCRIPT.substitute(
        {
            **facts,
            **quoted,
            "package": PACKAGE,
            "build_module": renamed(facts["build"].__module__),
            "build": facts["build"].__name__,
            "shapes": "\n".join(f"    {name!r}: {(a.shape, a.dtype.str)!r}," for name, a in arrays.items()),
            "program": type(program).__name__,
            "program_fields": _fields(program, "program"),
            "arithmetic": type(arithmetic).__name__,
            "arithmetic_module": type(arithmetic).__module__.rsplit(".", 1)[1],
            "arithmetic_fields": _fields(arithmetic, "arithmetic"),
            "check": _CHECK_EXACT if exact else _CHECK_CLOSE,
        }
    )


def program_arrays(program: Any) -> dict[str, np.ndarray]:
    """The arrays of a program under the names that the script uses."""
    values = {field.name: getattr(program, field.name) for field in fields(program)}
    return {f"program.{name}": value for name, value in values.items() if isinstance(value, np.ndarray)}


def _fields(data: Any, prefix: str) -> str:
    """Keyword arguments of a dataclass: arrays by name, everything else as it is written."""
    lines = []
    for field in fields(data):
        value = getattr(data, field.name)
        written = f'arrays["{prefix}.{field.name}"]' if isinstance(value, np.ndarray) else repr(value)
        lines.append(f"        {field.name}={written},")
    return "\n".join(lines)
