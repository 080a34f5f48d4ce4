"""One case at one size: the tensors every contender works on."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor

from hw_targets.triton.bench import kuramoto_inputs, ssa_inputs
from hw_targets.triton.bench.options import BenchOptions, Case

# The others (frequencies, strengths, drifts) stay float32 whatever the run's dtype is.
_IN_RUN_DTYPE = ("values", "theta", "gate_q", "gate_k")


@dataclass(frozen=True, eq=False)
class Workload:
    """Inputs of a case.

    Parameters
    ----------
    learned : arguments that get a gradient; leaves of autograd.
    d_output : (batch, heads, N, width), where the backward pass starts.
    facts : what a reader has to know about these inputs, such as the locked share.
    tiles : block map of the sparse case.
    """

    case: Case
    n: int
    learned: dict[str, Tensor]
    d_output: Tensor
    facts: dict[str, Any] = field(default_factory=dict)
    tiles: Any = None

    @property
    def tokens(self) -> int:
        """Tokens of one call: batch times N."""
        return self.d_output.shape[0] * self.n

    @property
    def bytes_of_inputs(self) -> int:
        """Memory of what is handed in."""
        return sum(x.numel() * x.element_size() for x in (*self.learned.values(), self.d_output))


def build(case: Case, n: int, options: BenchOptions, batch: int | None = None) -> Workload:
    """Draw the inputs; the same seed gives the same numbers on every device."""
    draw = torch.Generator().manual_seed(options.seed)
    shape = (options.batch if batch is None else batch, options.heads, n, options.channels)
    inputs = ssa_inputs if case.kind == "ssa" else kuramoto_inputs
    learned, facts = inputs.draw(case, shape, draw)
    dtype, device = getattr(torch, options.dtype), torch.device(options.device)
    leaves = {
        name: x.to(device, dtype if name in _IN_RUN_DTYPE else torch.float32).requires_grad_(True)
        for name, x in learned.items()
    }
    d_output = torch.randn(shape, generator=draw).to(device, dtype)
    tiles = None
    if case.sparse:
        tiles = ssa_inputs.tiles(case, leaves, options)
        facts |= {"active_tiles": tiles.active_tiles, "active_tile_share": tiles.active_share}
    return Workload(case, n, leaves, d_output, facts, tiles)
