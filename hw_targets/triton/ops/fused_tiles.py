"""Tiles of the Triton kernels of selective synchronization attention: what compiles without spilling.

The figures of every choice are in docs/targets/triton.md (``python -m hw_targets.triton.compile_report``).
"""

from __future__ import annotations

from typing import Literal, NamedTuple

Kind = Literal["forward", "careful", "symmetric", "roles", "careful_backward", "matrix"]
Numbers = Literal["fast", "accurate", "split", "fp32"]
"""How a kernel's products are formed: "split" is "accurate" with float32 values, in three parts."""


class Tile(NamedTuple):
    """Own and other oscillators of a step, warps and pipeline stages."""

    rows: int
    columns: int
    warps: int
    stages: int


# (up to 64 lanes, up to 128 lanes). wgmma multiplies 64 rows with 4 warps.
_SM_90: dict[Kind, dict[Numbers, tuple[Tile, Tile]]] = {
    "forward": {
        "fast": (Tile(64, 128, 4, 2), Tile(64, 64, 4, 2)),
        "accurate": (Tile(64, 128, 4, 2), Tile(64, 64, 4, 2)),
        "split": (Tile(64, 64, 4, 2), Tile(64, 32, 4, 2)),
        "fp32": (Tile(32, 32, 4, 1), Tile(16, 32, 4, 1)),
    },
    "symmetric": {
        "fast": (Tile(64, 32, 4, 2), Tile(128, 16, 8, 1)),
        "accurate": (Tile(64, 32, 4, 2), Tile(128, 16, 8, 1)),
        "split": (Tile(128, 32, 8, 2), Tile(16, 32, 4, 2)),
        "fp32": (Tile(16, 32, 8, 1), Tile(16, 16, 8, 1)),
    },
    "roles": {
        "fast": (Tile(64, 32, 4, 2), Tile(128, 32, 8, 2)),
        "accurate": (Tile(64, 32, 4, 2), Tile(128, 16, 8, 1)),
        "split": (Tile(64, 32, 4, 2), Tile(16, 32, 4, 2)),
        "fp32": (Tile(16, 32, 8, 1), Tile(16, 16, 8, 1)),
    },
    "careful": {
        "fast": (Tile(32, 32, 8, 1), Tile(32, 32, 8, 1)),
        "accurate": (Tile(32, 32, 8, 1), Tile(32, 32, 8, 1)),
        "split": (Tile(32, 32, 8, 1), Tile(32, 32, 8, 1)),
        "fp32": (Tile(16, 32, 4, 1), Tile(16, 32, 4, 1)),
    },
    "careful_backward": {
        "fast": (Tile(32, 32, 8, 1), Tile(32, 32, 8, 1)),
        "accurate": (Tile(32, 32, 8, 1), Tile(32, 32, 8, 1)),
        "split": (Tile(16, 32, 4, 1), Tile(16, 32, 4, 1)),
        "fp32": (Tile(16, 16, 4, 1), Tile(16, 16, 4, 1)),
    },
    "matrix": {
        "fast": (Tile(64, 64, 4, 1), Tile(64, 64, 4, 1)),
        "accurate": (Tile(64, 64, 4, 1), Tile(64, 64, 4, 1)),
        "split": (Tile(64, 64, 4, 1), Tile(64, 64, 4, 1)),
        "fp32": (Tile(32, 32, 8, 1), Tile(16, 32, 4, 1)),
    },
}

# Elsewhere operands pass through registers, and shared memory may be 64 KiB: smaller steps.
_SMALL: dict[Kind, dict[Numbers, tuple[Tile, Tile]]] = {
    "forward": {
        "fast": (Tile(64, 64, 4, 2), Tile(64, 32, 4, 2)),
        "accurate": (Tile(64, 32, 4, 2), Tile(32, 32, 4, 1)),
        "split": (Tile(64, 32, 4, 2), Tile(16, 32, 4, 1)),
        "fp32": (Tile(32, 32, 4, 1), Tile(16, 32, 4, 1)),
    },
    "symmetric": {
        "fast": (Tile(64, 32, 4, 1), Tile(32, 32, 4, 1)),
        "accurate": (Tile(32, 32, 4, 1), Tile(32, 32, 4, 1)),
        "split": (Tile(32, 32, 4, 1), Tile(16, 16, 4, 1)),
        "fp32": (Tile(16, 32, 8, 1), Tile(16, 16, 8, 1)),
    },
    "matrix": {
        "fast": (Tile(32, 32, 4, 1), Tile(32, 32, 4, 1)),
        "accurate": (Tile(32, 32, 4, 1), Tile(32, 32, 4, 1)),
        "split": (Tile(32, 32, 4, 1), Tile(32, 32, 4, 1)),
        "fp32": (Tile(32, 32, 8, 1), Tile(16, 32, 4, 1)),
    },
    "roles": {
        "fast": (Tile(64, 32, 4, 1), Tile(32, 32, 4, 1)),
        "accurate": (Tile(32, 32, 4, 1), Tile(32, 32, 4, 1)),
        "split": (Tile(16, 32, 4, 1), Tile(16, 16, 4, 1)),
        "fp32": (Tile(16, 32, 8, 1), Tile(16, 16, 8, 1)),
    },
}

_INTERPRETED = Tile(64, 64, 4, 1)


def tile(kind: Kind, numbers: Numbers, lanes: int, architecture: str) -> Tile:
    """Tile of a kernel for operands of ``lanes`` lanes; an architecture not listed takes the small ones.

    >>> tile("forward", "accurate", 64, "sm_90")
    Tile(rows=64, columns=128, warps=4, stages=2)
    """
    if architecture == "interpreter":
        return _INTERPRETED
    table = _SM_90 if architecture == "sm_90" else {**_SM_90, **_SMALL}
    return table[kind][numbers][lanes > 64]
