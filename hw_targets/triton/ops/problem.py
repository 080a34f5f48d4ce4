"""What an implementation of selective synchronization attention is given, and what it gives back.

The public op (ssa.py) checks its arguments and turns alpha, K and r into the normal form of every row
(normal_form.py); an implementation (eager, native, triton) sees only this:

    u_ij = c_i |omega_i - omega_j|^2,    S_ij^2 = relu( exp(-w_i u_ij) - u_ij exp(-w_i) ),
    y_i = sum_j keep_ij S_ij V_j / sum_j S_ij        over the allowed j

with c_i = 1/d*_i^2 the inverse squared lock radius and w_i = W_0(2 alpha K^2 r_i^2) the selectivity, so that
u = 1 is the locking edge. A row with K r = 0 is not ``coupled``: S is 1 where omega_i = omega_j and 0
elsewhere, and it has no gradient through S.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple

from torch import Tensor

if TYPE_CHECKING:
    from hw_targets.triton.ops.tile_map import BlockMap

Precision = Literal["accurate", "fast", "fp32"]
Edge = Literal["smooth", "clamp", "exact"]
Implementation = Literal["triton", "native", "eager"]

EDGE_SMOOTHING = 0.03
"""Default ``eps`` of the backward rules at the locking edge, in units of S."""


@dataclass(frozen=True, eq=False)
class SSAProblem:
    """One attention call in normal form; B batch, H heads, N oscillators, D channels, D_v value width.

    Parameters
    ----------
    omega : (B, H, N, D) natural frequencies, rad per time unit; float32 or float64, contiguous.
    values : (B, H, N, D_v), contiguous; the output has its dtype.
    inverse_square : (B, H, R) float64, c = 1/d*^2; R = 1 (one per head) or N (one per row). 0 if not coupled.
    selectivity : (B, H, R) float64, w.
    coupled : (B, H, R) bool, K r above the floor.
    valid : (B, N) bool, True = takes part, or None for all. Other rows give 0 and get no gradient.
    causal : row i sees j <= i only.
    precision : see ssa_attention.
    edge, eps : what stands for 1/S in the backward pass: "exact" 1/S (0 where S = 0), "smooth"
        S/(S^2 + eps^2), "clamp" 1/max(S, eps) (0 where S = 0).
    dropout, seed : share of weights dropped after normalisation, and () int64 for dropout.py's keep mask.
    tiles : tiles that can lock, or None for all. Leaving the others out changes no bit.
    first_row : rows before it are not computed (decoding); the output has rows first_row..N-1. Forward only.
    top_k : keep the k largest S of a row, None for all. Eager only.
    """

    omega: Tensor
    values: Tensor
    inverse_square: Tensor
    selectivity: Tensor
    coupled: Tensor
    valid: Tensor | None
    causal: bool
    precision: Precision
    edge: Edge = "smooth"
    eps: float = EDGE_SMOOTHING
    dropout: float = 0.0
    seed: Tensor | None = None
    tiles: BlockMap | None = None
    first_row: int = 0
    top_k: int | None = None


class SSAForward(NamedTuple):
    """Output (B, H, rows, D_v) in the dtype of values; row sums (B, H, rows), float32 (eager: its own)."""

    output: Tensor
    total: Tensor


class SSAGradients(NamedTuple):
    """Gradients of a loss by what an implementation was given.

    ``omega`` and ``values`` in their own dtype; ``log_inverse_square`` (by log c_i) and ``selectivity`` (by
    w_i) summed over the sources of a row, always (B, H, N), float32 or better. Where
    R = 1 only their sum over the rows is defined.
    """

    omega: Tensor
    values: Tensor
    log_inverse_square: Tensor
    selectivity: Tensor
