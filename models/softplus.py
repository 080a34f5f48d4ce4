"""What a raw parameter starts from when its softplus shall start from a wanted value."""

from __future__ import annotations

import torch
from torch import Tensor


def inverse_softplus(wanted: Tensor) -> Tensor:
    """Return x with softplus(x) = wanted > 0, elementwise.

    >>> round(torch.nn.functional.softplus(inverse_softplus(torch.tensor(3.0))).item(), 6)
    3.0
    """
    return wanted + torch.log(-torch.expm1(-wanted))
