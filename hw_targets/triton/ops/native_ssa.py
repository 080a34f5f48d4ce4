"""Selective synchronization attention on the CPU: tiles in C++ (native/), memory O(N), deterministic.

The same code is compiled for several instruction sets ("engines"); the best one of the machine is used
unless :func:`using` says otherwise. Every engine keeps float32-class accuracy in all three precision modes:
"fast" is the same as "accurate" here; "fp32" forms every frequency difference directly and multiplies in
IEEE float32, so "amx", whose products are made of bfloat16 parts, hands it to "avx512". 16-bit values are
converted to float32 and results back, so nothing but the output is rounded to 16 bits.

Gradients by log c and w, with one strength per head: only their sum over the rows is defined, because a pair
is then computed once for both of its ends.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache

import torch
from torch import Tensor

from hw_targets.triton.ops.native.build import library
from hw_targets.triton.ops.native_call import Call, call
from hw_targets.triton.ops.problem import SSAForward, SSAGradients, SSAProblem
from hw_targets.triton.ops.tile_shape import tile_shape
from oscsim.errors import ConfigError

LARGEST_WIDTH = 128

_chosen: ContextVar[str | None] = ContextVar("engine", default=None)


@cache
def engines() -> tuple[str, ...]:
    """Engines that this machine can run, best last: of "portable" (BLAS), "avx2", "avx512", "amx"."""
    lib = library()
    lib.oscsim_engine_name.restype = ctypes.c_char_p
    return tuple(name for name in _names(lib) if lib.oscsim_engine_available(_names(lib).index(name)))


@contextmanager
def using(engine: str) -> Iterator[None]:
    """Compute with this engine inside the block.

    Raises
    ------
    ConfigError
        an engine that this machine does not have.
    """
    if engine not in engines():
        raise ConfigError(
            f"engine: given {engine!r}, expected one of {', '.join(engines())}, which this machine has"
        )
    token = _chosen.set(engine)
    try:
        yield
    finally:
        _chosen.reset(token)


def forward(problem: SSAProblem) -> SSAForward:
    """``y_i = sum_j keep_ij S_ij V_j / sum_j S_ij`` and the row sums."""
    _check(problem)
    batch, heads, n, width = problem.values.shape
    rows = n - problem.first_row
    output = torch.empty(batch, heads, rows, width)
    total = torch.empty(batch, heads, rows)
    if total.numel() > 0:
        _run("oscsim_ssa_forward", call(problem, output=output, total=total))
    return SSAForward(output.to(problem.values.dtype), total)


def backward(problem: SSAProblem, output: Tensor, total: Tensor, d_output: Tensor) -> SSAGradients:
    """Gradients by frequencies, values, log c and w; scores are computed again, tile by tile."""
    _check(problem)
    batch, heads, n, channels = problem.omega.shape
    given = {
        "output": output.float().contiguous(),
        "total": total.float().contiguous(),
        "d_output": d_output.float().contiguous(),
    }
    made = {
        "d_omega": torch.empty(batch, heads, n, channels),
        "d_values": torch.empty(batch, heads, n, problem.values.shape[-1]),
        "d_log_scale": torch.empty(batch, heads, n),
        "d_selectivity": torch.empty(batch, heads, n),
    }
    if total.numel() > 0:
        _run("oscsim_ssa_backward", call(problem, **given, **made))
    return SSAGradients(
        made["d_omega"].to(problem.omega.dtype),
        made["d_values"].to(problem.values.dtype),
        made["d_log_scale"],
        made["d_selectivity"],
    )


def _run(function: str, arguments: Call) -> None:
    lib = library()
    number = _names(lib).index(_chosen.get() or engines()[-1])
    if getattr(lib, function)(number, ctypes.byref(arguments.structure)) != 0:
        raise MemoryError("the CPU kernels of selective synchronization attention are short of memory")


def _names(lib: ctypes.CDLL) -> list[str]:
    lib.oscsim_engine_name.restype = ctypes.c_char_p
    names = []
    while (name := lib.oscsim_engine_name(len(names))) is not None:
        names.append(name.decode())
    return names


def _check(problem: SSAProblem) -> None:
    """What the public op has checked already, for callers of this module."""
    channels, width = problem.omega.shape[-1], problem.values.shape[-1]
    if max(channels, width) > LARGEST_WIDTH:
        raise ConfigError(
            f"given D = {channels} and D_v = {width}, impl='native' expects at most {LARGEST_WIDTH}; "
            "split into more heads or use impl='eager'"
        )
    if problem.top_k is not None:
        raise ConfigError(f"top_k: given {problem.top_k}, impl='native' expects None; use impl='eager'")
    expected = tile_shape("native", channels, width, problem.precision)
    if problem.tiles is not None and (problem.tiles.rows, problem.tiles.columns) != expected:
        given = (problem.tiles.rows, problem.tiles.columns)
        raise ConfigError(f"tiles: given {given}, expected {expected}; build the map with impl='native'")
