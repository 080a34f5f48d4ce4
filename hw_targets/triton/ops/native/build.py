"""Compile the C++ sources of this folder once per machine, and load the result.

The library is plain C (no Python, no torch in its interface), so it is loaded with ctypes. It lives in a
folder of the cache whose name is a digest of everything that goes into it; several processes may ask for it
at the same time.
"""

from __future__ import annotations

import ctypes
import fcntl
import hashlib
import os
import platform
import shlex
import shutil
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

import torch

from oscsim.errors import TargetUnavailable

FOLDER = Path(__file__).parent
NAME = "oscsim_native"

# No -ffast-math: linking with it makes the whole process flush denormal numbers to zero.
FLAGS = (
    "-O3",
    "-fno-math-errno",
    "-fno-trapping-math",
    "-ffp-contract=fast",
    "-fopenmp",
    "-fvisibility=hidden",
)
EXPECTED_SECONDS = 30
# Of a compiler's complaint, which is at its end.
ERROR_LENGTH = 1500

_lock = threading.Lock()


def library() -> ctypes.CDLL:
    """Return the compiled kernels, building them first where this machine has not yet.

    Raises
    ------
    TargetUnavailable
        no compiler, or it failed; says how to choose ``impl="eager"``.
    """
    with _lock:
        return _library()


@cache
def _library() -> ctypes.CDLL:
    loaded = ctypes.CDLL(str(compiled(FOLDER)))
    loaded.oscsim_use_blas.argtypes = [ctypes.c_void_p]
    loaded.oscsim_use_blas(torch_sgemm())
    return loaded


def compiled(folder: Path) -> Path:
    """Return the shared library made of the sources in a folder; any number of processes may ask at once."""
    build = cache_folder() / f"{NAME}_{digest(folder)}"
    if not (build / "complete").exists():
        build.mkdir(parents=True, exist_ok=True)
        with _exclusive(build / "building"):
            if not (build / "complete").exists():
                _compile(folder, build)
                (build / "complete").touch()
    return build / f"{NAME}.so"


def torch_sgemm() -> int | None:
    """Address of sgemm in the BLAS that torch links, or None where torch does not export it.

    The portable engine then multiplies with loops of its own.
    """
    for path in (Path(torch.__file__).parent / "lib").glob("libtorch_cpu.*"):
        function = getattr(ctypes.CDLL(str(path)), "sgemm_", None)
        return None if function is None else ctypes.cast(function, ctypes.c_void_p).value
    return None


def cache_folder() -> Path:
    """Where compiled kernels are kept: TORCH_EXTENSIONS_DIR, else the user's cache."""
    given = os.environ.get("TORCH_EXTENSIONS_DIR")
    if given:
        return Path(given)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "torch_extensions"


def digest(folder: Path) -> str:
    """Names a build: another source, flag, torch or architecture gives another digest."""
    text = hashlib.sha256(" ".join((*FLAGS, torch.__version__, platform.machine())).encode())
    for path in sorted([*folder.glob("*.cpp"), *folder.glob("*.h")]):
        text.update(path.name.encode() + path.read_bytes())
    return text.hexdigest()[:16]


def _compile(folder: Path, build: Path) -> None:
    compiler = os.environ.get("CXX", "c++")
    if shutil.which(shlex.split(compiler)[0]) is None:
        raise _unavailable(
            f"there is no C++ compiler: given CXX={compiler!r}, expected a command that exists"
        )
    from torch.utils import cpp_extension

    # left behind by a build that was killed; nobody else is building, we hold the lock
    (build / "lock").unlink(missing_ok=True)
    message = f"compiling the CPU kernels of oscsim (once, about {EXPECTED_SECONDS} s) into {build}"
    print(message, file=sys.stderr, flush=True)
    try:
        with _ninja_on_path():
            cpp_extension.load(
                NAME,
                [str(path) for path in sorted(folder.glob("*.cpp"))],
                extra_cflags=list(FLAGS),
                extra_ldflags=["-fopenmp"],
                build_directory=str(build),
                is_python_module=False,
            )
    except (RuntimeError, OSError) as error:
        raise _unavailable(f"the C++ compiler failed: {str(error)[-ERROR_LENGTH:]}") from error


def _unavailable(reason: str) -> TargetUnavailable:
    return TargetUnavailable(
        "triton",
        f"its CPU kernels are compiled on first use and {reason}; or choose impl='eager', which needs none",
        "sudo apt-get install g++ (or set CXX to a C++17 compiler) and pip install ninja",
    )


@contextmanager
def _exclusive(path: Path) -> Iterator[None]:
    """Hold a lock that the system releases when the process ends, however it ends."""
    with path.open("w") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield


@contextmanager
def _ninja_on_path() -> Iterator[None]:
    """Let torch find the ninja that was installed beside it when no environment is activated."""
    before = os.environ.get("PATH", "")
    try:
        import ninja
    except ImportError:
        yield
        return
    os.environ["PATH"] = os.pathsep.join([before, ninja.BIN_DIR])
    try:
        yield
    finally:
        os.environ["PATH"] = before
