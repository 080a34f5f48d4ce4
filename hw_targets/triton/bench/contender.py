"""One way to compute a case, as something that can be timed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass

import torch
from torch import Tensor

OURS = "oscsim"
SDPA = "SDPA float32"
SDPA_LOW = "SDPA {dtype}"
FLEX = "FlexAttention"
DENSE = "public formula"

FORWARD, BOTH = "forward", "forward+backward"


@dataclass(frozen=True, eq=False)
class Contender:
    """A call, the tensors its gradient is taken by, and where the backward pass starts.

    Parameters
    ----------
    backward : False where there is no backward pass; ``note`` then says why.
    comparable : whether the result has to equal that of the case (SDPA computes something else).
    within : makes a context that every call runs in.
    """

    name: str
    call: Callable[[], Tensor]
    leaves: Sequence[Tensor]
    d_output: Tensor
    backward: bool = True
    comparable: bool = True
    note: str = ""
    within: Callable[[], AbstractContextManager[object]] = nullcontext

    def passes(self) -> tuple[str, ...]:
        """The passes that can be timed."""
        return (FORWARD, BOTH) if self.backward else (FORWARD,)

    def run(self, what: str) -> Sequence[Tensor]:
        """Inference alone, or a forward pass that records and the backward pass after it."""
        with self.within():
            if what == FORWARD:
                with torch.no_grad():
                    return (self.call(),)
            return torch.autograd.grad(self.call(), self.leaves, self.d_output)
