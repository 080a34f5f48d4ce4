"""From bandwidth, gain and order parameter to lock radius and selectivity, and back for gradients.

With L = K r:  w = W_0(2 alpha L^2),  1/d*^2 = 2 alpha / w = exp(w) / L^2  (docs/spec.md section 2). In units
of d*, S depends on u = d^2/d*^2 and w alone: S^2 = exp(-w u) - u exp(-w).
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from oscsim.errors import ConfigError

# 1/L^3 of a weaker layer comes near the end of float32: it counts as uncoupled, K r = 0.
COUPLING_FLOOR = torch.finfo(torch.float32).tiny ** 0.25
_ITERATIONS = 6


class NormalForm(NamedTuple):
    """Inverse squared lock radius (0 where uncoupled), selectivity, and which rows are coupled; (B, H, R)."""

    inverse_square: Tensor
    selectivity: Tensor
    coupled: Tensor


def lambert_w(x: Tensor) -> Tensor:
    """Principal branch of w exp(w) = x for x >= 0, float64, to a few units in the last place.

    Newton steps on log w + w = log x for x > e, where it is nearly linear, and on the equation itself below;
    starting value: Iacono and Boyd, Adv. Comput. Math. 43 (2017).

    >>> lambert_w(torch.tensor([0.0, torch.e], dtype=torch.float64)).tolist()
    [0.0, 1.0]
    """
    logarithm = torch.log1p(x)
    w = logarithm * (1.0 - torch.log1p(logarithm) / (2.0 + logarithm))
    large, log_x = x > torch.e, torch.log(x.clamp(min=1.0))
    for _ in range(_ITERATIONS):
        small_step = (w - x * torch.exp(-w)) / (1.0 + w)
        large_step = (w.clamp(min=0.5).log() + w - log_x) * w / (1.0 + w)
        w = w - torch.where(large, large_step, small_step)
    return w


def normal_form(alpha: Tensor, gain: Tensor, order_parameter: Tensor) -> NormalForm:
    """Return the normal form of every row.

    Parameters
    ----------
    alpha, gain : (H,).
    order_parameter : (B, H, R).
    """
    strength = _strength(gain, order_parameter)
    coupled = strength > COUPLING_FLOOR
    strength = torch.where(coupled, strength, 1.0)
    w = lambert_w(2.0 * alpha.double()[:, None] * strength.square())
    inverse_square = torch.exp(w) / strength.square()
    return NormalForm(torch.where(coupled, inverse_square, 0.0), torch.where(coupled, w, 0.0), coupled)


def pull_back(
    log_inverse_square: Tensor,
    selectivity: Tensor,
    form: NormalForm,
    alpha: Tensor,
    gain: Tensor,
    order_parameter: Tensor,
) -> tuple[Tensor, Tensor, Tensor]:
    """Turn gradients by log c and w (both (B, H, R)) into those by alpha (H,), gain (H,) and r (B, H, R).

    ``form`` is the normal form of these alpha, gain and order_parameter.

    d log c/dL = -2/(L (1 + w)),  dw/dL = 4 alpha L e^-w/(1 + w),
    d log c/d alpha = dw/d alpha = 2 L^2 e^-w/(1 + w).  Uncoupled rows give zero.
    """
    strength = torch.where(form.coupled, _strength(gain, order_parameter), 1.0)
    a, w = alpha.double()[:, None], form.selectivity
    decay = torch.exp(-w) / (1.0 + w)
    by_radius, by_selectivity = log_inverse_square.double(), selectivity.double()
    by_alpha = (by_radius + by_selectivity) * 2.0 * strength.square() * decay
    by_strength = -2.0 * by_radius / (strength * (1.0 + w)) + by_selectivity * 4.0 * a * strength * decay
    by_alpha, by_strength = (torch.where(form.coupled, x, 0.0) for x in (by_alpha, by_strength))
    by_gain = by_strength * order_parameter.double()
    return (
        by_alpha.sum(dim=(0, 2)).to(alpha.dtype),
        by_gain.sum(dim=(0, 2)).to(gain.dtype),
        (by_strength * gain.double()[:, None]).to(order_parameter.dtype),
    )


def check_finite(**given: Tensor) -> None:
    """ConfigError when a strength is negative, infinite or NaN; on a GPU an asynchronous device assertion.

    >>> check_finite(alpha=torch.tensor([-1.0]))
    Traceback (most recent call last):
        ...
    oscsim.errors.ConfigError: alpha: given -1, expected finite numbers >= 0
    """
    for name, tensor in given.items():
        fine = (tensor.isfinite() & (tensor >= 0)).all()
        if tensor.is_cuda:
            torch.ops.aten._assert_async.msg(fine, f"{name}: expected finite numbers >= 0")
        elif not fine:
            bad = tensor[~(tensor.isfinite() & (tensor >= 0))].flatten()[0].item()
            raise ConfigError(f"{name}: given {bad:g}, expected finite numbers >= 0")


def _strength(gain: Tensor, order_parameter: Tensor) -> Tensor:
    return gain.double()[:, None] * order_parameter.double()
