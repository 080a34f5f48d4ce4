"""A language model whose tokens are oscillators: phases in, phases between blocks, cosines out."""

from __future__ import annotations

from typing import Any, ClassVar, cast

import torch
from torch import Tensor, nn

from hw_targets.triton.ops import Implementation
from oscsim import PhaseLayerSpec
from oscsim.errors import ConfigError, SpecError

from ..attention_weights import mean_entropy
from ..language_model import BYTES, LanguageModel, evaluating
from .block import KuramotoBlock
from .config import KuramotoConfig
from .export import phase_layer


class KuramotoLanguageModel(LanguageModel):
    """Phases of bytes, Kuramoto blocks, and logits scale sum_j cos(theta_tj - p_vj) [KA].

    >>> KuramotoLanguageModel(KuramotoConfig(width=8, heads=2))(torch.zeros(1, 5).long()).shape
    torch.Size([1, 5, 256])
    """

    name: ClassVar[str] = "kuramoto"

    def __init__(self, config: KuramotoConfig) -> None:
        super().__init__(config)
        self.shape = config
        self.phases = nn.Embedding(BYTES, config.width)
        self.blocks = nn.ModuleList(KuramotoBlock(config) for _ in range(config.blocks))
        self.prototypes = None if config.tied else nn.Parameter(torch.empty(BYTES, config.width))
        self.log_scale = nn.Parameter(torch.zeros(()))
        for start in (self.phases.weight, self.prototypes):
            if start is not None:
                nn.init.uniform_(start, -config.phase_spread, config.phase_spread)

    def forward(self, tokens: Tensor) -> Tensor:
        """Return logits (B, N, 256) of the byte after each of ``tokens`` (B, N)."""
        theta = self.phases(tokens)
        for block in self.blocks:
            theta = block(theta)
        return self.logits(theta)

    def logits(self, theta: Tensor) -> Tensor:
        """Return scale sum_j cos(theta_tj - p_vj) of phases (B, N, k), shape (B, N, 256)."""
        prototypes = self.phases.weight if self.prototypes is None else self.prototypes
        # the sum over coordinates is nearly alike for all bytes: bfloat16 would round their difference away
        with torch.autocast(theta.device.type, enabled=False):
            real = theta.cos() @ prototypes.cos().T
            return self.log_scale.exp() * (real + theta.sin() @ prototypes.sin().T)

    def parameter_groups(self, learning_rate: float, weight_decay: float) -> list[dict[str, Any]]:
        """Return optimiser groups; phases do not decay (zero is no special angle), omega learns slower."""
        plain: list[Tensor] = []
        decaying: list[Tensor] = []
        drift: list[Tensor] = []
        for name, parameter in self.named_parameters():
            if name.endswith("omega"):
                drift.append(parameter)
            elif parameter.dim() < 2 or name in ("phases.weight", "prototypes"):
                plain.append(parameter)
            else:
                decaying.append(parameter)
        return [
            {"params": decaying, "lr": learning_rate, "weight_decay": weight_decay},
            {"params": plain, "lr": learning_rate, "weight_decay": 0.0},
            {"params": drift, "lr": learning_rate * self.shape.drift_rate, "weight_decay": 0.0},
        ]

    def use(self, implementation: Implementation | None) -> None:
        """Let every layer compute its pull with "triton", "native", "eager" or the device's own.

        Raises
        ------
        ConfigError
            a choice for a model that has no pull to compute (``values="projection"``) or needs the whole
            circular mean (``step="flow"``): both take torch's own attention on every device.
        """
        plain = self.shape.values == "circular_mean" and self.shape.step == "euler"
        if implementation is not None and not plain:
            raise ConfigError(
                f"implementation: given {implementation!r} for a kuramoto model with values="
                f"{self.shape.values!r} and step={self.shape.step!r}, whose attention is torch's own on "
                "every device; leave it out"
            )
        for block in self.typed_blocks():
            block.attention.implementation = implementation

    def layer_inputs(self, tokens: Tensor) -> list[Tensor]:
        """Return the phases that each block sees without dropout, (B, N, k) per block, rad."""
        inputs = []
        with evaluating(self):
            theta = self.phases(tokens)
            for block in self.typed_blocks():
                inputs.append(theta)
                theta = block(theta)
        return inputs

    @torch.no_grad()
    def diagnose(self, tokens: Tensor) -> list[dict[str, float]]:
        """Return local order mean |G|, global order mean_j |mean_t e^{i theta}|, mean |omega|, entropy."""
        rows = []
        for block, theta in zip(self.typed_blocks(), self.layer_inputs(tokens), strict=True):
            tangent, radial = block.attention.circular_mean(theta)
            mean = torch.stack([theta.cos().mean(dim=1), theta.sin().mean(dim=1)])
            rows.append(
                {
                    "local_order": torch.hypot(tangent, radial).mean().item(),
                    "global_order": torch.linalg.vector_norm(mean, dim=0).mean().item(),
                    "mean_abs_omega": block.attention.omega.abs().mean().item(),
                    "attention_entropy": mean_entropy(block.attention.weights(theta)),
                }
            )
        return rows

    def to_spec(
        self, passage: str | bytes | Tensor, block: int = 0, dynamics: str | None = None, **fields: Any
    ) -> PhaseLayerSpec:
        """Return the clamped phase layer that a block makes of a real passage, see :func:`phase_layer`."""
        if dynamics not in (None, "clamped"):
            raise SpecError(
                f"dynamics: given {dynamics!r} for a kuramoto model; expected 'clamped': its tokens are "
                "pulled by the held phases of others; leave it out"
            )
        theta = self.layer_inputs(self.check_passage(passage, block))[block]
        return phase_layer(self.typed_blocks()[block], theta, fields)

    def typed_blocks(self) -> list[KuramotoBlock]:
        """Return the blocks, from the input upwards."""
        return cast("list[KuramotoBlock]", list(self.blocks))
