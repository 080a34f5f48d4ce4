"""Registration of selective synchronization attention with torch: autograd, fake tensors, torch.compile.

One op forwards and one backwards; each holds a whole call, so a compiled graph sees no detail and never
breaks. The public function is in ssa.py.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from hw_targets.triton.ops.implementations import implementation
from hw_targets.triton.ops.normal_form import NormalForm, check_finite, normal_form, pull_back
from hw_targets.triton.ops.problem import SSAProblem
from hw_targets.triton.ops.tile_map import from_tensors
from oscsim.errors import ConfigError

_SCHEMA = (
    "Tensor omega, Tensor values, Tensor alpha, Tensor gain, Tensor order_parameter, Tensor? valid, "
    "Tensor[] tiles, Tensor? seed, bool causal, str precision, str edge, float eps, float dropout, "
    "int first_row, int top_k, str impl"
)


@torch.library.custom_op("oscsim::ssa_attention", mutates_args=(), schema=f"({_SCHEMA}) -> (Tensor, Tensor)")
def ssa_attention_op(omega: Tensor, values: Tensor, *rest: Any) -> tuple[Tensor, Tensor]:
    """Output (B, H, rows, D_v) and row sums (B, H, rows)."""
    problem = _problem(omega, values, *rest)
    # an op has its own precision: autocast outside must not lower the products inside
    with torch.autocast(omega.device.type, enabled=False):
        result = implementation("ssa", rest[-1]).forward(problem)
    return result.output, result.total


@torch.library.custom_op(
    "oscsim::ssa_attention_backward",
    mutates_args=(),
    schema=f"(Tensor d_output, Tensor output, Tensor total, {_SCHEMA})"
    " -> (Tensor, Tensor, Tensor, Tensor, Tensor)",
)
def ssa_attention_backward(
    d_output: Tensor, output: Tensor, total: Tensor, omega: Tensor, values: Tensor, *rest: Any
) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:
    """Gradients by omega, values, alpha, gain, order parameter."""
    alpha, gain, order_parameter = rest[:3]
    problem = _problem(omega, values, *rest)
    module = implementation("ssa", rest[-1])
    with torch.autocast(omega.device.type, enabled=False):
        grads = module.backward(problem, output, total, d_output.contiguous())
    rows = order_parameter.shape[-1] > 1 or problem.omega.shape[-2] == 1
    by_radius, by_selectivity = (
        x if rows else x.double().sum(dim=-1, keepdim=True)
        for x in (grads.log_inverse_square, grads.selectivity)
    )
    form = NormalForm(problem.inverse_square, problem.selectivity, problem.coupled)
    normal = pull_back(by_radius, by_selectivity, form, alpha, gain, order_parameter)
    return grads.omega.to(omega.dtype), grads.values.to(values.dtype), *normal


@ssa_attention_op.register_fake
def _(omega: Tensor, values: Tensor, *rest: Any) -> tuple[Tensor, Tensor]:
    batch, heads, n, width = values.shape
    rows = n - rest[-3]
    double = rest[-1] == "eager" and torch.float64 in (omega.dtype, values.dtype)
    total = values.new_empty((batch, heads, rows), dtype=torch.float64 if double else torch.float32)
    return values.new_empty((batch, heads, rows, width)), total


@ssa_attention_backward.register_fake
def _(
    d_output: Tensor, output: Tensor, total: Tensor, omega: Tensor, values: Tensor, *rest: Any
) -> tuple[Tensor, ...]:
    return tuple(x.new_empty(x.shape) for x in (omega, values, *rest[:3]))


def _save(ctx: Any, inputs: tuple[Any, ...], output: tuple[Tensor, Tensor]) -> None:
    *tensors, valid, tiles, seed = inputs[:8]
    ctx.plain = inputs[8:]
    ctx.given = (valid is not None, len(tiles), seed is not None)
    optional = [x for x in (valid, *tiles, seed) if x is not None]
    ctx.save_for_backward(*output, *tensors, *optional)


def _differentiate(ctx: Any, d_output: Tensor, d_total: Tensor) -> tuple[Any, ...]:
    output, total, *tensors = ctx.saved_tensors
    learned, optional = tensors[:5], iter(tensors[5:])
    valid = next(optional) if ctx.given[0] else None
    tiles = [next(optional) for _ in range(ctx.given[1])]
    seed = next(optional) if ctx.given[2] else None
    grads = ssa_attention_backward(d_output, output, total, *learned, valid, tiles, seed, *ctx.plain)
    return *grads, None, [None] * len(tiles), None, *(None,) * len(ctx.plain)


ssa_attention_op.register_autograd(_differentiate, setup_context=_save)


@ssa_attention_op.register_vmap
def _(info: Any, in_dims: Any, *args: Any) -> Any:
    raise ConfigError(
        "ssa_attention: given a torch.vmap batch, expected none; it is batched: pass (batch, heads, N, ...)"
    )


def _problem(
    omega: Tensor, values: Tensor, alpha: Tensor, gain: Tensor, order: Tensor, *rest: Any
) -> SSAProblem:
    valid, tiles, seed, causal, precision, edge, eps, dropout, first_row, top_k, _ = rest
    return ssa_problem(
        omega,
        values,
        alpha,
        gain,
        order,
        valid=valid,
        causal=causal,
        precision=precision,
        edge=edge,
        eps=eps,
        dropout=dropout,
        seed=seed,
        tiles=from_tensors(tiles) if tiles else None,
        first_row=first_row,
        top_k=top_k or None,
    )


def ssa_problem(
    omega: Tensor, values: Tensor, alpha: Tensor, gain: Tensor, order_parameter: Tensor, **options: Any
) -> SSAProblem:
    """The normal form of one call; alpha and gain (H,), order_parameter (B, H, 1 or N)."""
    check_finite(alpha=alpha, gain=gain, order_parameter=order_parameter)
    form = normal_form(alpha, gain, order_parameter)
    kind = omega.dtype if omega.dtype == torch.float64 else torch.float32
    frequencies = omega.detach().to(kind).contiguous()
    return SSAProblem(frequencies, values.detach().contiguous(), *form, **options)
