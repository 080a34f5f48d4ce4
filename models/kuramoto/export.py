"""The phase layer of a Kuramoto block: clamped oscillators, coupled by attention."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor

from oscsim import ExplicitCoupling, FixedOrder, PhaseLayerSpec
from oscsim.errors import SpecError

from .attention import circle
from .block import KuramotoBlock


@torch.no_grad()
def phase_layer(block: KuramotoBlock, theta: Tensor, fields: dict[str, Any]) -> PhaseLayerSpec:
    """Return the clamped phase layer that a block makes of the phases of one passage.

    phi' = rho_i sum_j A_ij sin(theta_j - phi_i),  phi(0) = theta, followed for one time unit:
    J = A (the attention weights, causal), K = 1, rho = v T with v the signed rates of the block and T its
    learned times. With ``step="flow"`` the result's phases are exactly what the block computes; with
    ``step="euler"`` the block takes one bounded Euler step of the same equation (docs/spec.md).

    Parameters
    ----------
    block : of a trained model.
    theta : phases that it sees, shape (1, N, k), rad.
    fields : further fields of the spec, such as ``duration`` (default 1) or ``time_unit_s``.

    Raises
    ------
    SpecError
        a block with a value projection (it is no coupling of phases), or a field that the spec refuses.

    >>> from models.kuramoto import KuramotoConfig
    >>> phase_layer(KuramotoBlock(KuramotoConfig(width=8, heads=2)), torch.zeros(1, 5, 8), {}).theta.shape
    (2, 5, 4)
    """
    if block.values == "projection":
        raise SpecError(
            "given a block with a learned value projection; expected values='circular_mean': only that is a "
            "coupling of phases; export another model"
        )
    attention = block.attention
    phases = _array(attention.split(theta))
    defaults: dict[str, Any] = {
        "omega": np.zeros_like(phases),
        "theta": phases,
        "coupling": ExplicitCoupling(_array(attention.weights(theta))),
        "gain": np.ones(attention.heads),
        "order_parameter": FixedOrder(np.ones(attention.heads)),
        "mask": "causal",
        "rate": _array(attention.split(block.rate(circle(theta)) * block.time)),
        "duration": 1.0,
        "dynamics": "clamped",
    }
    return PhaseLayerSpec(**{**defaults, **fields})


def _array(heads_first: Tensor) -> np.ndarray:
    return heads_first[0].double().cpu().numpy()
