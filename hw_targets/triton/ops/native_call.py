"""The arguments of a call of the CPU kernels, as the C structure of native/problem.h."""

from __future__ import annotations

import ctypes
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn.functional import pad

from hw_targets.triton.ops.dropout import WORD, threshold
from hw_targets.triton.ops.native_law import law
from hw_targets.triton.ops.problem import SSAProblem
from hw_targets.triton.ops.tile_shape import tile_shape

_EDGES = {"exact": 0, "smooth": 1, "clamp": 2}
_POINTERS = (
    *(
        "high",
        "low",
        "values",
        "scale",
        "selectivity",
        "polynomial",
        "law",
        "valid",
        "row_start",
        "row_columns",
    ),
    *("output", "total", "d_output", "d_omega", "d_values", "d_log_scale", "d_selectivity"),
)


class Structure(ctypes.Structure):
    """Mirror of oscsim::Problem; same fields, same order."""

    _fields_ = (
        *((name, ctypes.c_int64) for name in ("batch_heads", "heads", "tokens", "channels", "width")),
        *((name, ctypes.c_int64) for name in ("tile", "first_row", "threads")),
        *((name, ctypes.c_int32) for name in ("per_row", "causal", "direct", "edge")),
        ("eps", ctypes.c_float),
        ("dropout", ctypes.c_int32),
        ("threshold", ctypes.c_uint32),
        ("seed", ctypes.c_uint32),
        ("keep_factor", ctypes.c_float),
        *((name, ctypes.c_void_p) for name in _POINTERS),
    )


class Call(NamedTuple):
    """The structure, and the tensors that keep its memory alive."""

    structure: Structure
    tensors: dict[str, Tensor]


def call(problem: SSAProblem, **more: Tensor) -> Call:
    """Everything as float32 on plain pointers; ``more`` are outputs, and inputs of the backward pass."""
    batch, heads, n, channels = problem.omega.shape
    width = problem.values.shape[-1]
    tensors = {
        **_rows(problem),
        **_frequencies(problem),
        "values": problem.values.float().contiguous(),
        **more,
    }
    if problem.valid is not None:
        tensors["valid"] = problem.valid.to(torch.uint8).contiguous()
    if problem.tiles is not None:
        tensors["row_start"] = problem.tiles.row_start.contiguous()
        tensors["row_columns"] = problem.tiles.row_columns.contiguous()
    structure = Structure(
        batch_heads=batch * heads,
        heads=heads,
        tokens=n,
        channels=channels,
        width=width,
        tile=tile_shape("native", channels, width, problem.precision)[0],
        first_row=problem.first_row,
        threads=torch.get_num_threads(),
        per_row=problem.selectivity.shape[-1] > 1,
        causal=problem.causal,
        direct=problem.precision == "fp32",
        edge=_EDGES[problem.edge],
        eps=problem.eps,
        dropout=problem.dropout > 0,
        threshold=threshold(problem.dropout),
        seed=0 if problem.seed is None else int(problem.seed) & WORD,
        keep_factor=1.0 / (1.0 - problem.dropout),
        **{name: tensor.data_ptr() for name, tensor in tensors.items()},
    )
    return Call(structure, tensors)


def _rows(problem: SSAProblem) -> dict[str, Tensor]:
    # decoding: nobody reads how rows before the first would be computed
    first = problem.first_row if problem.selectivity.shape[-1] > 1 else 0
    kind, polynomial = law(problem.selectivity[..., first:], problem.coupled[..., first:])
    if first > 0:
        kind, polynomial = pad(kind, (first, 0)), pad(polynomial, (0, 0, first, 0))
    return {
        "scale": problem.inverse_square.float().contiguous(),
        "selectivity": problem.selectivity.float().contiguous(),
        "law": kind.contiguous(),
        "polynomial": polynomial.contiguous(),
    }


def _frequencies(problem: SSAProblem) -> dict[str, Tensor]:
    """Float32 as they are; float64 in two parts, which keep 48 bits of each."""
    omega = problem.omega
    if omega.dtype != torch.float64:
        return {"high": omega.contiguous()}
    high = omega.float()
    return {"high": high, "low": (omega - high.double()).float()}
