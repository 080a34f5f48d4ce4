"""The public implementation's block, and the transformer block of the same size it is compared with."""

from __future__ import annotations

from collections import OrderedDict

from torch import Tensor, nn
from torch.nn.functional import scaled_dot_product_attention


class PublicBlock(nn.Module):
    """x + mixing(norm1 x), then x + ffn(norm2 x), ffn = linear, GELU, linear; every linear has a bias.

    Entries of the state dict are named as in the public implementation (github.com/HasiHays/OSN).
    """

    def __init__(self, d_model: int, d_ff: int, name: str, mixing: nn.Module) -> None:
        super().__init__()
        self.mixing = name
        self.add_module(name, mixing)
        widen, narrow = nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model)
        self.ffn = nn.Sequential(OrderedDict({"0": widen, "1": nn.GELU(), "3": narrow}))
        self.norm1, self.norm2 = nn.LayerNorm(d_model), nn.LayerNorm(d_model)

    def forward(self, x: Tensor) -> Tensor:
        """Map (B, N, d_model) to the same shape."""
        x = x + self.get_submodule(self.mixing)(self.norm1(x))
        return x + self.ffn(self.norm2(x))


class DotProductAttention(nn.Module):
    """Bidirectional multi-head softmax attention with biases."""

    def __init__(self, d_model: int, n_heads: int) -> None:
        super().__init__()
        self.n_heads = n_heads
        self.W_q = nn.Linear(d_model, d_model)
        self.W_k = nn.Linear(d_model, d_model)
        self.W_v = nn.Linear(d_model, d_model)
        self.W_o = nn.Linear(d_model, d_model)

    def forward(self, x: Tensor) -> Tensor:
        """Map (B, N, d_model) to the same shape."""
        split = (linear(x).unflatten(-1, (self.n_heads, -1)) for linear in (self.W_q, self.W_k, self.W_v))
        mixed = scaled_dot_product_attention(*(part.transpose(1, 2) for part in split))
        return self.W_o(mixed.transpose(1, 2).flatten(-2))
