"""Compilation on first use: once, with a word about it, safely; and no side effect on floating point."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch

from hw_targets.triton.ops.native import build
from oscsim.errors import TargetUnavailable

SOURCE = (
    '#include "number.h"\nextern "C" __attribute__((visibility("default"))) int number() { return NUMBER; }\n'
)
COMPILE = """
import ctypes, sys
from pathlib import Path
from hw_targets.triton.ops.native import build
from oscsim.errors import TargetUnavailable
print(ctypes.CDLL(str(build.compiled(Path(sys.argv[1])))).number())
"""
ATTEND = """
import torch
from hw_targets.triton.ops import ssa_attention
x = torch.zeros(1, 1, 3, 2)
try:
    ssa_attention(x, x, alpha=1.0, gain=1.0, order_parameter=1.0, impl="native")
except Exception as error:
    print(type(error).__name__, error)
print(ssa_attention(x, x, alpha=1.0, gain=1.0, order_parameter=1.0, impl="eager").shape)
"""


@pytest.fixture
def sources(tmp_path: Path) -> Path:
    folder = tmp_path / "sources"
    folder.mkdir()
    (folder / "number.cpp").write_text(SOURCE)
    (folder / "number.h").write_text("#define NUMBER 41\n")
    return folder


def start(script: str, *arguments: str, **environment: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", script, *arguments],
        env={**os.environ, **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_processes_that_build_at_the_same_time_build_once(sources: Path, tmp_path: Path) -> None:
    cache = {"TORCH_EXTENSIONS_DIR": str(tmp_path / "cache")}
    # torch's own lock, as a killed build leaves it, must not stop anybody
    stale = tmp_path / "cache" / f"{build.NAME}_{build.digest(sources)}"
    stale.mkdir(parents=True)
    (stale / "lock").touch()
    running = [start(COMPILE, str(sources), **cache) for _ in range(2)]
    outputs = [process.communicate(timeout=120) for process in running]
    assert [out for out, _ in outputs] == ["41\n", "41\n"], outputs
    words = "".join(error for _, error in outputs)
    assert words.count("compiling the CPU kernels of oscsim (once, about") == 1


def test_a_changed_source_or_flag_is_another_build(sources: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    digests = {build.digest(sources)}
    (sources / "number.h").write_text("#define NUMBER 42\n")
    digests.add(build.digest(sources))
    monkeypatch.setattr(build, "FLAGS", (*build.FLAGS, "-g"))
    digests.add(build.digest(sources))
    monkeypatch.setattr(torch, "__version__", "0.0")
    digests.add(build.digest(sources))
    assert len(digests) == 4


@pytest.mark.parametrize(
    "damage", [lambda library: library.unlink(), lambda library: library.write_bytes(b"ELF")]
)
def test_a_damaged_library_is_built_again(damage, sources: Path, tmp_path: Path) -> None:
    cache = {"TORCH_EXTENSIONS_DIR": str(tmp_path / "cache")}
    assert start(COMPILE, str(sources), **cache).communicate(timeout=120)[0] == "41\n"
    (library,) = (tmp_path / "cache").glob(f"*/{build.NAME}.so")
    damage(library)
    out, errors = start(COMPILE, str(sources), **cache).communicate(timeout=120)
    assert out == "41\n" and "compiling the CPU kernels" in errors


def test_a_cache_that_cannot_be_written_is_named(sources: Path, tmp_path: Path, monkeypatch) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("TORCH_EXTENSIONS_DIR", str(tmp_path / "file"))
    with pytest.raises(TargetUnavailable, match=r"cannot be written.*set TORCH_EXTENSIONS_DIR"):
        build.compiled(sources)
    monkeypatch.setattr(build, "FOLDER", sources)
    with pytest.raises(TargetUnavailable, match="cannot be written; set TORCH_EXTENSIONS_DIR"):
        build.check()


def test_check_says_what_is_built_and_what_would_be(sources: Path, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setenv("TORCH_EXTENSIONS_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(build, "FOLDER", sources)
    assert build.check().startswith("will be compiled by ")
    assert not (tmp_path / "cache").exists()
    build.compiled(sources)
    assert build.check().startswith("compiled in ")


@pytest.mark.parametrize("given", ["", "c++ '", "/bin/false", "/nowhere/c++"])
def test_a_compiler_that_is_none_is_refused(given: str, sources: Path, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setenv("TORCH_EXTENSIONS_DIR", str(tmp_path))
    monkeypatch.setenv("CXX", given)
    with pytest.raises(TargetUnavailable, match="eager"):
        build.compiled(sources)


@pytest.mark.parametrize("environment", [{"CXX": "/nowhere/c++"}, {"PATH": "", "CXX": "c++"}])
def test_without_a_compiler_the_message_names_eager(environment: dict[str, str], tmp_path: Path) -> None:
    process = start(ATTEND, TORCH_EXTENSIONS_DIR=str(tmp_path), **environment)
    output, errors = process.communicate(timeout=120)
    assert process.returncode == 0, errors
    first, second = output.strip().splitlines()
    assert first.startswith("TargetUnavailable ") and "no C++ compiler" in first and "impl='eager'" in first
    assert environment["CXX"] in first
    assert second == "torch.Size([1, 1, 3, 2])"


def test_a_compiler_that_fails_is_quoted(sources: Path, tmp_path: Path) -> None:
    (sources / "number.h").write_text("#define NUMBER this is not C\n")
    process = start(COMPILE, str(sources), TORCH_EXTENSIONS_DIR=str(tmp_path / "cache"))
    _, errors = process.communicate(timeout=120)
    assert process.returncode != 0
    assert "TargetUnavailable" in errors and "the C++ compiler failed" in errors and "number.cpp" in errors


def test_denormal_numbers_survive_loading() -> None:
    build.library()
    assert not any("fast-math" in flag for flag in build.FLAGS)
    assert (torch.full((64,), 1e-39) * 0.5).gt(0).all()
    assert (np.full(64, 1e-310) * 0.5 > 0).all()


def test_sources_ship_with_the_package() -> None:
    import tomllib

    root = Path(__file__).parents[3]
    data = tomllib.loads((root / "pyproject.toml").read_text())["tool"]["setuptools"]["package-data"]
    patterns = data["hw_targets.triton.ops.native"]
    shipped = {path.name for pattern in patterns for path in build.FOLDER.glob(pattern)}
    assert {path.name for path in build.FOLDER.iterdir() if path.suffix in (".cpp", ".h")} == shipped
