"""Selective synchronization attention in Triton, O(N) memory; CPU tensors run in the interpreter.

Every row takes one of three ways to S (kernels/ssa_*.py), by what it needs to be right: the polynomial or
the exponential form on top of one matrix product, or differences channel by channel. All three are always
launched, so nothing waits for the device.
"""

from __future__ import annotations

import torch
from torch import Tensor

from hw_targets.triton.ops.fused_launch import (
    LEVEL_BLOCK,
    backward_launches,
    forward_launches,
    matrix_launches,
    slope_launch,
)
from hw_targets.triton.ops.fused_operands import packed, prepare
from hw_targets.triton.ops.fused_run import empty, run
from hw_targets.triton.ops.problem import SSAForward, SSAGradients, SSAProblem


def forward(problem: SSAProblem) -> SSAForward:
    """``y_i = sum_j keep_ij S_ij V_j / sum_j S_ij`` and the row sums."""
    batch, heads, n, _ = problem.omega.shape
    first = problem.first_row
    given = prepare(problem, backward=False)
    place = problem.omega.device
    output = empty((batch, heads, n - first, problem.values.shape[-1]), problem.values.dtype, place)
    total = empty((batch, heads, n - first), torch.float32, place)
    if problem.valid is not None:  # no kernel writes the rows of padded tokens
        output.zero_()
        total.zero_()
    arguments = {**given.tensors, **given.numbers, "output": output, "total": total, "first_row": first}
    for launch in forward_launches(given.variant):
        tiles = -(-n // launch.rows) - first // launch.rows
        run(launch, (tiles, batch * heads), arguments)
    return SSAForward(output, total)


def backward(problem: SSAProblem, output: Tensor, total: Tensor, d_output: Tensor) -> SSAGradients:
    """Gradients; one writer per number, so they repeat bit for bit."""
    batch, heads, n, _ = problem.omega.shape
    given = prepare(problem, backward=True)
    padded = int(given.numbers["padded"])
    place = problem.omega.device
    arguments = {**given.tensors, **given.numbers, "eps": problem.eps}
    for name in ("weight", "shift"):
        arguments[name] = empty((batch * heads, padded), torch.float32, place)
    row_wise = {"output": output, "d_output": d_output, "total": total}
    grid = (padded // LEVEL_BLOCK, batch * heads)
    run(slope_launch(given.variant), grid, {**arguments, **row_wise})
    arguments["gradient"] = packed(given.variant, d_output, given.tensors["valid"], padded)
    arguments["careful_in_head"] = given.tensors["careful"].sum(dim=-1, dtype=torch.int32)
    written = {
        "d_omega": empty(tuple(problem.omega.shape), torch.float32, place),
        "d_values": empty(tuple(problem.values.shape), problem.values.dtype, place),
        "by_radius": empty((batch, heads, n), torch.float32, place),
        "by_selectivity": empty((batch, heads, n), torch.float32, place),
    }
    for launch in backward_launches(given.variant):
        run(launch, (-(-n // launch.rows), batch * heads), {**arguments, **written})
    return SSAGradients(written["d_omega"].to(problem.omega.dtype), *list(written.values())[1:])


def synchronization(problem: SSAProblem) -> Tensor:
    """The matrix S, (B, H, N, N) float32, 0 where masked; for read-outs, memory grows with N^2."""
    batch, heads, n, _ = problem.omega.shape
    given = prepare(problem, backward=False)
    matrix = empty((batch, heads, n, n), torch.float32, problem.omega.device)
    if problem.valid is not None:
        matrix.zero_()
    arguments = {**given.tensors, **given.numbers, "matrix": matrix}
    for launch in matrix_launches(given.variant):
        columns = -(-n // launch.constants["BLOCK_N"])
        run(launch, (-(-n // launch.rows), columns, batch * heads), arguments)
    return matrix
