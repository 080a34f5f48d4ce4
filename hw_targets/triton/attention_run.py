"""Runs a pair layer with frequency coupling on the fused attention op."""

from typing import Any, Protocol

import numpy as np
import torch
from numpy.typing import NDArray

from hw_targets.triton.ops import ssa_attention, synchronization_matrix
from hw_targets.triton.ops.problem import Precision
from hw_targets.triton.plan import Lowered


class Place(Protocol):
    """Where tensors live."""

    def tensor(self, array: NDArray[Any]) -> torch.Tensor:
        """A copy of an array there."""
        ...


def run_attention(
    lowered: Lowered, place: Place, precision: Precision, causal: bool
) -> dict[str, NDArray[Any]]:
    """``sync``, ``locked`` (S > 0, or S = 0 at the edge itself) and ``output``, without the batch axis."""
    given = {name: place.tensor(array) for name, array in lowered.arrays.items()}
    omega, values, padding = given.pop("omega"), given.pop("values"), ~given.pop("valid")
    options: dict[str, Any] = {**given, "causal": causal, "precision": precision, "padding": padding}
    sync = synchronization_matrix(omega, impl="triton", **options)[0].cpu().numpy().astype(np.float64)
    output = ssa_attention(omega, values, impl="triton", **options)[0].cpu().numpy().astype(np.float64)
    return {"sync": sync, "locked": sync > 0, "output": output}
