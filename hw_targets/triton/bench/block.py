"""Tokens per second of a whole pre-norm block, with the lengths and batches of the public benchmark.

Batch 8 up to N = 512, halved, quartered and divided by eight beyond 512, 1024 and 2048 tokens, d_model 512,
8 heads, feed-forward width 2048, float32, full mask: github.com/HasiHays/OSN, benchmark.py (MIT). N = 8192 is
ours.
"""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import scaled_dot_product_attention

from hw_targets.triton.bench import clock
from hw_targets.triton.bench.contender import BOTH, FORWARD, Contender
from hw_targets.triton.bench.options import BenchOptions
from hw_targets.triton.bench.ssa_inputs import LOCKED_SHARE, STRENGTH, unit_quantile
from hw_targets.triton.ops.normal_form import normal_form
from hw_targets.triton.ops.order import order_parameter
from hw_targets.triton.ops.ssa import ssa_attention

WIDTH, HEADS = 512, 8
TABLE = ((128, 8), (256, 8), (512, 8), (1024, 4), (2048, 2), (4096, 1), (8192, 1))
OURS, TRANSFORMER = "oscsim block", "transformer block, SDPA"


class _Block(nn.Module):
    def __init__(self, options: BenchOptions, width: int, heads: int) -> None:
        super().__init__()
        self.options, self.heads = options, heads
        self.first, self.second = nn.LayerNorm(width), nn.LayerNorm(width)
        self.mixed, self.output = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.feed = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

    def attend(self, a: Tensor, b: Tensor, values: Tensor) -> Tensor:
        return scaled_dot_product_attention(a, b, values)

    def forward(self, x: Tensor) -> Tensor:
        batch, n, width = x.shape
        parts = self.mixed(self.first(x)).view(batch, n, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        y = self.attend(*parts.contiguous())
        x = x + self.output(y.transpose(1, 2).reshape(batch, n, width))
        return x + self.feed(self.second(x))


class _Synchronizing(_Block):
    """Frequencies, phases and values in place of queries, keys and values; about 30 % of the pairs lock."""

    def __init__(self, options: BenchOptions, width: int, heads: int) -> None:
        super().__init__(options, width, heads)
        self.alpha = nn.Parameter(torch.full((heads,), STRENGTH))
        self.gain = nn.Parameter(torch.full((heads,), STRENGTH))
        channels = width // heads
        # Phases of standard deviation 0.8 have r = exp(-0.32) = 0.73 (a Gaussian's characteristic function).
        deviation, order = 0.8, torch.full((1, heads, 1), math.exp(-0.32))
        radius = float(
            normal_form(self.alpha.detach(), self.gain.detach(), order).inverse_square[0, 0, 0].rsqrt()
        )
        spread = radius / unit_quantile(channels, LOCKED_SHARE, torch.Generator().manual_seed(0))
        with torch.no_grad():
            # Layer-normed inputs: rows of W of variance s^2/width give components of variance s^2.
            self.mixed.weight[:width].normal_(std=spread / math.sqrt(width))
            self.mixed.weight[width : 2 * width].normal_(std=deviation / math.sqrt(width))
            self.mixed.bias[: 2 * width].zero_()

    def attend(self, a: Tensor, b: Tensor, values: Tensor) -> Tensor:
        return ssa_attention(
            a, values, alpha=self.alpha, gain=self.gain, order_parameter=order_parameter(b),
            impl=self.options.implementation,  # pyright: ignore[reportArgumentType]  # checked before
            precision=self.options.precision,  # pyright: ignore[reportArgumentType]
        )  # fmt: skip


def measure(
    options: BenchOptions, table: tuple[tuple[int, int], ...] = TABLE, width: int = WIDTH
) -> list[dict[str, Any]]:
    """Median tokens per second of both blocks, forwards and with the backward pass, at every length."""
    device, rows = torch.device(options.device), []
    torch.manual_seed(options.seed)
    models = {
        OURS: _Synchronizing(options, width, HEADS).to(device),
        TRANSFORMER: _Block(options, width, HEADS).to(device),
    }
    for n, batch in table:
        x = torch.randn(batch, n, width, device=device)
        contenders = [_contender(name, model, x) for name, model in models.items()]
        for what in (FORWARD, BOTH):
            samples = clock.interleaved(contenders, what, options.repeats)
            for name, times in samples.items():
                seconds = clock.spread(times).median
                ratio = clock.paired_ratio(times, samples[TRANSFORMER]).median
                rows.append({
                    "n": n, "batch": batch, "contender": name, "what": what, "seconds": seconds,
                    "tokens_per_s": batch * n / seconds, "to_transformer": ratio,
                })  # fmt: skip
    return rows


def _contender(name: str, model: nn.Module, x: Tensor) -> Contender:
    return Contender(name, lambda: model(x), list(model.parameters()), torch.ones_like(x))
