"""Selective synchronization attention as one differentiable op."""

from __future__ import annotations

import torch
from torch import Tensor

from hw_targets.triton.ops.arguments import check_options, check_shapes, per_head, per_row, valid_tokens
from hw_targets.triton.ops.implementations import choose
from hw_targets.triton.ops.problem import EDGE_SMOOTHING, Edge, Implementation, Precision
from hw_targets.triton.ops.ssa_op import ssa_attention_op
from hw_targets.triton.ops.tile_map import BlockMap


def ssa_attention(
    omega: Tensor,
    values: Tensor,
    *,
    alpha: Tensor | float,
    gain: Tensor | float,
    order_parameter: Tensor | float,
    causal: bool = False,
    precision: Precision = "accurate",
    edge: Edge = "smooth",
    eps: float | None = None,
    padding: Tensor | None = None,
    lengths: Tensor | None = None,
    block_map: BlockMap | None = None,
    dropout: float = 0.0,
    top_k: int | None = None,
    impl: Implementation | None = None,
) -> Tensor:
    """Return the synchronization-weighted mean of the values, exact and in memory O(N).

    y_i = sum_j S_ij V_j / sum_j S_ij,   S_ij = sqrt(relu( J_ij^2 - d_ij^2/(K r_i)^2 )),
    J_ij = exp(-alpha d_ij^2),   d_ij = |omega_i - omega_j|
    [SSA] Hays, arXiv 2602.14445 (2026); docs/spec.md section 2

    Gradients reach omega, values, alpha, gain and order_parameter (not twice: no second derivative).

    Parameters
    ----------
    omega : natural frequencies (batch, heads, N, D), rad per time unit, D <= 128. In float64 their
        differences are formed in more than float32, whatever else is. Lock radii up to about 1e18.
    values : (batch, heads, N, D_v), D_v <= 128; float32, float16 or bfloat16 (float64: impl="eager").
    alpha : coupling bandwidth >= 0, (heads,) or a number, (time unit)^2 / rad^2.
    gain : global coupling K >= 0, (heads,) or a number, rad per time unit.
    order_parameter : r >= 0: a number, (heads,), (batch, heads), or per row (batch, heads, N), as from
        :func:`prefix_order_parameter`.
    causal : row i attends to j <= i. Its output does not change by a bit when later tokens take other finite
        values.
    precision : how the frequency product is computed. "accurate": float32-class error (1e-5 per condition);
        "fast": one 16-bit product on GPUs, S off by up to 1.6e-2 per condition; "fp32": IEEE float32, slow,
        for reference.
    edge : what stands for the slope 1/S, which diverges at the locking edge, in the backward pass: "smooth"
        S/(S^2 + eps^2), "clamp" 1/max(S, eps), "exact" 1/S. Forwards S is always exact.
    eps : in units of S, 1e-9 to 1; default 0.03. Not with "exact".
    padding : (batch, N) bool, True = padded: such tokens take no part and their rows are 0.
    lengths : (batch,) instead of padding: token i takes part when i < length.
    block_map : tiles that can lock, from :func:`block_map` of the same frequencies; the result is bitwise
        the same.
    dropout : share of weights dropped after normalisation, drawn with torch's generator.
    top_k : keep the k largest S of a row (impl="eager" only).
    impl : "triton", "native", "eager", or None for the device's own (CUDA: triton, CPU: native).

    Returns
    -------
    (batch, heads, N, D_v) in the dtype of values.

    Raises
    ------
    ConfigError
        shapes, dtypes or options that do not fit; the message says which.
    TargetUnavailable
        the implementation cannot run here (no compiler, no triton, no GPU).

    >>> omega = torch.tensor([0.0, 0.6, 9.0]).view(1, 1, 3, 1)
    >>> values = torch.eye(3).view(1, 1, 3, 3)
    >>> y = ssa_attention(omega, values, alpha=0.0, gain=1.0, order_parameter=1.0, impl="eager")
    >>> [[round(x, 4) for x in row] for row in y[0, 0].tolist()]
    [[0.5556, 0.4444, 0.0], [0.4444, 0.5556, 0.0], [0.0, 0.0, 1.0]]
    """
    chosen = choose(impl, omega.device)
    check_shapes(omega, values, chosen)
    check_options(precision, edge, eps, dropout, top_k, chosen)
    batch, heads, n, _ = omega.shape
    if batch == 0 or heads == 0:
        return values * 1.0  # as empty as the values, and still of their graph
    valid = valid_tokens(batch, n, padding, lengths, omega.device)
    if block_map is not None:
        block_map.check(omega, values, causal, precision, chosen)
    return ssa_attention_op(
        omega,
        values,
        per_head("alpha", alpha, omega),
        per_head("gain", gain, omega),
        per_row(order_parameter, omega),
        valid,
        [] if block_map is None else block_map.tensors(),
        torch.randint(2**31 - 1, (), device=omega.device) if dropout > 0 else None,
        causal,
        precision,
        edge,
        0.0 if edge == "exact" else EDGE_SMOOTHING if eps is None else eps,
        dropout,
        0,
        top_k or 0,
        chosen,
    )[0]
