"""Fused attention ops of phase layers: exact, in memory O(N), differentiable.

``impl`` names who computes: "triton" (GPU; interpreted on CPU tensors), "native" (C++ on the CPU) or "eager"
(dense torch, the readable reference). None takes the device's own; nothing falls back to another one.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hw_targets.triton.ops.decode import SSACache as SSACache
    from hw_targets.triton.ops.frequency_sort import frequency_order as frequency_order
    from hw_targets.triton.ops.frequency_sort import padded_last as padded_last
    from hw_targets.triton.ops.frequency_sort import reorder as reorder
    from hw_targets.triton.ops.frequency_sort import restore as restore
    from hw_targets.triton.ops.kuramoto import kuramoto_attention as kuramoto_attention
    from hw_targets.triton.ops.kuramoto_decode import KuramotoCache as KuramotoCache
    from hw_targets.triton.ops.matrix import synchronization_matrix as synchronization_matrix
    from hw_targets.triton.ops.normal_form import COUPLING_FLOOR as COUPLING_FLOOR
    from hw_targets.triton.ops.order import order_parameter as order_parameter
    from hw_targets.triton.ops.order import prefix_order_parameter as prefix_order_parameter
    from hw_targets.triton.ops.problem import EDGE_SMOOTHING as EDGE_SMOOTHING
    from hw_targets.triton.ops.problem import Edge as Edge
    from hw_targets.triton.ops.problem import Implementation as Implementation
    from hw_targets.triton.ops.problem import Precision as Precision
    from hw_targets.triton.ops.ssa import ssa_attention as ssa_attention
    from hw_targets.triton.ops.tile_map import BlockMap as BlockMap
    from hw_targets.triton.ops.tile_map import block_map as block_map

_HOME = {
    "BlockMap": "tile_map",
    "COUPLING_FLOOR": "normal_form",
    "EDGE_SMOOTHING": "problem",
    "Edge": "problem",
    "Implementation": "problem",
    "KuramotoCache": "kuramoto_decode",
    "Precision": "problem",
    "SSACache": "decode",
    "block_map": "tile_map",
    "frequency_order": "frequency_sort",
    "kuramoto_attention": "kuramoto",
    "order_parameter": "order",
    "padded_last": "frequency_sort",
    "prefix_order_parameter": "order",
    "reorder": "frequency_sort",
    "restore": "frequency_sort",
    "ssa_attention": "ssa",
    "synchronization_matrix": "matrix",
}

__all__ = [
    "COUPLING_FLOOR",
    "EDGE_SMOOTHING",
    "BlockMap",
    "Edge",
    "Implementation",
    "KuramotoCache",
    "Precision",
    "SSACache",
    "block_map",
    "frequency_order",
    "kuramoto_attention",
    "order_parameter",
    "padded_last",
    "prefix_order_parameter",
    "reorder",
    "restore",
    "ssa_attention",
    "synchronization_matrix",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
