"""What a figure depends on besides the code: processor, threads, versions, allocator, pages, date."""

from __future__ import annotations

import os
import platform
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Any

import torch

from hw_targets.triton.bench.options import BenchOptions

_PAGES = Path("/sys/kernel/mm/transparent_hugepage/enabled")
_ALLOCATORS = ("jemalloc", "tcmalloc", "mimalloc")


def facts(options: BenchOptions) -> dict[str, Any]:
    """Everything the reader of a figure has to know, as plain JSON."""
    found: dict[str, Any] = {
        "date": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "cpu": cpu_model(),
        "threads": torch.get_num_threads(),
        "cores": os.cpu_count(),
        "implementation": options.implementation,
        "precision": options.precision,
        "dtype": options.dtype,
        "torch": torch.__version__,
        "triton": _version("triton"),
        "python": platform.python_version(),
        "platform": platform.platform(),
        "allocator": allocator(),
        "huge_pages": huge_pages(),
    }
    if options.implementation == "native":
        from hw_targets.triton.ops import native_ssa

        found["engine"] = options.engine or native_ssa.engines()[-1]
    if options.device == "cuda":
        found |= _gpu()
    return found


def cpu_model() -> str:
    """Name of the processor."""
    table = Path("/proc/cpuinfo")
    names = (
        [line for line in table.read_text().splitlines() if line.startswith("model name")]
        if table.exists()
        else []
    )
    return names[0].split(":", 1)[1].strip() if names else platform.processor() or platform.machine()


def allocator() -> str:
    """Who hands out the memory: large dense intermediates cost page faults with one and not with another."""
    loaded = Path("/proc/self/maps")
    mapped = loaded.read_text() if loaded.exists() else ""
    name = next((name for name in _ALLOCATORS if name in mapped), platform.libc_ver()[0] or "system malloc")
    settings = [
        f"{key}={value}"
        for key, value in sorted(os.environ.items())
        if key.startswith("MALLOC_")
        or key in ("GLIBC_TUNABLES", "THP_MEM_ALLOC_ENABLE", "PYTORCH_CUDA_ALLOC_CONF")
    ]
    return f"{name}, {', '.join(settings) or 'default settings'}"


def huge_pages() -> str:
    """Which mode of transparent huge pages is set.

    >>> huge_pages() in ("always", "madvise", "never", "unknown")
    True
    """
    text = _PAGES.read_text() if _PAGES.exists() else "[unknown]"
    return text[text.index("[") + 1 : text.index("]")]


def _gpu() -> dict[str, Any]:
    properties = torch.cuda.get_device_properties(0)
    return {
        "gpu": properties.name,
        "gpu_memory_gib": round(properties.total_memory / 2**30, 1),
        "capability": f"sm_{properties.major}{properties.minor}",
        "cuda": torch.version.cuda,
        "driver": driver_version(),
        "tf32": torch.backends.cuda.matmul.allow_tf32,
    }


def driver_version() -> str:
    """Version of the NVIDIA kernel driver."""
    file = Path("/proc/driver/nvidia/version")
    if file.exists():
        return file.read_text().splitlines()[0].removeprefix("NVRM version:").strip()
    try:
        import pynvml  # pyright: ignore[reportMissingImports]  # ships with some CUDA builds

        pynvml.nvmlInit()
        return str(pynvml.nvmlSystemGetDriverVersion())
    except ModuleNotFoundError:
        return "unknown (no /proc/driver/nvidia, no pynvml)"


def _version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None
