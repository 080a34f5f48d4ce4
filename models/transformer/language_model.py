"""A pre-norm transformer of bytes."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, cast

from torch import Tensor, nn

from hw_targets.triton.ops import Implementation
from oscsim.errors import ConfigError

from ..attention_weights import mean_entropy
from ..feed_forward import FeedForward
from ..language_model import BYTES, LanguageModel, check_shape, evaluating
from .attention import RotaryAttention


@dataclass(frozen=True)
class TransformerConfig:
    """The shape of a transformer.

    Attributes
    ----------
    width, blocks, heads : of the residual stream; number of blocks; heads per block.
    hidden : width of the gated layer of each feed-forward.
    context : bytes seen at a time.
    dropout : on the embedding and on what each block adds.

    >>> TransformerConfig(width=32).heads
    4
    """

    width: int = 64
    blocks: int = 4
    heads: int = 4
    hidden: int = 192
    context: int = 128
    dropout: float = 0.0

    def __post_init__(self) -> None:
        check_shape(self)


class TransformerBlock(nn.Module):
    """x + attention(norm x), then x + feed-forward(norm x).

    >>> import torch
    >>> TransformerBlock(TransformerConfig(width=8, heads=2))(torch.zeros(1, 5, 8)).shape
    torch.Size([1, 5, 8])
    """

    def __init__(self, config: TransformerConfig) -> None:
        super().__init__()
        self.attention_norm = nn.RMSNorm(config.width)
        self.attention = RotaryAttention(config.width, config.heads)
        self.feed_forward_norm = nn.RMSNorm(config.width)
        self.feed_forward = FeedForward(config.width, config.hidden)
        self.dropout = nn.Dropout(config.dropout)

    def forward(self, stream: Tensor) -> Tensor:
        """Map the residual stream (B, N, width)."""
        stream = stream + self.dropout(self.attention(self.attention_norm(stream)))
        return stream + self.dropout(self.feed_forward(self.feed_forward_norm(stream)))


class TransformerLanguageModel(LanguageModel):
    """The baseline: embedding, pre-norm blocks, norm, linear read-out of the next byte.

    >>> import torch
    >>> TransformerLanguageModel(TransformerConfig(width=8, heads=2))(torch.zeros(1, 5).long()).shape
    torch.Size([1, 5, 256])
    """

    name: ClassVar[str] = "transformer"

    def __init__(self, config: TransformerConfig) -> None:
        super().__init__(config)
        self.embedding = nn.Embedding(BYTES, config.width)
        self.dropout = nn.Dropout(config.dropout)
        self.blocks = nn.ModuleList(TransformerBlock(config) for _ in range(config.blocks))
        self.norm = nn.RMSNorm(config.width)
        self.readout = nn.Linear(config.width, BYTES, bias=False)
        self._initialise(config)

    def _initialise(self, config: TransformerConfig) -> None:
        """Projections preserve variance; what is added to the stream shrinks with the number of blocks."""
        for name, parameter in self.named_parameters():
            if parameter.dim() < 2 or name.startswith("embedding"):
                continue
            std = 1.0 / math.sqrt(parameter.shape[1])
            if name.endswith(("attention.output.weight", "down.weight")):
                std /= math.sqrt(2 * config.blocks)
            nn.init.normal_(parameter, std=std)

    def forward(self, tokens: Tensor) -> Tensor:
        """Return logits (B, N, 256) of the byte after each of ``tokens`` (B, N)."""
        stream = self.dropout(self.embedding(tokens))
        for block in self.blocks:
            stream = block(stream)
        return self.readout(self.norm(stream))

    def use(self, implementation: Implementation | None) -> None:
        """Refuse any choice but None: this model's attention is torch's own on every device."""
        if implementation is not None:
            raise ConfigError(
                f"implementation: given {implementation!r} for a transformer, whose attention is torch's own "
                "on every device; leave it out"
            )

    def diagnose(self, tokens: Tensor) -> list[dict[str, float]]:
        """Return the attention entropy of every block, in bits."""
        rows = []
        with evaluating(self):
            stream = self.embedding(tokens)
            for block in cast("list[TransformerBlock]", list(self.blocks)):
                weights = block.attention.weights(block.attention_norm(stream))
                rows.append({"attention_entropy": mean_entropy(weights)})
                stream = block(stream)
        return rows
