"""Causal dot-product attention with rotary positions."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

from oscsim.errors import SpecError

from ..attention_weights import causal_softmax


def rotary_angles(tokens: int, channels: int, base: float, device: torch.device) -> Tensor:
    """Return the angle of every position and channel pair, shape (tokens, channels / 2), rad.

    phi_tj = t base^(-2j/channels);  Su et al., *RoFormer*, arXiv 2104.09864 (2021)

    >>> rotary_angles(2, 4, 100.0, torch.device("cpu")).tolist()
    [[0.0, 0.0], [1.0, 0.10000000149011612]]
    """
    rates = base ** (-torch.arange(0, channels, 2, device=device, dtype=torch.float64) / channels)
    return torch.outer(torch.arange(tokens, device=device, dtype=torch.float64), rates).float()


def rotate(vectors: Tensor, angles: Tensor) -> Tensor:
    """Rotate the pairs (x_j, x_{j + channels/2}) of vectors (..., N, channels) by angles (N, channels/2).

    >>> rotate(torch.tensor([[1.0, 0.0]]), torch.tensor([[torch.pi / 2]])).round().tolist()
    [[-0.0, 1.0]]
    """
    first, second = vectors.chunk(2, dim=-1)
    cos, sin = angles.cos().to(vectors.dtype), angles.sin().to(vectors.dtype)
    return torch.cat([first * cos - second * sin, first * sin + second * cos], dim=-1)


class RotaryAttention(nn.Module):
    """Causal multi-head attention, softmax(q k^T / sqrt(d)) v, on rotated queries and keys.

    Parameters
    ----------
    width : of input and output.
    heads : number of heads; width / heads has to be even.
    base : of the geometric ladder of rotation rates.

    >>> RotaryAttention(8, 2)(torch.zeros(1, 5, 8)).shape
    torch.Size([1, 5, 8])
    """

    def __init__(self, width: int, heads: int, base: float = 10_000.0) -> None:
        super().__init__()
        if heads < 1 or width % heads or (width // heads) % 2:
            raise SpecError(
                f"given width {width} and {heads} heads; expected an even number of channels per head; "
                "change one of them"
            )
        self.heads, self.base = heads, base
        self.projection = nn.Linear(width, 3 * width, bias=False)
        self.output = nn.Linear(width, width, bias=False)

    def forward(self, hidden: Tensor) -> Tensor:
        """Map (B, N, width) to the same shape."""
        query, key, value = self._rotated(hidden)
        mixed = functional.scaled_dot_product_attention(query, key, value, is_causal=True)
        return self.output(mixed.transpose(1, 2).flatten(-2))

    def weights(self, hidden: Tensor) -> Tensor:
        """Return the attention weights, shape (B, H, N, N)."""
        query, key, _ = self._rotated(hidden)
        return causal_softmax(query, key, query.shape[-1])

    def _rotated(self, hidden: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        batch, tokens, width = hidden.shape
        split = self.projection(hidden).view(batch, tokens, 3, self.heads, width // self.heads)
        query, key, value = split.permute(2, 0, 3, 1, 4)
        angles = rotary_angles(tokens, width // self.heads, self.base, hidden.device)
        return rotate(query, angles), rotate(key, angles), value
