"""What SSA is measured against besides SDPA: the public dense formula and compiled FlexAttention."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from hw_targets.triton.bench.contender import DENSE, FLEX, Contender
from hw_targets.triton.bench.workload import Workload
from hw_targets.triton.ops.normal_form import normal_form

PUBLIC_EPSILON = 1e-8
# Matrices of shape (B, N, N, H) that autograd keeps or makes at the same time (measured: 4.7 GB at N = 4096).
_LIVE_MATRICES = 14


def dense_bytes(load: Workload) -> int:
    """Memory the dense formula needs forwards and backwards, about."""
    heads, n = load.d_output.shape[1:3]
    return _LIVE_MATRICES * load.tokens * n * heads * 4


def dense(load: Workload) -> Contender:
    """The formula of [SSA] evaluated as the public code does (github.com/HasiHays/OSN, MIT), written anew.

    All pairs at once in the layout (B, N, N, H), locking against the threshold K r J + eps, the strength
    J cos(asin(d / threshold)) behind clamps, rows divided by their sum + eps, everything through autograd.
    Projections are left out, and r is given, as for the op.
    """
    given = load.learned

    def call() -> Tensor:
        omega, order = given["omega"], given["order_parameter"][:, None, None]
        length = omega.square().sum(dim=-1).transpose(1, 2)
        product = (omega @ omega.mT).permute(0, 2, 3, 1)
        squared = torch.relu(length[:, :, None] + length[:, None] - 2 * product)
        mismatch = squared.sqrt()
        coupling = torch.exp(-given["alpha"] * squared)
        threshold = given["gain"] * order * coupling + PUBLIC_EPSILON
        ratio = torch.clamp(mismatch / threshold, -1 + PUBLIC_EPSILON, 1 - PUBLIC_EPSILON)
        locked = (mismatch <= threshold).to(ratio.dtype)
        strength = coupling * torch.cos(torch.asin(ratio)) * locked
        weights = strength / (strength.sum(dim=2, keepdim=True) + PUBLIC_EPSILON)
        return weights.permute(0, 3, 1, 2).to(given["values"].dtype) @ given["values"]

    return Contender(
        DENSE,
        call,
        list(given.values()),
        load.d_output,
        note="its gradient by the frequencies is NaN: the root of a vanishing mismatch on the diagonal",
    )


def flex(load: Workload, device: str) -> Contender:
    """Compiled FlexAttention: softmax of log S is S over its row sum, so this score_mod is exact."""
    from torch.nn.attention.flex_attention import create_block_mask, flex_attention

    given, n, on_gpu = load.learned, load.n, device == "cuda"
    leaves = [given["omega"], given["values"]]
    if not on_gpu:  # there it refuses anything that wants a gradient
        given = {name: x.detach() for name, x in given.items()}
    compiled: Any = torch.compile(flex_attention, dynamic=False)
    mask = None
    if load.case.causal:
        mask = create_block_mask(lambda b, h, i, j: j <= i, None, None, n, n, device=device)

    def call() -> Tensor:
        omega = given["omega"] - given["omega"].mean(dim=-2, keepdim=True)
        length = omega.square().sum(dim=-1)
        order = given["order_parameter"]
        order = order if order.dim() == 3 else order[..., None]
        form = normal_form(given["alpha"], given["gain"], order)
        inverse, w = (
            x.float().expand(length.shape).contiguous() for x in (form.inverse_square, form.selectivity)
        )

        def log_sync(score: Tensor, b: Tensor, h: Tensor, i: Tensor, j: Tensor) -> Tensor:
            u = torch.clamp(length[b, h, i] + length[b, h, j] - 2 * score, min=0) * inverse[b, h, i]
            squared = torch.exp(-w[b, h, i] * u) - u * torch.exp(-w[b, h, i])
            return 0.5 * torch.log(torch.clamp(squared, min=0))

        values = given["values"]
        return compiled(
            omega, omega, values.to(omega.dtype), score_mod=log_sync, block_mask=mask, scale=1.0
        ).to(values.dtype)

    note = (
        "in float32; gradients by omega and values alone"
        if on_gpu
        else "torch has no backward pass of it on a CPU"
    )
    return Contender(FLEX, call, leaves, load.d_output, backward=on_gpu, note=note)
