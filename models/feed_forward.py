"""The gated feed-forward block that the three models share."""

from __future__ import annotations

from torch import Tensor, nn
from torch.nn import functional


class FeedForward(nn.Module):
    """SwiGLU, W_down( silu(W_gate x) * W_up x ), on the last dimension.

    Shazeer, *GLU variants improve transformer*, arXiv 2002.05202 (2020).

    Parameters
    ----------
    width : of input and output.
    hidden : of the gated layer between.

    >>> import torch
    >>> FeedForward(4, 8)(torch.zeros(2, 4)).shape
    torch.Size([2, 4])
    """

    def __init__(self, width: int, hidden: int) -> None:
        super().__init__()
        self.gate_up = nn.Linear(width, 2 * hidden, bias=False)
        self.down = nn.Linear(hidden, width, bias=False)

    def forward(self, inputs: Tensor) -> Tensor:
        """Map (..., width) to (..., width)."""
        gate, up = self.gate_up(inputs).chunk(2, dim=-1)
        return self.down(functional.silu(gate) * up)
