"""The phase layer of a Kuramoto block: clamped oscillators, coupled by attention."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor

from oscsim import ExplicitCoupling, FixedOrder, PhaseLayerSpec
from oscsim.errors import SpecError

from ..language_model import check_tokens
from .attention import circle

if TYPE_CHECKING:
    from .language_model import KuramotoLanguageModel


@torch.no_grad()
def phase_layer(
    model: KuramotoLanguageModel, passage: str | bytes | Tensor, block: int, fields: dict[str, Any]
) -> PhaseLayerSpec:
    """Return the clamped phase layer that a block makes of one real passage.

    phi' = rho_i sum_j A_ij sin(theta_j - phi_i),  phi(0) = theta, followed for one time unit:
    J = A (the attention weights, causal), K = 1, rho = v T with v the signed rates of the block and T its
    learned times. With ``step="flow"`` the result's phases are exactly what the block computes; with
    ``step="euler"`` the block takes one bounded Euler step of the same equation (docs/spec.md).

    Parameters
    ----------
    model : a trained model.
    passage : text, bytes, or tokens of shape (N,).
    block : which block, counted from the input.
    fields : further fields of the spec, such as ``duration`` (default 1) or ``time_unit_s``.

    Raises
    ------
    SpecError
        no such block, an empty passage, a block with a value projection (it is no coupling of phases), or a
        field that the spec refuses.

    >>> from models.kuramoto import KuramotoConfig, KuramotoLanguageModel
    >>> KuramotoLanguageModel(KuramotoConfig(width=8, heads=2)).to_spec("phase").theta.shape
    (2, 5, 4)
    """
    tokens = model.encode(passage) if isinstance(passage, (str, bytes)) else passage
    check_tokens(tokens)
    _check_block(model, block)
    if not tokens.numel():
        raise SpecError("given an empty passage; expected at least one byte; pass some text")
    theta = model.layer_inputs(tokens.to(model.device).unsqueeze(0))[block]
    chosen = model.typed_blocks()[block]
    if chosen.values == "projection":
        raise SpecError(
            "given a block with a learned value projection; expected values='circular_mean': only that is a "
            "coupling of phases; export another model"
        )
    attention = chosen.attention
    phases = _array(attention.split(theta))
    defaults: dict[str, Any] = {
        "omega": np.zeros_like(phases),
        "theta": phases,
        "coupling": ExplicitCoupling(_array(attention.weights(theta))),
        "gain": np.ones(attention.heads),
        "order_parameter": FixedOrder(np.ones(attention.heads)),
        "mask": "causal",
        "rate": _array(attention.split(chosen.rate(circle(theta)) * chosen.time)),
        "duration": 1.0,
        "dynamics": "clamped",
    }
    return PhaseLayerSpec(**{**defaults, **fields})


def _array(heads_first: Tensor) -> np.ndarray:
    return heads_first[0].double().cpu().numpy()


def _check_block(model: KuramotoLanguageModel, block: int) -> None:
    if not 0 <= block < len(model.blocks):
        raise SpecError(
            f"given block {block}; expected 0 to {len(model.blocks) - 1}; "
            "count blocks from the input, starting at 0"
        )
