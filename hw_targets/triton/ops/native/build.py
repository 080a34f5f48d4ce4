"""Compile the C++ sources of this folder once per machine, and load the result.

The library is plain C (no Python, no torch in its interface), so it is loaded with ctypes. It lives in a
folder of the cache whose name is a digest of everything that goes into it; several processes may ask for it
at the same time. A file "complete" beside it holds the digest of the library itself: what a killed build
left, or a library that was damaged later, is built again.
"""

from __future__ import annotations

import ctypes
import fcntl
import hashlib
import os
import platform
import shlex
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

import torch

from oscsim.errors import TargetUnavailable
from oscsim.io import atomic_write

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

# torch's builder remembers within a process what it has built, and would not build again after a failure.
BUILD = """
import sys
from torch.utils import cpp_extension
name, folder, flags, *sources = sys.argv[1:]
cpp_extension.load(name, sources, extra_cflags=flags.split(), extra_ldflags=["-fopenmp"],
                   build_directory=folder, is_python_module=False)
"""

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
    if not _is_whole(build):
        try:
            build.mkdir(parents=True, exist_ok=True)
            with _exclusive(build / "building"):
                if not _is_whole(build):
                    _compile(folder, build)
        except OSError as error:
            raise _unavailable(
                f"the cache folder {build.parent} cannot be written ({error}); set TORCH_EXTENSIONS_DIR to "
                "another"
            ) from error
    return build / f"{NAME}.so"


def check() -> str:
    """Say where the compiled kernels are, or that they can be compiled, without compiling them.

    Raises
    ------
    TargetUnavailable
        they are not built, and something that building needs is missing; the message says what.
    """
    build = cache_folder() / f"{NAME}_{digest(FOLDER)}"
    if _is_whole(build):
        return f"compiled in {build}"
    compiler = _compiler()
    if shutil.which("ninja", path=_environment()["PATH"]) is None:
        raise _unavailable("there is no ninja")
    place = next(path for path in (build, *build.parents) if path.exists())
    if not (place.is_dir() and os.access(place, os.W_OK)):
        raise _unavailable(f"{place} cannot be written; set TORCH_EXTENSIONS_DIR to another folder")
    return f"will be compiled by {compiler} into {build}"


def _is_whole(build: Path) -> bool:
    library, record = build / f"{NAME}.so", build / "complete"
    if not (record.is_file() and library.is_file()):
        return False
    return record.read_text() == hashlib.sha256(library.read_bytes()).hexdigest()


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


def _compiler() -> str:
    """The command that torch's builder will call."""
    given = os.environ.get("CXX", "c++")
    try:
        words = shlex.split(given)
    except ValueError:
        words = []
    if not words or shutil.which(words[0]) is None:
        raise _unavailable(f"there is no C++ compiler: given CXX={given!r}, expected a command that exists")
    return given


def _compile(folder: Path, build: Path) -> None:
    _compiler()
    # left behind by a build that was killed; nobody else is building, we hold the lock
    (build / "lock").unlink(missing_ok=True)
    library = build / f"{NAME}.so"
    library.unlink(missing_ok=True)
    message = f"compiling the CPU kernels of oscsim (once, about {EXPECTED_SECONDS} s) into {build}"
    print(message, file=sys.stderr, flush=True)
    sources = [str(path) for path in sorted(folder.glob("*.cpp"))]
    command = [sys.executable, "-c", BUILD, NAME, str(build), " ".join(FLAGS), *sources]
    done = subprocess.run(command, env=_environment(), capture_output=True, text=True, check=False)
    if done.returncode != 0 or not library.is_file():
        raise _unavailable(f"the C++ compiler failed: {(done.stdout + done.stderr)[-ERROR_LENGTH:]}")
    atomic_write(build / "complete", hashlib.sha256(library.read_bytes()).hexdigest().encode())


def _unavailable(reason: str) -> TargetUnavailable:
    return TargetUnavailable(
        "triton",
        f"its CPU kernels are compiled on first use and {reason}; or choose impl='eager', which needs none",
        "sudo apt-get install g++ (or set CXX to a C++20 compiler) and pip install ninja",
    )


@contextmanager
def _exclusive(path: Path) -> Iterator[None]:
    """Hold a lock that the system releases when the process ends, however it ends."""
    with path.open("w") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield


def _environment() -> dict[str, str]:
    """Let torch find the ninja that was installed beside it when no environment is activated."""
    try:
        import ninja
    except ImportError:
        return dict(os.environ)
    return {**os.environ, "PATH": os.pathsep.join([os.environ.get("PATH", ""), ninja.BIN_DIR])}
