"""Launches one kernel: compiled for tensors on a GPU, interpreted for those on a CPU."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor

from hw_targets.triton.ops.fused_launch import Launch
from hw_targets.triton.run import load_kernels
from oscsim.errors import ConfigError

# Batch and head together are the last axis of every grid, and CUDA holds no more there.
LARGEST_GRID = 65535


def empty(shape: tuple[int, ...], dtype: torch.dtype, device: torch.device) -> Tensor:
    """Memory that a kernel fills."""
    return torch.empty(shape, dtype=dtype, device=device)


def run(launch: Launch, grid: tuple[int, ...], arguments: dict[str, Any], **constants: Any) -> None:
    """Launch with what the kernel takes of ``arguments``, by name.

    Raises
    ------
    ConfigError
        more batches times heads than a grid holds.
    """
    if grid[-1] > LARGEST_GRID:
        raise ConfigError(
            f"given {grid[-1]} batches times heads, impl='triton' expects at most {LARGEST_GRID}; "
            "split the batch"
        )
    place = next(x.device for x in arguments.values() if isinstance(x, Tensor))
    kernel = getattr(load_kernels(interpret=place.type == "cpu"), launch.kernel)
    fixed = {**launch.constants, **constants}
    given = {name: arguments[name] for name in kernel.arg_names if name not in fixed}
    # beyond the edge exponents underflow; padded tokens may hold anything
    with np.errstate(all="ignore"), torch.cuda.device_of(next(x for x in given.values() if _tensor(x))):
        kernel[grid](**given, **fixed, num_warps=launch.warps, num_stages=launch.stages)


def _tensor(x: Any) -> bool:
    return isinstance(x, Tensor)
