"""What an implementation of Kuramoto attention is given, and what it gives back.

The public op (kuramoto.py) checks its arguments; an implementation (eager, native, fused) sees only this.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor

from hw_targets.triton.ops.problem import Precision


@dataclass(frozen=True, eq=False)
class KuramotoProblem:
    """One attention call; B batch, H heads, N tokens, k phase coordinates per head.

    Parameters
    ----------
    theta : (B, H, N, k) phases, rad, unwrapped.
    gate_q, gate_k : (B, H, N, k) metric gates of a target and of a source, dtype of theta.
    drift : (H, k) drift omega, rad per position, any float type.
    tau : (H,) inverse temperature.
    valid : (B, N) bool, True = takes part, or None for all. Other tokens give 0 and get no gradient.
    causal : row t sees u <= t only.
    precision : see kuramoto_attention.
    """

    theta: Tensor
    gate_q: Tensor
    gate_k: Tensor
    drift: Tensor
    tau: Tensor
    valid: Tensor | None
    causal: bool
    precision: Precision


class KuramotoForward(NamedTuple):
    """The circular mean ``G_t = sum_u A_tu e^{i theta_u}`` seen from theta_t, and the row's log-sum-exp.

    ``increment`` (B, H, N, k), its tangent part Im(e^{-i theta_t} G_t), in the dtype of theta;
    ``radial`` (B, H, N, k), its radial part Re(e^{-i theta_t} G_t), and ``logsumexp`` (B, H, N), natural
    logarithm, in float32 (float64 when theta is). Backwards needs no more of size N.
    """

    increment: Tensor
    radial: Tensor
    logsumexp: Tensor


class KuramotoGradients(NamedTuple):
    """Gradients of a loss by the fields of a problem of the same names, each in that field's dtype."""

    theta: Tensor
    gate_q: Tensor
    gate_k: Tensor
    drift: Tensor
    tau: Tensor


def compute_dtype(theta: Tensor) -> torch.dtype:
    """float64 when theta is, else float32."""
    return torch.float64 if theta.dtype == torch.float64 else torch.float32


def operand_dtype(problem: KuramotoProblem) -> torch.dtype:
    """What the factors of products over tokens are rounded to.

    theta's type when it has 16 bits, bfloat16 when fast; "fp32" rounds nothing.
    """
    kind = problem.theta.dtype
    if kind in (torch.float16, torch.bfloat16) and problem.precision != "fp32":
        return kind
    return torch.bfloat16 if problem.precision == "fast" else compute_dtype(problem.theta)
