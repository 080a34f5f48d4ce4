"""What the Triton kernels of selective synchronization attention read: operands, levels, table, values."""

from __future__ import annotations

import math
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn.functional import pad

from hw_targets.triton.ops.dropout import STEP_HEAD, WORD, mix, threshold
from hw_targets.triton.ops.fused_launch import LEVEL_BLOCK, TOKENS, Variant, operand_launch, pack_launch
from hw_targets.triton.ops.fused_run import empty, run
from hw_targets.triton.ops.fused_table import FAR, FIRST_TILE, SMALLEST_RATIO, UNIT, row_table
from hw_targets.triton.ops.problem import SSAProblem


class Prepared(NamedTuple):
    """Tensors and numbers by kernel argument name, and what decides the compiled code."""

    variant: Variant
    tensors: dict[str, Tensor]
    numbers: dict[str, float]


def prepare(problem: SSAProblem, *, backward: bool) -> Prepared:
    """Operands of one call. Backwards the centre of a causal layer may be the mean of all tokens."""
    batch, heads, n, _ = problem.omega.shape
    variant = variant_of(problem)
    padded = -(-n // TOKENS) * TOKENS
    table, scale = row_table(problem, padded)
    tensors = _operands(problem, variant, batch * heads, padded, backward)
    leading = problem.causal and not backward
    given = {
        "omega": problem.omega,
        "centre": pad(_centre(problem, leading).flatten(0, 1), (0, variant.width - variant.channels)),
        "valid": _valid(problem, tensors["level"]),
        "table": table,
        "scale": scale,
    }
    spread = math.sqrt(1.0 / SMALLEST_RATIO) if variant.per_row else 1.0
    numbers: dict[str, float] = {"n": n, "padded": padded}
    own = {"first_plain": FIRST_TILE if leading else 0, "far": 2.0 * UNIT * (FAR * spread) ** 2}
    grid = (padded // LEVEL_BLOCK, batch * heads)
    run(operand_launch(variant, backward), grid, {**given, **tensors, **numbers, **own})
    tensors |= {name: given[name] for name in ("omega", "table", "scale")}
    tensors |= {"valid": given["valid"], "words": _words(problem), **_tiles(problem, tensors["level"])}
    tensors["values"] = packed(variant, problem.values, tensors["valid"], padded)
    numbers["keep_scale"] = 1.0 / (1.0 - problem.dropout)
    return Prepared(variant, tensors, numbers)


def variant_of(problem: SSAProblem) -> Variant:
    """The compile-time side of a problem."""
    return Variant(
        channels=problem.omega.shape[-1],
        value_width=problem.values.shape[-1],
        values=str(problem.values.dtype).removeprefix("torch."),
        precision=problem.precision,
        causal=problem.causal,
        edge="exact" if problem.eps == 0 else problem.edge,
        per_row=problem.inverse_square.shape[-1] > 1,
        sparse=problem.tiles is not None,
        dropout=problem.dropout > 0,
        padding=problem.valid is not None,
        architecture=_architecture(problem.omega.device),
    )


def packed(variant: Variant, rows: Tensor, valid: Tensor, padded: int) -> Tensor:
    """Values or gradients as an operand, (parts, B H, padded, lanes); as they are when that fits."""
    batch, heads, n, width = rows.shape
    kind = getattr(torch, variant.value_kind)
    if rows.dtype == kind and n == padded and width == variant.value_lanes and not variant.padding:
        return rows.contiguous()
    operand = empty((variant.value_parts, batch * heads, padded, variant.value_lanes), kind, rows.device)
    arguments = {"rows_of": rows.contiguous(), "valid": valid, "packed": operand, "n": n, "padded": padded}
    run(pack_launch(variant), (padded // LEVEL_BLOCK, batch * heads), arguments)
    return operand


def _operands(
    problem: SSAProblem, variant: Variant, batch_heads: int, padded: int, backward: bool
) -> dict[str, Tensor]:
    place = problem.omega.device
    kind, moved = getattr(torch, variant.frequency_kind), getattr(torch, variant.moved_kind)
    shape = (batch_heads, padded, variant.width)
    tensors = {"column": empty((variant.parts, *shape), kind, place)}
    tensors["row"] = empty((variant.parts, *shape), kind, place) if variant.per_row else tensors["column"]
    tensors["moved"] = empty((variant.moved_parts if backward else 0, *shape), moved, place)
    tensors |= {name: empty(shape[:2], torch.float32, place) for name in ("row_bias", "column_norm")}
    tensors["level"] = empty(shape[:2], torch.int32, place)
    tensors["careful"] = empty((batch_heads, padded // LEVEL_BLOCK), torch.int32, place)
    return tensors


def _centre(problem: SSAProblem, leading: bool) -> Tensor:
    """(B, H, D): mean of the tokens, or the median of the first tile, which later tokens cannot move."""
    omega = problem.omega
    if leading:
        omega = omega[:, :, :FIRST_TILE]
    if problem.valid is None:
        return omega.median(dim=2).values if leading else omega.mean(dim=2)
    valid = problem.valid[:, None, : omega.shape[2], None]
    if leading:
        return torch.where(valid, omega, math.nan).nanmedian(dim=2).values.nan_to_num()
    return torch.where(valid, omega, 0.0).sum(dim=2) / valid.sum(dim=2).clamp(min=1)


def _valid(problem: SSAProblem, unused: Tensor) -> Tensor:
    """(B H, N) int8, or any tensor where there is no padding."""
    if problem.valid is None:
        return unused
    heads = problem.omega.shape[1]
    return problem.valid.to(torch.int8).repeat_interleave(heads, dim=0).contiguous()


def _words(problem: SSAProblem) -> Tensor:
    """(B H, 2) int64: first word of every head's dropout mask (dropout.py), and the smallest word kept."""
    batch, heads = problem.omega.shape[:2]
    head = torch.arange(batch * heads, device=problem.omega.device)
    if problem.seed is not None:
        head = mix((problem.seed.to(head.device) + head * STEP_HEAD) & WORD)
    return torch.stack([head, torch.full_like(head, threshold(problem.dropout))], dim=-1)


def _tiles(problem: SSAProblem, unused: Tensor) -> dict[str, Tensor]:
    names = ("row_start", "row_columns", "column_start", "column_rows")
    return {name: unused if problem.tiles is None else getattr(problem.tiles, name) for name in names}


def _architecture(device: torch.device) -> str:
    if device.type != "cuda":
        return "interpreter"
    if torch.version.hip:
        return torch.cuda.get_device_properties(device).gcnArchName.split(":")[0]
    major, minor = torch.cuda.get_device_capability(device)
    return f"sm_{major}{minor}"
