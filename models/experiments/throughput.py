"""Tokens per second of the published comparison: an OSN block beside the matched transformer block.

The public code's figures (github.com/HasiHays/OSN, README) are of a forward pass in float32 on an A100, with
d_model 512, 8 heads, d_ff 2048. Ours are of the same block on the attention op of this package.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import cast

import torch
from torch import Tensor, nn

from hw_targets.triton.bench.clock import Spread, paired_ratio, spread
from oscsim.errors import OscsimError

from ..osn.public import matched_transformer_block, public_compatible_block
from ..osn.public_layer import PublicSynchronizationAttention

WIDTH, HEADS, HIDDEN = 512, 8, 2048
SIZES = ((128, 8), (256, 8), (512, 8), (1024, 4), (2048, 2), (4096, 1))
"""Tokens N and batch of the published table."""

# float32 through 512-wide sums: sqrt(512) roundings of 6e-8 in numbers of order 1, twice over
GATE = 1e-5


@dataclass(frozen=True)
class Throughput:
    """One line: thousand tokens per second of both blocks, and the ratio of their times, round by round."""

    tokens: int
    batch: int
    transformer: Spread
    osn: Spread
    time_ratio: Spread
    transformer_bytes: int | None
    osn_bytes: int | None


@torch.no_grad()
def throughput(device: str, rounds: int, done: Callable[[int], None]) -> list[Throughput]:
    """Measure both blocks, turn by turn, after the OSN block agreed with its own dense reference.

    Parameters
    ----------
    device : "cpu" or "cuda".
    rounds : each runs both blocks once; a first one warms up and does not count.
    done : called with N after each line.

    Raises
    ------
    OscsimError
        the block through the device's op differs from the dense reference: nothing is timed.
    """
    torch.manual_seed(0)
    osn = public_compatible_block(WIDTH, HEADS, HIDDEN).to(device).eval()
    transformer = matched_transformer_block(WIDTH, HEADS, HIDDEN).to(device).eval()
    _gate(osn, device)
    lines = []
    for tokens, batch in SIZES:
        x = torch.randn(batch, tokens, WIDTH, device=device)
        samples: dict[str, list[float]] = {"transformer": [], "osn": []}
        blocks = {"transformer": transformer, "osn": osn}
        for number in range(rounds + 1):
            for name, block in blocks.items():
                seconds = _seconds(block, x)
                if number:
                    samples[name].append(seconds)
        speed = {n: spread([batch * tokens / s / 1e3 for s in found]) for n, found in samples.items()}
        memory = {name: _peak_bytes(block, x) for name, block in blocks.items()}
        ratio = paired_ratio(samples["osn"], samples["transformer"])
        lines.append(
            Throughput(
                tokens, batch, speed["transformer"], speed["osn"], ratio, memory["transformer"], memory["osn"]
            )
        )
        done(tokens)
    return lines


def _gate(osn: nn.Module, device: str) -> None:
    """Some pairs lock and some do not, so both sides of the condition are looked at."""
    layer = cast(PublicSynchronizationAttention, osn.get_submodule("ssa"))
    frequency = layer.get_parameter("W_omega.weight")
    kept = frequency.clone()
    frequency.mul_(0.05)
    x = torch.randn(2, 128, WIDTH, device=device)
    given = osn(x)
    layer.implementation = "eager"
    gap = (osn(x) - given).abs().max().item()
    layer.implementation = None
    frequency.copy_(kept)
    if not gap <= GATE:
        raise OscsimError(
            f"the OSN block is off by {gap:.1e} from its dense reference, allowed is {GATE:.0e}"
        )


def _seconds(block: nn.Module, x: Tensor) -> float:
    if x.is_cuda:
        torch.cuda.synchronize()
    begin = time.perf_counter()
    block(x)
    if x.is_cuda:
        torch.cuda.synchronize()
    return time.perf_counter() - begin


def _peak_bytes(block: nn.Module, x: Tensor) -> int | None:
    """Largest memory torch held on the GPU, parameters and input included, as the public table counts it."""
    if not x.is_cuda:
        return None
    torch.cuda.reset_peak_memory_stats()
    block(x)
    return torch.cuda.max_memory_allocated()
