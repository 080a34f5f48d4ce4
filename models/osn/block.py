"""A pre-norm block that mixes tokens by synchronization."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from hw_targets.triton.ops import EDGE_SMOOTHING

from ..feed_forward import FeedForward
from .attention import SynchronizationAttention
from .initialise import initialise_layer


class OSNBlock(nn.Module):
    """x + SSA(norm x), then x + feed-forward(norm x): in place of a pre-norm transformer block.

    Frequencies start so that half of the pairs of random inputs lock; on real inputs call
    :func:`models.osn.initialise_layer`.

    Parameters
    ----------
    width, heads, channels : see :class:`SynchronizationAttention`.
    hidden : width of the gated feed-forward.
    context : usual number of tokens N, which the learned window starts from; any other works.
    causal : tokens attend to earlier ones only.
    dropout : share of either update dropped in training.
    smoothing : eps of the smooth edge in the backward pass.

    Raises
    ------
    SpecError
        as :class:`SynchronizationAttention`.

    >>> block = OSNBlock(width=8, heads=2, channels=4, hidden=16, context=32, causal=False)
    >>> block.attention.implementation = "eager"
    >>> block(torch.zeros(3, 5, 8)).shape
    torch.Size([3, 5, 8])
    """

    def __init__(
        self,
        width: int,
        heads: int,
        channels: int,
        hidden: int,
        context: int,
        causal: bool = True,
        dropout: float = 0.0,
        smoothing: float = EDGE_SMOOTHING,
    ) -> None:
        super().__init__()
        self.attention_norm = nn.LayerNorm(width)
        self.attention = SynchronizationAttention(width, heads, channels, smoothing, causal)
        self.feed_forward_norm = nn.LayerNorm(width)
        self.feed_forward = FeedForward(width, hidden)
        self.dropout = nn.Dropout(dropout)
        initialise_layer(self.attention, torch.randn(1, max(2, context), width), wanted=0.5)

    def forward(self, stream: Tensor) -> Tensor:
        """Map the residual stream (B, N, width) to the same shape."""
        stream = stream + self.dropout(self.attention(self.attention_norm(stream)))
        return stream + self.dropout(self.feed_forward(self.feed_forward_norm(stream)))
