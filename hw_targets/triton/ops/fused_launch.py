"""Which Triton kernels a call of selective synchronization attention launches, with which tiles.

What runs is what is compiled ahead of time (hw_targets.triton.compile_report): both read this table.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

from hw_targets.triton.ops.fused_table import degree
from hw_targets.triton.ops.fused_tiles import Kind, Numbers, Tile, tile
from hw_targets.triton.ops.problem import Edge, Precision
from hw_targets.triton.ops.tile_shape import TRITON_TILE

MAP_ROWS, MAP_COLUMNS = TRITON_TILE
"""Tile of a BlockMap; the steps of every kernel divide it."""

TOKENS = 128
"""Operands are padded to a multiple of this."""

LEVEL_BLOCK = 64
"""Rows per program of the preparing kernels, and per entry of the list of careful tiles."""

EDGES = {"exact": 0, "smooth": 1, "clamp": 2}


@dataclass(frozen=True)
class Variant:
    """What of a call decides the compiled code.

    Parameters
    ----------
    channels, value_width : D and D_v.
    values : dtype of the values: "float32", "float16" or "bfloat16".
    precision, causal, edge : as in SSAProblem.
    per_row : one strength per row instead of one per head.
    sparse, dropout, padding : whether there is a BlockMap, dropout, a padding mask.
    architecture : "sm_80", "sm_90", "gfx942", ..., or "interpreter".
    """

    channels: int
    value_width: int
    values: str = "bfloat16"
    precision: Precision = "accurate"
    causal: bool = False
    edge: Edge = "smooth"
    per_row: bool = False
    sparse: bool = False
    dropout: bool = False
    padding: bool = False
    architecture: str = "sm_90"

    @property
    def interpreted(self) -> bool:
        """Whether the kernels run in the interpreter."""
        return self.architecture == "interpreter"

    @property
    def width(self) -> int:
        """Lanes of a frequency operand."""
        return power_of_two(self.channels)

    @property
    def value_lanes(self) -> int:
        """Lanes of a values operand."""
        return power_of_two(self.value_width)

    @property
    def parts(self) -> int:
        """Operands of the frequency product: two halves of float16, or one number."""
        return 2 if self.precision == "accurate" else 1

    @property
    def moved_parts(self) -> int:
        """Parts of the frequencies in the product with dL/dS (bfloat16, which holds any gradient)."""
        return 2 if self.precision == "accurate" else 1

    @property
    def value_parts(self) -> int:
        """Parts of values and their gradients: float32 ones as the sum of three bfloat16."""
        return 3 if self.precision == "accurate" and self.values == "float32" else 1

    @property
    def value_kind(self) -> str:
        """Type of a part of values; "fast" rounds float32 to bfloat16."""
        rounded = self.values == "float32" and self.precision != "fp32"
        return "bfloat16" if rounded else self.values

    @property
    def moved_kind(self) -> str:
        """Type of a part of the frequencies in the product with dL/dS."""
        return "float32" if self.precision == "fp32" else "bfloat16"

    @property
    def frequency_kind(self) -> str:
        """Type of a part of the frequencies in the product that gives 1 - u."""
        return "float32" if self.precision == "fp32" else "float16"

    @property
    def symmetric(self) -> bool:
        """Whether S is symmetric, so that one pass serves both roles of an oscillator."""
        return not (self.causal or self.per_row or self.dropout)


class Launch(NamedTuple):
    """One kernel: compile-time constants, rows per program, and how it is compiled."""

    kernel: str
    constants: dict[str, Any]
    rows: int
    warps: int
    stages: int


def power_of_two(number: int) -> int:
    """The smallest power of two that is at least ``number`` and 16.

    >>> power_of_two(65), power_of_two(1)
    (128, 16)
    """
    return max(16, 1 << (number - 1).bit_length())


def operand_launch(variant: Variant, backward: bool) -> Launch:
    """Operands, norms and levels."""
    constants = {
        "CHANNELS": variant.channels,
        "WIDTH": variant.width,
        "PER_ROW": variant.per_row,
        "PARTS": variant.parts,
        "MOVED": variant.moved_parts if backward else 0,
        "VALID": variant.padding,
        "INTERPRETED": variant.interpreted,
        "BLOCK": LEVEL_BLOCK,
    }
    return Launch("ssa_operands", constants, LEVEL_BLOCK, 8, 1)


def pack_launch(variant: Variant) -> Launch:
    """Values or their gradients as operands."""
    constants = {
        "USED": variant.value_width,
        "WIDTH": variant.value_lanes,
        "PARTS": variant.value_parts,
        "VALID": variant.padding,
        "INTERPRETED": variant.interpreted,
        "BLOCK": LEVEL_BLOCK,
    }
    return Launch("ssa_pack", constants, LEVEL_BLOCK, 4, 1)


def slope_launch(variant: Variant) -> Launch:
    """1/total and g.y/total."""
    constants = {"USED": variant.value_width, "WIDTH": variant.value_lanes, "BLOCK": LEVEL_BLOCK}
    return Launch("ssa_slopes", constants, LEVEL_BLOCK, 4, 1)


def forward_launches(variant: Variant) -> tuple[Launch, ...]:
    """Three launches, one per level; a program without rows of its level ends at once."""
    shared = {**_mask(variant), **_values(variant), **_map(), "PRODUCT": "ieee"}
    plain = {**shared, **_plain(variant), "DEGREE": degree(variant.precision)}
    careful = {**shared, "PER_ROW": variant.per_row, "CHANNELS": variant.channels}
    return (
        _tiled("ssa_forward_plain", {**plain, "LEVEL": 0}, _tile("forward", variant)),
        _tiled("ssa_forward_plain", {**plain, "LEVEL": 1}, _tile("forward", variant)),
        _tiled("ssa_forward_careful", careful, _tile("careful", variant)),
    )


def backward_launches(variant: Variant) -> tuple[Launch, ...]:
    """Plain rows, then what careful rows add."""
    shared = {**_values(variant), **_map(), "PRODUCT": "ieee", "EDGE": EDGES[variant.edge]}
    shared |= {"SPARSE": variant.sparse, "CHANNELS": variant.channels}
    plain = {**shared, **_plain(variant), "MOVED": variant.moved_parts}
    mask = {"CAUSAL": variant.causal, "DROPOUT": variant.dropout}
    if variant.symmetric:
        del plain["PER_ROW"]
        first = _tiled("ssa_backward_symmetric", plain, _tile("symmetric", variant))
    else:
        first = _tiled("ssa_backward_plain", {**plain, **mask}, _tile("roles", variant))
    careful = {**shared, **mask, "PER_ROW": variant.per_row, "LEVEL_BLOCK": LEVEL_BLOCK}
    return first, _tiled("ssa_backward_careful", careful, _tile("careful_backward", variant))


def matrix_launches(variant: Variant) -> tuple[Launch, ...]:
    """The matrix S, level by level."""
    shared = {**_plain(variant), "CAUSAL": variant.causal, "CHANNELS": variant.channels}
    shared["DEGREE"] = degree(variant.precision)
    return tuple(
        _tiled("ssa_matrix", {**shared, "LEVEL": level}, _tile("matrix", variant)) for level in range(3)
    )


def _tiled(kernel: str, constants: dict[str, Any], tile: Tile) -> Launch:
    blocks = {"BLOCK_M": tile.rows, "BLOCK_N": tile.columns}
    return Launch(kernel, {**constants, **blocks}, tile.rows, tile.warps, tile.stages)


def _mask(variant: Variant) -> dict[str, Any]:
    return {"CAUSAL": variant.causal, "SPARSE": variant.sparse, "DROPOUT": variant.dropout}


def _map() -> dict[str, Any]:
    return {"MAP_M": MAP_ROWS, "MAP_N": MAP_COLUMNS}


def _values(variant: Variant) -> dict[str, Any]:
    return {
        "VALUES": variant.value_width,
        "VALUE_WIDTH": variant.value_lanes,
        "VALUE_PARTS": variant.value_parts,
        "INTERPRETED": variant.interpreted,
    }


def _plain(variant: Variant) -> dict[str, Any]:
    return {
        "PER_ROW": variant.per_row,
        "PARTS": variant.parts,
        "PRECISION": "ieee",
        "WIDTH": variant.width,
        "INTERPRETED": variant.interpreted,
    }


def _tile(kind: Kind, variant: Variant) -> Tile:
    numbers: Numbers = variant.precision
    if variant.value_parts > 1:
        numbers = "split"
    lanes = variant.width if kind == "matrix" else max(variant.width, variant.value_lanes)
    return tile(kind, numbers, lanes, variant.architecture)
