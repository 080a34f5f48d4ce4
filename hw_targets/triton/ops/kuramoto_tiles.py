"""Which kernels a call of Kuramoto attention launches, with which tiles.

What runs is what is compiled ahead of time: both read this table.
"""

from __future__ import annotations

from typing import Any

import torch

from hw_targets.triton.ops.fused_launch import Launch, Tile
from hw_targets.triton.ops.problem import Precision

TOKENS = 128
"""Operands are padded to a multiple of this; every tile size divides it."""

ROOMY_BYTES = 220 * 1024
"""Shared memory per block from which the larger tiles fit."""

_FEATURE_LANES = 2048


def parts_of(operand: torch.dtype, precision: Precision) -> int:
    """How many tensors an operand is stored in: two of float16 for float32-class products, else one."""
    return 2 if precision == "accurate" and operand == torch.float32 else 1


def width_of(channels: int) -> int:
    """Lanes of an operand: two per coordinate, a power of two, at least 16.

    >>> width_of(8), width_of(24)
    (16, 64)
    """
    return 2 * max(8, 1 << (channels - 1).bit_length())


def launches(
    channels: int, causal: bool, operand: torch.dtype, precision: Precision, roomy: bool
) -> dict[str, Launch]:
    """Every kernel of forward and backward, by name."""
    parts, width = parts_of(operand, precision), width_of(channels)
    block = max(16, min(64, _FEATURE_LANES // width))
    shape = {"CHANNELS": channels, "WIDTH": width}
    plan = {
        name: Launch(name, {**shape, "PARTS": parts, "BLOCK": block}, block, 4, 1)
        for name in ("kuramoto_features", "kuramoto_upstream")
    }
    plan["kuramoto_pull_back"] = Launch("kuramoto_pull_back", {**shape, "BLOCK": block}, block, 4, 1)
    for name in ("kuramoto_forward", "kuramoto_by_query", "kuramoto_by_source"):
        tiles = tile_of(name, width, precision, parts, roomy)
        constants: dict[str, Any] = {"WIDTH": width, "PARTS": parts, "CAUSAL": causal}
        if name == "kuramoto_forward":
            constants["CHANNELS"] = channels
        constants |= {"BLOCK_M": tiles.rows, "BLOCK_N": tiles.columns}
        own = tiles.columns if name == "kuramoto_by_source" else tiles.rows
        plan[name] = Launch(name, constants, own, tiles.warps, tiles.stages)
    return plan


def tile_of(name: str, width: int, precision: Precision, parts: int, roomy: bool) -> Tile:
    """Tile sizes that spill no register, from ahead-of-time compilation.

    ``roomy``: at least ROOMY_BYTES of shared memory per block (sm_90 and later); else tiles for 100 KiB, with
    more from k = 65 on.
    """
    if precision == "fp32":
        return _IEEE.get((name, width), Tile(32, 32, 8, 1) if width < 128 else Tile(16, 16, 8, 1))
    if width == 256:
        return _WIDEST[name] if parts == 2 else Tile(32, 32, 4, 1)
    if not roomy:
        return Tile(64, 32, 4, 1) if width < 128 else Tile(32, 32, 4, 1)
    if name == "kuramoto_forward":
        return Tile(128, 128 if width < 128 else 64, 8, 2)
    return Tile(32 if name == "kuramoto_by_source" and width == 128 else 64, 64, 4, 2)


_IEEE = {
    ("kuramoto_forward", 128): Tile(32, 16, 4, 1),
    ("kuramoto_by_query", 128): Tile(16, 16, 8, 1),
    ("kuramoto_by_source", 128): Tile(32, 32, 8, 1),
}
_WIDEST = {
    "kuramoto_forward": Tile(32, 32, 8, 1),
    "kuramoto_by_query": Tile(32, 32, 4, 1),
    "kuramoto_by_source": Tile(32, 16, 4, 1),
}
