"""What can be measured of one layer on real inputs."""

from __future__ import annotations

import torch
from torch import Tensor

from hw_targets.triton.ops import synchronization_matrix

from ..attention_weights import mean_entropy
from .attention import SynchronizationAttention, computed_by
from .locked_range import locked_fraction


@torch.no_grad()
def diagnose_layer(layer: SynchronizationAttention, hidden: Tensor) -> dict[str, float]:
    """Return means over passages, heads, tokens and channels.

    local_order : |sum_u W_tu e^{i theta_u}|, W the rows of S that sum to 1 [SSA].
    global_order : |mean_t e^{i theta_t}|.
    locked_fraction : share of the pairs j < i (encoder: j != i) that lock.
    mean_abs_omega : |omega| of the content channels; the position channel is a ramp.
    attention_entropy : of the rows of W, in bits.

    Parameters
    ----------
    layer : the layer.
    hidden : its inputs, shape (B, N, width), N >= 2.
    """
    omega, theta, _ = layer.oscillators(hidden)
    with computed_by([layer], "eager"):
        order, locked = layer.order(theta), locked_fraction(layer, hidden)
    sync = synchronization_matrix(
        omega, alpha=layer.alpha, gain=layer.gain, order_parameter=order, causal=layer.causal, impl="eager"
    )
    weights = (sync / sync.sum(dim=-1, keepdim=True)).to(omega.dtype)
    cosine, sine = theta.cos(), theta.sin()
    return {
        "local_order": torch.hypot(weights @ cosine, weights @ sine).mean().item(),
        "global_order": torch.hypot(cosine.mean(dim=2), sine.mean(dim=2)).mean().item(),
        "locked_fraction": locked.mean().item(),
        "mean_abs_omega": omega[..., 1:].abs().mean().item(),
        "attention_entropy": mean_entropy(weights),
    }
