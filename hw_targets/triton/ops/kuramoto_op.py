"""Registration of Kuramoto attention with torch: autograd, fake tensors, torch.compile.

One op forwards and one backwards; each holds a whole call, so a compiled graph sees no detail.
The public function is in kuramoto.py.
"""

from __future__ import annotations

from typing import Any, cast

import torch
from torch import Tensor

from hw_targets.triton.ops.implementations import implementation
from hw_targets.triton.ops.kuramoto_problem import KuramotoForward, KuramotoProblem, compute_dtype
from hw_targets.triton.ops.problem import Precision
from oscsim.errors import ConfigError

_SCHEMA = (
    "Tensor theta, Tensor gate_q, Tensor gate_k, Tensor drift, Tensor tau, Tensor? valid, "
    "bool causal, str precision, str impl"
)


@torch.library.custom_op(
    "oscsim::kuramoto_attention", mutates_args=(), schema=f"({_SCHEMA}) -> (Tensor, Tensor, Tensor)"
)
def kuramoto_attention_op(*given: Any) -> tuple[Tensor, Tensor, Tensor]:
    """Tangent increment and radial part (B, H, N, k), log-sum-exp (B, H, N)."""
    # an op has its own precision: autocast outside must not lower the products inside
    with torch.autocast(given[0].device.type, enabled=False):
        return tuple(implementation("kuramoto", given[-1]).forward(_problem(*given)))


@torch.library.custom_op(
    "oscsim::kuramoto_attention_backward",
    mutates_args=(),
    schema=f"(Tensor d_increment, Tensor increment, Tensor radial, Tensor logsumexp, {_SCHEMA})"
    " -> (Tensor, Tensor, Tensor, Tensor, Tensor)",
)
def kuramoto_attention_backward(
    d_increment: Tensor, increment: Tensor, radial: Tensor, logsumexp: Tensor, *given: Any
) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:
    """Gradients by theta, gate_q, gate_k, drift and tau."""
    saved = KuramotoForward(increment, radial, logsumexp)
    with torch.autocast(radial.device.type, enabled=False):
        return tuple(
            implementation("kuramoto", given[-1]).backward(_problem(*given), saved, d_increment.contiguous())
        )


@kuramoto_attention_op.register_fake
def _(theta: Tensor, *rest: Any) -> tuple[Tensor, Tensor, Tensor]:
    kind = compute_dtype(theta)
    return (
        theta.new_empty(theta.shape),
        theta.new_empty(theta.shape, dtype=kind),
        theta.new_empty(theta.shape[:-1], dtype=kind),
    )


@kuramoto_attention_backward.register_fake
def _(
    d_increment: Tensor, increment: Tensor, radial: Tensor, logsumexp: Tensor, *given: Any
) -> tuple[Tensor, ...]:
    return tuple(x.new_empty(x.shape) for x in given[:5])


def _save(ctx: Any, inputs: tuple[Any, ...], output: tuple[Tensor, Tensor, Tensor]) -> None:
    ctx.mark_non_differentiable(*output[1:])
    ctx.plain = inputs[6:]
    ctx.save_for_backward(*output, *(x for x in inputs[:6] if x is not None))


def _differentiate(ctx: Any, d_increment: Tensor, *others: Any) -> tuple[Tensor | None, ...]:
    increment, radial, logsumexp, *learned = ctx.saved_tensors
    valid = learned.pop() if len(learned) == 6 else None
    grads = kuramoto_attention_backward(
        d_increment, increment, radial, logsumexp, *learned, valid, *ctx.plain
    )
    return *grads, None, None, None, None


kuramoto_attention_op.register_autograd(_differentiate, setup_context=_save)


@kuramoto_attention_op.register_vmap
def _(info: Any, in_dims: Any, *args: Any) -> Any:
    raise ConfigError(
        "kuramoto_attention: given a torch.vmap batch, expected none; it is batched: "
        "pass (batch, heads, N, k)"
    )


def _problem(
    theta: Tensor,
    gate_q: Tensor,
    gate_k: Tensor,
    drift: Tensor,
    tau: Tensor,
    valid: Tensor | None,
    causal: bool,
    precision: str,
    impl: str,
) -> KuramotoProblem:
    theta, gate_q, gate_k = (x.detach().contiguous() for x in (theta, gate_q, gate_k))
    return KuramotoProblem(
        theta, gate_q, gate_k, drift.detach(), tau.detach(), valid, causal, cast(Precision, precision)
    )
