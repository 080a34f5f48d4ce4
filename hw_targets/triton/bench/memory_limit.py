"""How much memory a contender may ask for."""

from __future__ import annotations

import torch


def available(device: str) -> int:
    """Free memory in bytes: of the GPU, or what Linux says can be had without swapping."""
    if device == "cuda":
        return torch.cuda.mem_get_info()[0]
    with open("/proc/meminfo", encoding="ascii") as table:
        entries = dict(line.split(":", 1) for line in table)
    return int(entries["MemAvailable"].split()[0]) * 1024
