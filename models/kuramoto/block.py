"""One block of a Kuramoto-attention model: a synchronization step, then a feed-forward step."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

from ..feed_forward import FeedForward
from .attention import KuramotoAttention, circle
from .config import KuramotoConfig
from .update import Bound, flow_step


class KuramotoBlock(nn.Module):
    """theta + bound(v(theta) a), then theta + bound(SwiGLU(theta)) [KA]; theta stays unwrapped.

    v is a learned, signed rate per coordinate: linear in [cos theta, sin theta]. With ``step="flow"``
    the first step is the exact flow of oscillators whose sources are held, with rate v for a learned
    time T >= 0 per coordinate. With ``values="projection"`` it is bound(sum_u A_tu W f(theta_u)).

    >>> KuramotoBlock(KuramotoConfig(width=8, heads=2))(torch.zeros(1, 5, 8)).shape
    torch.Size([1, 5, 8])
    """

    def __init__(self, config: KuramotoConfig) -> None:
        super().__init__()
        self.values, self.step = config.values, config.step
        self.attention = KuramotoAttention(config)
        # rate v (theta), or the value projection of the ablation: as many parameters in both
        self.rate = nn.Linear(2 * config.width, config.width)
        flows = config.step == "flow"
        self.bound = None if flows else Bound(config.bound)
        self.time_raw = nn.Parameter(torch.zeros(config.width)) if flows else None
        self.feed_forward = FeedForward(config.width, config.hidden) if config.feed_forward else None
        self.feed_forward_bound = Bound(config.bound) if config.feed_forward else None
        self.dropout = nn.Dropout(config.dropout)

    def forward(self, theta: Tensor) -> Tensor:
        """Map phases (B, N, k), rad, to phases of the same shape."""
        theta = theta + self.dropout(self.synchronization_step(theta))
        if self.feed_forward is not None and self.feed_forward_bound is not None:
            update = self.feed_forward(theta).float()
            theta = theta + self.dropout(self.feed_forward_bound(update))
        return theta

    def synchronization_step(self, theta: Tensor) -> Tensor:
        """Return what the attention adds to phases (B, N, k), rad."""
        rate, attention = self.rate(circle(theta)).float(), self.attention
        if self.bound is None:
            tangent, radial = attention.circular_mean(theta)
            return flow_step(tangent, radial, rate * self.time)
        if self.values == "projection":
            return self.bound(attention.joined(attention.attend(theta, attention.split(rate))))
        return self.bound(rate * attention(theta))

    @property
    def time(self) -> Tensor:
        """How long the flow of each coordinate is followed, shape (k,), >= 0; 1 for an Euler step."""
        if self.time_raw is None:
            return torch.ones(self.rate.out_features, device=self.rate.weight.device)
        return functional.softplus(self.time_raw)
