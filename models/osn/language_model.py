"""A language model on bytes whose token mixing is synchronization only."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, TypeVar, cast

import torch
from torch import Tensor, nn
from torch.nn import functional

from hw_targets.triton.ops import Implementation
from oscsim import PhaseLayerSpec
from oscsim.errors import SpecError

from ..language_model import BYTES, LanguageModel, Losses, evaluating
from .attention import SynchronizationAttention, computed_by
from .block import OSNBlock
from .config import OSNConfig
from .diagnose import diagnose_layer
from .initialise import initialise_model
from .locked_range import locked_fraction, locked_fraction_penalty, warn_if_outside, watched_range

Seen = TypeVar("Seen")


class OSNLanguageModel(LanguageModel):
    """Embedding, SSA blocks, and a linear read-out of the next byte.

    Position enters through the frequencies alone: there is no positional embedding.

    Parameters
    ----------
    config : the shape of the model.

    >>> model = OSNLanguageModel(OSNConfig())
    >>> model.use("eager")
    >>> model(model.encode("ban").unsqueeze(0)).shape
    torch.Size([1, 3, 256])
    """

    name: ClassVar[str] = "osn"
    config: OSNConfig

    def __init__(self, config: OSNConfig) -> None:
        super().__init__(config)
        self.embedding = nn.Embedding(BYTES, config.width)
        self.dropout = nn.Dropout(config.dropout)
        self.blocks = nn.ModuleList(_block(config) for _ in range(config.blocks))
        self.norm = nn.LayerNorm(config.width)
        self.readout = nn.Linear(config.width, BYTES, bias=False)

    def forward(self, tokens: Tensor) -> Tensor:
        """Return logits (B, N, 256) of the byte after each of ``tokens`` (B, N), int64.

        In a causal model row i depends on tokens 0 .. i only; in an encoder on all.
        """
        return self._trace(tokens)[0]

    def losses(self, tokens: Tensor, targets: Tensor) -> Losses:
        """Return the cross-entropy of the next bytes and the weighted :func:`locked_fraction_penalty`.

        Raises
        ------
        SpecError
            the model is not causal: it would see the byte it is to predict.
        """
        if not self.config.causal:
            raise SpecError(
                "given a model with causal=False; expected a causal one: the next byte is part of what an "
                "encoder sees; train it on a loss of your own"
            )
        logits, streams = self._trace(tokens)
        scores = logits.flatten(0, 1).to(self.readout.weight.dtype)  # autocast made them bfloat16
        cross_entropy = functional.cross_entropy(scores, targets.flatten())
        normed = [block.attention_norm(stream) for block, stream in zip(self._blocks(), streams, strict=True)]
        penalty = locked_fraction_penalty(self._layers(), normed, self.config.locked_target)
        return Losses(cross_entropy, self.config.locked_weight * penalty)

    def prepare(self, passages: Tensor) -> None:
        """Initialise every layer from the wanted locked fraction on real passages (B, N)."""
        initialise_model(self, passages, self.config.wanted_locked)

    def parameter_groups(self, learning_rate: float, weight_decay: float) -> list[dict[str, Any]]:
        """Return optimiser groups: what sets locking learns slower and does not decay.

        Frequencies, alpha and K decide which pairs lock, and locking is sharp: their learning rate is
        ``config.frequency_rate`` times that of the others.
        """
        frequency = [
            parameter
            for layer in self._layers()
            for parameter in (layer.frequency.weight, layer.ramp, layer.alpha_raw, layer.gain_raw)
        ]
        chosen = {id(parameter) for parameter in frequency}
        rate = learning_rate * self.config.frequency_rate
        others = super().parameter_groups(learning_rate, weight_decay)
        for group in others:
            group["params"] = [parameter for parameter in group["params"] if id(parameter) not in chosen]
        return [{"params": frequency, "lr": rate, "weight_decay": 0.0}, *others]

    def use(self, implementation: Implementation | None) -> None:
        """Choose who computes the attention: "triton", "native", "eager", or None for the device's own."""
        for layer in self._layers():
            layer.implementation = implementation

    def layer(self, block: int) -> SynchronizationAttention:
        """Return the synchronization layer of a block; SpecError when there is no such block."""
        if not 0 <= block < len(self.blocks):
            raise SpecError(
                f"given block {block}; expected 0 to {len(self.blocks) - 1}; "
                "count blocks from the input, starting at 0"
            )
        return self._layers()[block]

    def layer_inputs(self, tokens: Tensor) -> list[Tensor]:
        """Return what each block's layer sees without dropout, (B, N, width) per block.

        Computed by dense torch whatever :meth:`use` chose, so that it needs no compiler.

        Parameters
        ----------
        tokens : shape (B, N), int64.
        """
        return self.visit(tokens, lambda _, hidden: hidden)

    def visit(self, tokens: Tensor, look: Callable[[SynchronizationAttention, Tensor], Seen]) -> list[Seen]:
        """Return ``look(layer, its input)`` of every layer, from the input upwards, as :meth:`layer_inputs`.

        What ``look`` does to a layer reaches the inputs of later ones.
        """
        seen = []
        with evaluating(self), computed_by(self._layers(), "eager"):
            stream = self.embedding(tokens)
            for block in self._blocks():
                seen.append(look(block.attention, block.attention_norm(stream)))
                stream = block(stream)
        return seen

    def locked_fractions(self, tokens: Tensor) -> Tensor:
        """Return :func:`locked_fraction` of every block and head on passages (B, N), shape (blocks, H)."""
        return torch.stack(self.visit(tokens, locked_fraction))

    def diagnose(self, tokens: Tensor) -> list[dict[str, float]]:
        """Return :func:`diagnose_layer` of every block on passages (B, N), from the input upwards."""
        return self.visit(tokens, diagnose_layer)

    def watch(self, tokens: Tensor, step: int) -> None:
        """Warn of heads that lock too few or too many pairs of passages (B, N) after ``step`` steps.

        Warns
        -----
        LockedFractionWarning
            see :func:`warn_if_outside`.
        """
        warn_if_outside(self.locked_fractions(tokens), step, watched_range(self.config.locked_target))

    def to_spec(
        self, passage: str | bytes | Tensor, block: int = 0, dynamics: str | None = None, **fields: Any
    ) -> PhaseLayerSpec:
        """Return the phase layer that a block makes of a real passage; by default 'pair', what it computes.

        >>> OSNLanguageModel(OSNConfig()).to_spec("banana", block=1).omega.shape
        (4, 6, 4)
        """
        inputs = self.layer_inputs(self.check_passage(passage, block))
        return self.layer(block).to_spec(inputs[block], dynamics or "pair", **fields)

    def _trace(self, tokens: Tensor) -> tuple[Tensor, list[Tensor]]:
        """The logits, and the residual stream (B, N, width) that enters each block."""
        stream, streams = self.dropout(self.embedding(tokens)), []
        for block in self.blocks:
            streams.append(stream)
            stream = block(stream)
        return self.readout(self.norm(stream)), streams

    def _blocks(self) -> list[OSNBlock]:
        return cast("list[OSNBlock]", list(self.blocks))

    def _layers(self) -> list[SynchronizationAttention]:
        return [block.attention for block in self._blocks()]


def _block(config: OSNConfig) -> OSNBlock:
    shape = (config.width, config.heads, config.channels, config.hidden, config.context)
    return OSNBlock(*shape, causal=config.causal, dropout=config.dropout, smoothing=config.smoothing)
