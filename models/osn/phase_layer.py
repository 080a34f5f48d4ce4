"""From a torch layer and its input to the phase layer that a simulator or a reference takes."""

from __future__ import annotations

from typing import Any

from torch import Tensor

from oscsim import EmpiricalOrder, FrequencyCoupling, PhaseLayerSpec
from oscsim.errors import SpecError


def one_passage(hidden: Tensor, width: int) -> Tensor:
    """Return the input of a layer as (1, N, width); SpecError unless it is one passage of this width."""
    passage = hidden.unsqueeze(0) if hidden.dim() == 2 else hidden
    if passage.dim() != 3 or passage.shape[0] != 1 or passage.shape[-1] != width:
        raise SpecError(
            f"given an input of shape {tuple(hidden.shape)}; expected one passage, (N, "
            f"{width}) or (1, N, {width}); call once for each passage"
        )
    return passage


def phase_layer(
    oscillators: tuple[Tensor, Tensor, Tensor],
    alpha: Tensor,
    gain: Tensor,
    causal: bool,
    fields: dict[str, Any],
) -> PhaseLayerSpec:
    """Return the phase layer of one passage, in float64, with the empirical order parameter.

    Parameters
    ----------
    oscillators : frequencies, phases (1, H, N, D) and values (1, H, N, D_v).
    alpha : shape (H,), (time unit)^2 / rad^2.
    gain : shape (H,), rad per time unit.
    causal : mask and order parameter leave later tokens out.
    fields : further fields of the spec.

    Raises
    ------
    SpecError
        a field is refused.
    """
    omega, theta, values = (tensor[0].double().cpu().numpy() for tensor in oscillators)
    own: dict[str, Any] = {
        "omega": omega,
        "theta": theta,
        "values": values,
        "coupling": FrequencyCoupling(alpha=alpha.double().cpu().numpy()),
        "gain": gain.double().cpu().numpy(),
        "order_parameter": EmpiricalOrder(),
        "mask": "causal" if causal else "full",
    }
    return PhaseLayerSpec(**{**own, **fields})
