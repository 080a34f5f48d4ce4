"""How a pull on phases becomes a step: bounded, or the exact flow of held sources."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

from ..softplus import inverse_softplus

# Below this the pull of all sources together counts as none: its direction is rounding (float32).
SMALLEST_PULL = 1e-12

# Below this a distance from the unstable point counts as none; its square is still a float32 number.
UNSTABLE = 1e-15


class Bound(nn.Module):
    """Limit the size of an update: rho u / sqrt(rho^2 + mean_j u_j^2), rho > 0 learned.

    Identity for small u; the root mean square over coordinates never exceeds rho. docs/spec.md [KA]

    >>> float(Bound(2.0)(torch.full((1, 4), 1e9)).detach().square().mean().sqrt().round(decimals=4))
    2.0
    """

    def __init__(self, rho: float) -> None:
        super().__init__()
        self.rho_raw = nn.Parameter(inverse_softplus(torch.tensor(rho, dtype=torch.float64)).float())

    def forward(self, update: Tensor) -> Tensor:
        """Map (..., k) to (..., k)."""
        rho = functional.softplus(self.rho_raw)
        # hypot over coordinates: a square of 1e20 would overflow
        size = torch.linalg.vector_norm(update, dim=-1, keepdim=True) / update.shape[-1] ** 0.5
        return rho * update / torch.hypot(rho, size)


def flow_step(tangent: Tensor, radial: Tensor, reach: Tensor) -> Tensor:
    """Return how far the exact flow of held sources moves a phase, rad, in (-pi, pi).

    theta' = reach Im(G e^{-i theta}) with G held, followed for one unit of time [docs/spec.md, clamped]:
    with C + i a = G e^{-i theta}, R = |G|, x = reach R and m = e^{-|x|},
    step = 2 atan2( (1 - m) a, (R + C) + m (R - C) )    for x >= 0; for x < 0 R - C and R + C change places
    and the sign of a turns.

    Parameters
    ----------
    tangent, radial : a and C, any shape.
    reach : signed rate times duration, same shape; the step is reach a to first order.

    >>> round(flow_step(torch.tensor(1.0), torch.tensor(0.0), torch.tensor(1e3)).item() / torch.pi, 6)
    0.5
    """
    pull = torch.sqrt(tangent.square() + radial.square() + SMALLEST_PULL**2)
    exponent = reach * pull
    shrink = torch.exp(-exponent.abs())
    sign = torch.where(exponent < 0, -1.0, 1.0)
    # R + |C| is exact; of the other one only a^2 / (R + |C|) is, next to the mean or opposite to it
    large = pull + radial.abs()
    small = tangent.square() / large
    towards = sign * radial >= 0
    near, far = torch.where(towards, large, small), torch.where(towards, small, large)
    # a start on the unstable point stays there, with a gradient
    return 2.0 * torch.atan2(
        -sign * torch.expm1(-exponent.abs()) * tangent, (near + shrink * far).clamp_min(UNSTABLE)
    )
