"""Kuramoto attention as one differentiable op."""

from __future__ import annotations

import torch
from torch import Tensor

from hw_targets.triton.ops.arguments import valid_tokens
from hw_targets.triton.ops.implementations import choose
from hw_targets.triton.ops.kuramoto_op import kuramoto_attention_op
from hw_targets.triton.ops.problem import Implementation, Precision
from oscsim.errors import ConfigError

SMALLEST_WIDTH, LARGEST_WIDTH = 8, 128


def kuramoto_attention(
    theta: Tensor,
    gate_q: Tensor,
    gate_k: Tensor,
    drift: Tensor,
    *,
    tau: Tensor | float,
    causal: bool = True,
    padding: Tensor | None = None,
    lengths: Tensor | None = None,
    precision: Precision = "accurate",
    impl: Implementation | None = None,
) -> Tensor:
    """Return the pull on each phase, the tangent of the circular mean of the tokens attended to; memory O(N).

    a_tj = sum_u A_tu sin(theta_uj - theta_tj),   A = softmax over u <= t (all u if not causal) of
    s_tu = tau/sqrt(k) sum_j g^q_tj g^k_uj cos(theta_tj - theta_uj + omega_j (t - u))
    [KA] Nunley, arXiv 2606.11585 (2026); docs/spec.md

    Gradients reach theta, the gates, drift and tau (not twice: no second derivative).

    Parameters
    ----------
    theta : phases (batch, heads, N, k), rad, unwrapped; float32, float16 or bfloat16 (float64: impl="eager").
        impl="triton" takes k from 8 to 128 and keeps float32 accuracy for phases up to 1e8 rad; "native" and
        "eager" reduce phases as the C library does.
    gate_q, gate_k : metric gates of targets and sources, shape and dtype of theta, dimensionless. Results and
        gradients are finite while scores and the gradients themselves are within float32; from scores of 2^20
        on float32 cannot tell them apart to 0.1, and weights and gradients are no better than that.
    drift : omega (heads, k), rad per position; ``omega_j t`` is reduced modulo 2 pi in float64.
    tau : inverse temperature, a number or (heads,).
    causal : row t attends to u <= t. Its output does not change by a bit when later tokens change.
    padding : (batch, N) bool, True = padded: such tokens take no part and their rows are 0.
    lengths : (batch,) instead of padding: token t takes part when t < length.
    precision : of the products over tokens. "accurate": float32-class for a float32 theta, 16-bit for a
        16-bit one; "fast": one 16-bit product (increment off by about 1e-3 on GPUs, 5e-3 on CPUs); "fp32":
        IEEE float32, slow on GPUs, for reference.
    impl : "triton", "native", "eager", or None for the device's own (CUDA: triton, CPU: native).

    Returns
    -------
    (batch, heads, N, k), dimensionless, in the dtype of theta.

    Raises
    ------
    ConfigError
        shapes, dtypes or options that do not fit; the message says which.

    >>> theta = torch.tensor([0.0, torch.pi / 2]).view(1, 1, 2, 1)
    >>> one = torch.ones_like(theta)
    >>> a = kuramoto_attention(theta, one, one, torch.zeros(1, 1), tau=0.0, impl="eager")
    >>> a.flatten().tolist()
    [0.0, -0.5]
    """
    chosen = choose(impl, theta.device)
    _check(theta, gate_q, gate_k, drift, precision, chosen)
    batch, heads, n, _ = theta.shape
    if batch == 0 or heads == 0:
        return torch.zeros_like(theta)
    valid = valid_tokens(batch, n, padding, lengths, theta.device)
    return kuramoto_attention_op(
        theta,
        gate_q,
        gate_k,
        drift,
        inverse_temperature(tau, theta),
        valid,
        causal,
        precision,
        chosen,
    )[0]


def inverse_temperature(tau: Tensor | float, theta: Tensor) -> Tensor:
    """Tau as (heads,)."""
    heads = theta.shape[1]
    kind = torch.float64 if theta.dtype == torch.float64 else torch.float32
    given = tau if isinstance(tau, Tensor) else torch.tensor(tau, dtype=kind)
    if given.shape not in ((), (heads,)) or not given.is_floating_point():
        raise ConfigError(
            f"tau: given {tuple(given.shape)} {given.dtype}, expected a number or ({heads},), floating point"
        )
    return given.to(theta.device).expand(heads)


def check_tokens(theta: Tensor, gate_q: Tensor, gate_k: Tensor, drift: Tensor) -> None:
    """ConfigError unless phases, gates and drift belong together."""
    if theta.dim() != 4 or 0 in theta.shape[2:]:
        raise ConfigError(
            f"theta: given {tuple(theta.shape)}, expected (batch, heads, N, k) with N and k at least 1"
        )
    if not theta.is_floating_point():
        raise ConfigError(f"theta: given {theta.dtype}, expected a floating point type")
    for name, gate in (("gate_q", gate_q), ("gate_k", gate_k)):
        if gate.shape != theta.shape or gate.dtype != theta.dtype or gate.device != theta.device:
            raise ConfigError(
                f"{name}: given {tuple(gate.shape)} {gate.dtype} on {gate.device}, expected theta's "
                f"{tuple(theta.shape)} {theta.dtype} on {theta.device}"
            )
    expected = (theta.shape[1], theta.shape[3])
    if drift.shape != expected or not drift.is_floating_point() or drift.device != theta.device:
        raise ConfigError(
            f"drift: given {tuple(drift.shape)} {drift.dtype} on {drift.device}, expected (heads, k) = "
            f"{expected}, floating point, on {theta.device}"
        )


def _check(theta: Tensor, gate_q: Tensor, gate_k: Tensor, drift: Tensor, precision: str, impl: str) -> None:
    if precision not in ("accurate", "fast", "fp32"):
        raise ConfigError(f"precision: given {precision!r}, expected 'accurate', 'fast' or 'fp32'")
    check_tokens(theta, gate_q, gate_k, drift)
    if impl != "eager" and theta.dtype == torch.float64:
        raise ConfigError(
            f"theta: given float64, impl={impl!r} expects float32, float16 or bfloat16; use impl='eager'"
        )
    width = theta.shape[3]
    if impl == "triton" and not SMALLEST_WIDTH <= width <= LARGEST_WIDTH:
        raise ConfigError(
            f"theta: given k = {width}, impl='triton' expects {SMALLEST_WIDTH} <= k <= {LARGEST_WIDTH}; "
            "choose another number of heads, or impl='native' or 'eager'"
        )
