"""Order parameters: how far phases agree, over all tokens or over those up to each one (causal layers)."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from hw_targets.triton.ops.arguments import valid_tokens
from hw_targets.triton.ops.implementations import choose, implementation
from hw_targets.triton.ops.problem import Implementation
from oscsim.errors import ConfigError

# torch reads the schema from here: annotations are strings at run time.
_SCHEMA = "Tensor theta, Tensor? valid, str impl"

# Below this share of the tokens a sum of unit phasors counts as zero: its direction is rounding.
VANISHING = 2.0**-44


def prefix_order_parameter(
    theta: Tensor,
    *,
    padding: Tensor | None = None,
    lengths: Tensor | None = None,
    impl: Implementation | None = None,
) -> Tensor:
    """Return the order parameter of the tokens up to each one, the r of a causal layer.

    r_i = (1/D) sum_l | (1/n_i) sum_{j <= i} exp(i theta_j^l) |    over the n_i tokens that are not padded
    [SSA] Hays, arXiv 2602.14445 (2026), restricted to the past; docs/spec.md section 2

    r_i does not change by a bit when later tokens change. Its gradient is zero where a sum vanishes.

    Parameters
    ----------
    theta : phases (batch, heads, N, D), rad, unwrapped or not. impl="triton" keeps float32 accuracy for
        phases up to 1e8 rad; "native" and "eager" reduce phases as the C library does.
    padding : (batch, N) bool, True = padded.
    lengths : (batch,) instead of padding: token i takes part when i < length.
    impl : "triton", "native", "eager", or None for the device's own.

    Returns
    -------
    (batch, heads, N), float64 for float64 phases, else float32; 0 before the first token that is not padded.

    Raises
    ------
    ConfigError
        shapes or options that do not fit.

    >>> theta = torch.tensor([0.0, torch.pi, 0.0]).view(1, 1, 3, 1)
    >>> [round(r, 4) for r in prefix_order_parameter(theta, impl="eager").flatten().tolist()]
    [1.0, 0.0, 0.3333]
    """
    valid = _checked(theta, padding, lengths)
    return prefix_order_op(theta, valid, choose(impl, theta.device))


def order_parameter(theta: Tensor, *, padding: Tensor | None = None, lengths: Tensor | None = None) -> Tensor:
    """Return the order parameter of all tokens, the r of a layer with a full mask.

    r = (1/D) sum_l | (1/n) sum_j exp(i theta_j^l) |    [SSA] Hays, arXiv 2602.14445 (2026)

    theta, padding, lengths, dtype and errors as for :func:`prefix_order_parameter`; result (batch, heads).

    >>> order_parameter(torch.zeros(1, 2, 5, 3)).tolist()
    [[1.0, 1.0]]
    """
    valid = _checked(theta, padding, lengths)
    kind = result_dtype(theta)
    count = torch.tensor(theta.shape[2]) if valid is None else valid.sum(dim=-1)[:, None].clamp(min=1)
    if valid is not None:
        theta = torch.where(valid[:, None, :, None], theta, 0.0)
    real, imaginary = (
        (x if valid is None else torch.where(valid[:, None, :, None], x, 0.0)).sum(dim=2, dtype=torch.float64)
        for x in (theta.to(kind).cos(), theta.to(kind).sin())
    )
    squared = real.square() + imaginary.square()
    found = squared > (VANISHING * count[..., None]) ** 2
    size = torch.where(found, torch.where(found, squared, 1.0).sqrt(), 0.0)
    return (size.mean(dim=-1) / count).to(kind)


@torch.library.custom_op("oscsim::prefix_order_parameter", mutates_args=(), schema=f"({_SCHEMA}) -> Tensor")
def prefix_order_op(theta: Tensor, valid: Tensor | None, impl: str) -> Tensor:
    """r of every prefix, (B, H, N)."""
    if theta.numel() == 0:
        return theta.new_zeros(theta.shape[:-1], dtype=result_dtype(theta))
    return implementation("order", impl).forward(_phases(theta), valid)


@torch.library.custom_op(
    "oscsim::prefix_order_parameter_backward",
    mutates_args=(),
    schema=f"(Tensor d_order, {_SCHEMA}) -> Tensor",
)
def prefix_order_backward(d_order: Tensor, theta: Tensor, valid: Tensor | None, impl: str) -> Tensor:
    """Gradient by theta_j: Im(P_j e^{-i theta_j}) with P_j = sum_{i >= j} g_i/(D n_i) Z_i/|Z_i|."""
    if theta.numel() == 0:
        return torch.zeros_like(theta)
    grad = implementation("order", impl).backward(
        _phases(theta), valid, d_order.to(result_dtype(theta)).contiguous()
    )
    return grad.to(theta.dtype)


@prefix_order_op.register_fake
def _(theta: Tensor, valid: Tensor | None, impl: str) -> Tensor:
    return theta.new_empty(theta.shape[:-1], dtype=result_dtype(theta))


@prefix_order_backward.register_fake
def _(d_order: Tensor, theta: Tensor, valid: Tensor | None, impl: str) -> Tensor:
    return theta.new_empty(theta.shape)


def _save(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
    theta, valid, ctx.impl = inputs
    ctx.masked = valid is not None
    ctx.save_for_backward(theta, *([valid] if ctx.masked else []))


def _differentiate(ctx: Any, d_order: Tensor) -> tuple[Tensor, None, None]:
    theta, *valid = ctx.saved_tensors
    return prefix_order_backward(d_order, theta, valid[0] if ctx.masked else None, ctx.impl), None, None


prefix_order_op.register_autograd(_differentiate, setup_context=_save)


@prefix_order_op.register_vmap
def _(info: Any, in_dims: Any, *args: Any) -> Any:
    raise ConfigError(
        "prefix_order_parameter: given a batch of torch.vmap, expected none; the op is batched: pass "
        "(batch, heads, N, D)"
    )


def result_dtype(theta: Tensor) -> torch.dtype:
    """float64 for float64 phases, else float32."""
    return torch.float64 if theta.dtype == torch.float64 else torch.float32


def _checked(theta: Tensor, padding: Tensor | None, lengths: Tensor | None) -> Tensor | None:
    if theta.dim() != 4 or not theta.is_floating_point() or theta.shape[3] == 0:
        raise ConfigError(
            f"theta: given {tuple(theta.shape)} {theta.dtype}, expected (batch, heads, N, D), floating point"
        )
    return valid_tokens(theta.shape[0], theta.shape[2], padding, lengths, theta.device)


def _phases(theta: Tensor) -> Tensor:
    return theta.detach().to(result_dtype(theta)).contiguous()
