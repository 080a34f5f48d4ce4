"""``oscsim doctor``: what is installed here, what is missing, and the command that fixes it."""

import platform
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from importlib import import_module, metadata, util
from pathlib import Path
from typing import Any

from oscsim.errors import OscsimError, TargetUnavailable
from oscsim.target import AbstractTarget

DISTRIBUTION = "oscsim-codesign"
PACKAGES = (
    DISTRIBUTION, "numpy", "scipy", "pydantic", "safetensors", "typer", "rich", "jinja2", "matplotlib",
    "torch", "triton", "brian2", "lava-nc",
)  # fmt: skip


@dataclass(frozen=True)
class Finding:
    """One line of the report; ``fix`` says what to do when ``ok`` is False."""

    subject: str
    ok: bool
    detail: str
    fix: str = ""


def package_versions(names: Iterable[str] = PACKAGES) -> dict[str, str | None]:
    """Installed version of each distribution, None where it is missing; imports nothing.

    >>> package_versions(["no-such-distribution"])
    {'no-such-distribution': None}
    """
    return {name: _version(name) for name in names}


def _version(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def machine() -> dict[str, str]:
    """Python and platform of this run."""
    return {
        "python": platform.python_version(),
        "platform": platform.platform(),
        "executable": sys.executable,
    }


def target_findings(targets: Iterable[AbstractTarget[Any]]) -> list[Finding]:
    """Availability of each target and the command that installs it."""
    states = [(target.name, target.availability()) for target in targets]
    return [
        Finding(name, state.available, state.version if state.available else state.reason, state.command)
        for name, state in states
    ]


def models_finding() -> Finding:
    """Whether ``import models`` finds the package that came with this oscsim, or another one before it."""
    ours = Path(__file__).resolve().parents[1] / "models" / "__init__.py"
    found = util.find_spec("models")
    where = (
        "nowhere"
        if found is None
        else str(found.origin or next(iter(found.submodule_search_locations or ())))
    )
    if found is not None and found.origin is not None and Path(found.origin).resolve() == ours:
        return Finding("package models", True, str(ours.parent))
    fix = "leave the folder that holds it, or take it off PYTHONPATH; then run oscsim doctor again"
    return Finding(
        "package models", False, f"found {where}, expected {ours}: another 'models' shadows it", fix
    )


def cuda_finding() -> Finding:
    """Whether torch sees a CUDA device; without one the triton target runs in Triton's interpreter."""
    if util.find_spec("torch") is None:
        return Finding("cuda", True, "not checked: torch is not installed")
    # by name: nothing in this package depends on torch, this line only asks it a question
    torch = import_module("torch")
    if not torch.cuda.is_available():
        return Finding("cuda", True, "no CUDA device: kernels run on the CPU, in Triton's interpreter")
    return Finding("cuda", True, f"{torch.cuda.get_device_name(0)}, CUDA {torch.version.cuda}")


def cpu_kernels_finding(check: Callable[[], str]) -> Finding:
    """Whether the C++ kernels of the attention ops are compiled or can be; ``check`` says which."""
    if util.find_spec("torch") is None:
        return Finding("CPU kernels", True, "not checked: torch is not installed")
    try:
        return Finding("CPU kernels", True, check())
    except TargetUnavailable as error:
        return Finding("CPU kernels", False, str(error), error.command)
    except OSError as error:
        fix = "set TORCH_EXTENSIONS_DIR to a folder that can be read and written"
        return Finding("CPU kernels", False, f"the cache folder: {error}", fix)


def checkpoint_finding(load: Callable[[], str]) -> Finding:
    """Whether the shipped checkpoint loads; ``load`` returns what to say about it."""
    try:
        return Finding("shipped checkpoint", True, load())
    except (OscsimError, OSError, ImportError) as error:
        fix = "install this project again: the file is part of it"
        return Finding("shipped checkpoint", False, str(error), fix)


def to_json(targets: Iterable[Finding], others: Iterable[Finding]) -> dict[str, Any]:
    """What ``doctor --json`` writes."""
    return {
        "machine": machine(),
        "packages": package_versions(),
        "targets": {finding.subject: _entry(finding) for finding in targets},
        "checks": {finding.subject: _entry(finding) for finding in others},
    }


def _entry(finding: Finding) -> dict[str, Any]:
    return {"ok": finding.ok, "detail": finding.detail, "fix": finding.fix or None}
