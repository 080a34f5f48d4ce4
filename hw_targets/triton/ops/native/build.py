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
    sources = sorted(FOLDER.glob("*.cpp"))
    folder = cache_folder() / f"{NAME}_{digest(sources)}"
    if not (folder / "complete").exists():
        folder.mkdir(parents=True, exist_ok=True)
        with _exclusive(folder / "building"):
            if not (folder / "complete").exists():
                _compile(sources, folder)
                (folder / "complete").touch()
    loaded = ctypes.CDLL(str(folder / f"{NAME}.so"))
    loaded.oscsim_use_blas.argtypes = [ctypes.c_void_p]
    loaded.oscsim_use_blas(torch_sgemm())
    return loaded


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


def digest(sources: list[Path]) -> str:
    """Names the build: a change of a source, a flag, torch, or the machine's architecture gives another one."""
    text = hashlib.sha256(" ".join((*FLAGS, torch.__version__, platform.machine())).encode())
    for path in sorted([*sources, *FOLDER.glob("*.h")]):
        text.update(path.name.encode() + path.read_bytes())
    return text.hexdigest()[:16]


def _compile(sources: list[Path], folder: Path) -> None:
    compiler = os.environ.get("CXX", "c++")
    if shutil.which(compiler) is None:
        raise _unavailable(f"no C++ compiler: given CXX={compiler!r}, expected a command that exists")
    from torch.utils import cpp_extension

    # left behind by a build that was killed; nobody else is building, we hold the lock
    (folder / "lock").unlink(missing_ok=True)
    print(
        f"compiling the CPU kernels of oscsim (once, about {EXPECTED_SECONDS} s) into {folder}",
        file=sys.stderr,
        flush=True,
    )
    try:
        with _ninja_on_path():
            cpp_extension.load(
                NAME,
                [str(path) for path in sources],
                extra_cflags=list(FLAGS),
                extra_ldflags=["-fopenmp"],
                build_directory=str(folder),
                is_python_module=False,
            )
    except (RuntimeError, OSError) as error:
        raise _unavailable(f"the C++ compiler failed: {error}") from error


def _unavailable(reason: str) -> TargetUnavailable:
    return TargetUnavailable(
        "triton",
        f"{reason} (the CPU kernels are compiled on first use; without a compiler choose impl='eager')",
        "sudo apt-get install g++, or set CXX to a C++17 compiler; ninja: pip install ninja",
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
