"""From a torch layer and its input to the phase layer that a simulator or a reference takes."""

from __future__ import annotations

from typing import Any, Protocol

from torch import Tensor, nn

from oscsim import EmpiricalOrder, FrequencyCoupling, PhaseLayerSpec
from oscsim.errors import SpecError


class _Layer(Protocol):
    value: nn.Linear
    causal: bool

    @property
    def alpha(self) -> Tensor: ...

    @property
    def gain(self) -> Tensor: ...

    def oscillators(self, hidden: Tensor) -> tuple[Tensor, Tensor, Tensor]: ...


def phase_layer(layer: _Layer, hidden: Tensor, fields: dict[str, Any]) -> PhaseLayerSpec:
    """Return the phase layer of one passage, in float64.

    Parameters
    ----------
    layer : gives frequencies, phases, values, alpha and K.
    hidden : its input, shape (N, width) or (1, N, width).
    fields : further fields of the spec, or others in place of the layer's.

    Raises
    ------
    SpecError
        the input is not one passage, or a field is refused.
    """
    passage = hidden.unsqueeze(0) if hidden.dim() == 2 else hidden
    width = layer.value.in_features
    if passage.dim() != 3 or passage.shape[0] != 1 or passage.shape[-1] != width:
        raise SpecError(
            f"given an input of shape {tuple(hidden.shape)}; expected one passage, (N, "
            f"{width}) or (1, N, {width}); call once for each passage"
        )
    omega, theta, values = (tensor[0].double().cpu().numpy() for tensor in layer.oscillators(passage))
    own: dict[str, Any] = {
        "omega": omega,
        "theta": theta,
        "values": values,
        "coupling": FrequencyCoupling(alpha=layer.alpha.double().cpu().numpy()),
        "gain": layer.gain.double().cpu().numpy(),
        "order_parameter": EmpiricalOrder(),
        "mask": "causal" if layer.causal else "full",
    }
    return PhaseLayerSpec(**{**own, **fields})
