"""What is compiled ahead of time: the kernels and constants that the ops launch, from their own tables."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

import torch

from hw_targets.triton.ops import kuramoto_tiles
from hw_targets.triton.ops.fused_launch import (
    Launch,
    Variant,
    backward_launches,
    forward_launches,
    matrix_launches,
    operand_launch,
    pack_launch,
    slope_launch,
)
from hw_targets.triton.ops.order_fused import order_launches
from hw_targets.triton.ops.problem import Precision

ARCHITECTURES = ("sm_90", "sm_80", "gfx942")
WIDTHS = (64, 128, 16)

_POINTER = {"float32": "*fp32", "bfloat16": "*bf16", "float16": "*fp16", "float64": "*fp64"}
_SCALARS = {
    "i32": ("n", "padded", "first_row", "first_plain", "heads", "chunks"),
    "fp32": ("far", "eps", "keep_scale", "vanishing"),
}
_INTEGERS = {
    "*i32": (
        "level", "careful", "careful_in_head", "row_start", "row_columns", "column_start", "column_rows",
    ),
    "*i64": ("words",),
    "*i8": ("valid",),
}  # fmt: skip


@dataclass(frozen=True)
class Case:
    """One kernel as it is launched.

    Parameters
    ----------
    op, options : which op, and what of the call chose this variant, in words.
    width : D and D_v.
    launch : kernel, constants, warps, stages.
    kinds : Triton types of arguments whose type is not the default, by name.
    """

    op: str
    options: str
    width: int
    architecture: str
    launch: Launch
    kinds: dict[str, str]

    @property
    def tile(self) -> tuple[int, int] | None:
        """Rows and columns of a step, or None where there is no tile of scores."""
        constants = self.launch.constants
        return (constants["BLOCK_M"], constants["BLOCK_N"]) if "BLOCK_M" in constants else None

    def signature(self, names: Iterable[str]) -> dict[str, str]:
        """Type of every argument."""
        common = {name: kind for table in (_SCALARS, _INTEGERS) for kind, of in table.items() for name in of}
        given = {**common, **self.kinds}
        return {
            name: "constexpr" if name in self.launch.constants else given.get(name, "*fp32") for name in names
        }


def cases(architecture: str, width: int) -> Iterator[Case]:
    """Every kernel of every op at one head width."""
    for variant in _variants(width, architecture):
        yield from ssa_cases(variant)
    yield from _kuramoto_cases(architecture, width)
    for launch in order_launches(width).values():
        yield Case("order parameter", "", width, architecture, launch, {})


def ssa_cases(variant: Variant) -> Iterator[Case]:
    """The kernels of one variant of selective synchronization attention."""
    launches: dict[str, tuple[Launch, ...]] = {
        "SSA forward": forward_launches(variant),
        "SSA backward": backward_launches(variant),
        "SSA prepare": (operand_launch(variant, True), slope_launch(variant), pack_launch(variant)),
        "SSA matrix": matrix_launches(variant),
    }
    values, operands = _POINTER[variant.values], _POINTER[variant.frequency_kind]
    kinds = dict.fromkeys(("output", "d_output", "d_values", "rows_of"), values)
    kinds |= dict.fromkeys(("values", "gradient", "packed"), _POINTER[variant.value_kind])
    kinds |= {"row": operands, "column": operands, "moved": _POINTER[variant.moved_kind]}
    for op, group in launches.items():
        for launch in group:
            yield Case(op, _words(variant, launch), variant.channels, variant.architecture, launch, kinds)


def _variants(width: int, architecture: str) -> Iterator[Variant]:
    base = Variant(width, width, architecture=architecture)
    for precision, values in (("fast", "bfloat16"), ("accurate", "bfloat16"), ("accurate", "float32")):
        full = replace(base, precision=precision, values=values)
        yield full
        yield replace(full, causal=True)
        yield replace(full, causal=True, per_row=True, sparse=True, dropout=True, padding=True)
    yield replace(base, precision="fp32", values="float32")


def _words(variant: Variant, launch: Launch) -> str:
    flags = {
        "causal": variant.causal,
        "strength per row": variant.per_row,
        "sparse": variant.sparse,
        "dropout": variant.dropout,
        "polynomial": launch.kernel == "ssa_forward_plain" and launch.constants["LEVEL"] == 0,
        "exponential": launch.kernel == "ssa_forward_plain" and launch.constants["LEVEL"] == 1,
    }
    return ", ".join([variant.precision, variant.values, *(word for word, on in flags.items() if on)])


def _kuramoto_cases(architecture: str, width: int) -> Iterator[Case]:
    channels = width // 2  # an operand holds cosine and sine of every coordinate
    options: tuple[tuple[Precision, str], ...] = (
        ("fast", "bfloat16"),
        ("accurate", "float32"),
        ("fp32", "float32"),
    )
    for precision, given in options:
        roomy = architecture == "sm_90"  # kuramoto_tiles.ROOMY_BYTES
        plan = kuramoto_tiles.launches(channels, True, getattr(torch, given), precision, roomy)
        operand = "*fp32" if precision == "fp32" else "*fp16"
        kinds = dict.fromkeys(("query", "key", "value", "d_mean"), operand)
        kinds |= dict.fromkeys(("theta", "gate_q", "gate_k", "d_increment"), _POINTER[given])
        for name, launch in plan.items():
            # the forward kernel writes float32, upstream reads what was saved
            own = {"increment": _POINTER[given]} if name == "kuramoto_upstream" else {}
            yield Case("Kuramoto", f"{precision}, {given}", width, architecture, launch, kinds | own)
