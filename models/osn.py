"""A small causal character model whose token mixing is synchronization only."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, cast

import torch
from torch import Tensor, nn
from torch.nn import functional

from hw_targets.triton.ops import EDGE_SMOOTHING, Implementation
from oscsim import PhaseLayerSpec
from oscsim.errors import SpecError

from .attention import SynchronizationAttention
from .text import Vocabulary


@dataclass(frozen=True)
class OSNConfig:
    """The shape of a model; everything a checkpoint needs to rebuild it, bar the vocabulary.

    >>> OSNConfig(width=32).heads
    4
    """

    width: int = 64
    blocks: int = 2
    heads: int = 4
    channels: int = 4
    hidden: int = 192
    context: int = 64
    dropout: float = 0.1
    smoothing: float = EDGE_SMOOTHING


class FeedForward(nn.Module):
    """Gated feed-forward, W_down( silu(W_gate x) * W_up x ), on the last dimension."""

    def __init__(self, width: int, hidden: int) -> None:
        super().__init__()
        self.gate_up = nn.Linear(width, 2 * hidden, bias=False)
        self.down = nn.Linear(hidden, width, bias=False)

    def forward(self, inputs: Tensor) -> Tensor:
        """Map (..., width) to (..., width)."""
        gate, up = self.gate_up(inputs).chunk(2, dim=-1)
        return self.down(functional.silu(gate) * up)


class OSNBlock(nn.Module):
    """x + SSA(norm x), then x + feed-forward(norm x)."""

    def __init__(self, config: OSNConfig) -> None:
        super().__init__()
        self.attention_norm = nn.LayerNorm(config.width)
        self.attention = SynchronizationAttention(
            config.width, config.heads, config.channels, config.smoothing
        )
        self.feed_forward_norm = nn.LayerNorm(config.width)
        self.feed_forward = FeedForward(config.width, config.hidden)
        self.dropout = nn.Dropout(config.dropout)

    def forward(self, stream: Tensor, normed: Tensor | None) -> Tensor:
        """Map the residual stream (B, N, width), given its norm; None silences the attention."""
        if normed is not None:
            stream = stream + self.dropout(self.attention(normed))
        return stream + self.dropout(self.feed_forward(self.feed_forward_norm(stream)))


class OSNLanguageModel(nn.Module):
    """Embedding, SSA blocks, and a linear read-out of the next character.

    Position enters through the frequencies alone: there is no positional embedding.

    Parameters
    ----------
    config : the shape of the model.
    vocabulary : the characters it knows.

    Attributes
    ----------
    record : the training record of a loaded checkpoint (empty for a new model).

    >>> model = OSNLanguageModel(OSNConfig(), Vocabulary.of("banana"))
    >>> model(model.encode("ban").unsqueeze(0)).shape
    torch.Size([1, 3, 3])
    """

    def __init__(self, config: OSNConfig, vocabulary: Vocabulary) -> None:
        super().__init__()
        self.config, self.vocabulary = config, vocabulary
        self.record: dict[str, Any] = {}
        self.embedding = nn.Embedding(len(vocabulary), config.width)
        self.dropout = nn.Dropout(config.dropout)
        self.blocks = nn.ModuleList(OSNBlock(config) for _ in range(config.blocks))
        self.norm = nn.LayerNorm(config.width)
        self.readout = nn.Linear(config.width, len(vocabulary), bias=False)

    def encode(self, text: str) -> Tensor:
        """Return the tokens of ``text``, shape (N,); SpecError for an unknown character."""
        return self.vocabulary.encode(text)

    def decode(self, tokens: Tensor) -> str:
        """Return the text of tokens of shape (N,); SpecError for an unknown token."""
        return self.vocabulary.decode(tokens)

    def forward(self, tokens: Tensor, silent: Collection[int] = ()) -> Tensor:
        """Return logits of the next character.

        Parameters
        ----------
        tokens : shape (B, N), int64.
        silent : blocks whose synchronization output is set to zero (an ablation).

        Returns
        -------
        shape (B, N, vocabulary); row i depends on tokens 0 .. i only.
        """
        return self.trace(tokens, silent)[0]

    def trace(self, tokens: Tensor, silent: Collection[int] = ()) -> tuple[Tensor, list[Tensor]]:
        """Return the logits and what each block's layer saw, (B, N, width) per block."""
        stream, inputs = self.dropout(self.embedding(tokens)), []
        for index, block in enumerate(self._typed_blocks()):
            normed = block.attention_norm(stream)
            inputs.append(normed)
            stream = block(stream, None if index in silent else normed)
        return self.readout(self.norm(stream)), inputs

    def use(self, implementation: Implementation) -> None:
        """Let every layer compute its attention with "eager", "native" or "triton"."""
        for block in range(len(self.blocks)):
            self.layer(block).implementation = implementation

    def layer(self, block: int) -> SynchronizationAttention:
        """Return the synchronization layer of a block; SpecError when there is no such block."""
        if not 0 <= block < len(self.blocks):
            raise SpecError(
                f"given block {block}; expected 0 to {len(self.blocks) - 1}; "
                "count blocks from the input, starting at 0"
            )
        return self._typed_blocks()[block].attention

    def _typed_blocks(self) -> list[OSNBlock]:
        return cast("list[OSNBlock]", list(self.blocks))

    @torch.no_grad()
    def layer_inputs(self, tokens: Tensor) -> list[Tensor]:
        """Return what each block's layer sees without dropout, (B, N, width) per block.

        Parameters
        ----------
        tokens : shape (B, N), int64.
        """
        training = self.training
        self.eval()
        try:
            return self.trace(tokens)[1]
        finally:
            self.train(training)

    def to_spec(
        self, passage: str | Tensor, block: int = 0, dynamics: str = "pair", **fields: Any
    ) -> PhaseLayerSpec:
        """Return the phase layer that a block makes of a real passage.

        Parameters
        ----------
        passage : text, or its tokens of shape (N,).
        block : which block, counted from the input.
        dynamics : 'pair', 'network' or 'clamped'.
        **fields : further fields of the spec, such as ``time_unit_s`` or ``duration``.

        Raises
        ------
        SpecError
            an unknown character or token, an empty passage, no such block, or a
            field that the spec refuses.

        >>> model = OSNLanguageModel(OSNConfig(), Vocabulary.of("banana"))
        >>> model.to_spec("banana", block=1).omega.shape
        (4, 6, 4)
        """
        layer = self.layer(block)
        tokens = self.encode(passage) if isinstance(passage, str) else passage
        self.vocabulary.check(tokens)
        if not tokens.numel():
            raise SpecError("given an empty passage; expected at least one character; pass some text")
        inputs = self.layer_inputs(tokens.to(self.embedding.weight.device).unsqueeze(0))
        return layer.to_spec(inputs[block], dynamics, **fields)
