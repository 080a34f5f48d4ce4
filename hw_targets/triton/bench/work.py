"""Nominal work of a case, the same for every contender: what achieved FLOPs and bandwidth are relative to."""

from __future__ import annotations

from hw_targets.triton.bench.contender import FORWARD
from hw_targets.triton.bench.workload import Workload

# Products of (N, N) with (N, D) per head: distances and values forwards; five more backwards (scores again,
# by weights, by values, by targets, by sources), as softmax attention is counted by convention.
_FORWARD_PRODUCTS, _BACKWARD_PRODUCTS = 2, 5


def teraflop(load: Workload, what: str) -> float:
    """Multiply-adds counted twice, of the pairs the mask and the block map leave, in 10^12."""
    batch, heads, n, channels = load.d_output.shape
    width = 2 * channels if load.case.kind == "kuramoto" else channels
    pairs = batch * heads * n * (n + 1) / 2 if load.case.causal else batch * heads * n * n
    products = _FORWARD_PRODUCTS + (0 if what == FORWARD else _BACKWARD_PRODUCTS)
    return 2.0 * pairs * load.facts.get("active_tile_share", 1.0) * width * products / 1e12


def gbytes(load: Workload, what: str) -> float:
    """Every input read and every result written once, in 10^9 bytes."""
    inputs = sum(x.numel() * x.element_size() for x in load.learned.values())
    output = load.d_output.numel() * load.d_output.element_size()
    return (inputs + output if what == FORWARD else 2 * inputs + 2 * output) / 1e9
