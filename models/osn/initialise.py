"""Initialise a layer or a model from a wanted locked fraction, through the lock radius.

Untuned, squared distances between frequencies concentrate far outside the lock radius, nothing
locks, and a layer in which nothing locks has no gradient to recover by. So frequencies are scaled
to the lock radius on real tokens, block after block; correlated tokens need no correction then.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor

from oscsim.closed_form import lock_radius
from oscsim.errors import SpecError

from ..softplus import inverse_softplus
from .attention import SynchronizationAttention, computed_by
from .mismatch import squared_mismatch, visible_pairs

if TYPE_CHECKING:
    from .language_model import OSNLanguageModel


@torch.no_grad()
def initialise_layer(
    layer: SynchronizationAttention,
    hidden: Tensor,
    wanted: float,
    sharpness: tuple[float, float] = (3.0, 8.0),
    position_share: tuple[float, float] = (0.95, 0.6),
) -> None:
    """Scale a layer's frequencies so that a wanted share of the pairs it can see locks.

    d*_i = sqrt( W0(2 alpha (K r_i)^2) / (2 alpha) )   [SSA], W0 the Lambert function

    Frequencies scaled by c lock where c <= d*_i / d_ij, so c is the (1 - wanted) quantile of
    d*_i / d_ij over the pairs of real inputs (j < i when causal, else j != i), head by head.

    Parameters
    ----------
    layer : changed in place: frequency projection, ramp, alpha and K.
    hidden : real inputs of the layer, shape (B, N, width), N >= 2.
    wanted : locked fraction of the pairs, in (0, 1).
    sharpness : W0(2 alpha (K r)^2) of the first and of the last head: how fast S falls inside
        the lock radius, which itself starts near 1 rad per time unit.
    position_share : share of the ramp in the mean squared mismatch, first and last head.

    Raises
    ------
    SpecError
        ``wanted`` is not inside (0, 1), there are no pairs, or all tokens are alike.

    >>> layer = SynchronizationAttention(width=8, heads=2, channels=4)
    >>> hidden = torch.randn(4, 32, 8, generator=torch.Generator().manual_seed(0))
    >>> initialise_layer(layer, hidden, wanted=0.5)
    >>> layer.implementation = "eager"
    >>> round(layer.locked(hidden)[..., torch.ones(32, 32).tril(-1).bool()].float().mean().item(), 2)
    0.5
    """
    if not 0.0 < wanted < 1.0 or hidden.dim() != 3 or hidden.shape[1] < 2:
        raise SpecError(
            f"given a wanted locked fraction {wanted} and inputs of shape {tuple(hidden.shape)}; "
            "expected a fraction between 0 and 1 and inputs (B, N >= 2, width); correct either"
        )
    with computed_by([layer], "eager"):
        order = layer.order(layer.oscillators(hidden).theta)
    exponent = _across_heads(sharpness, layer).to(hidden)
    # With w the sharpness, d* = K r exp(-w/2) = sqrt(w / (2 alpha)), which is 1 here.
    layer.alpha_raw.copy_(inverse_softplus(exponent / 2.0))
    layer.gain_raw.copy_(inverse_softplus(torch.exp(exponent / 2.0) / order.mean(dim=(0, 2))))
    _share_position(layer, hidden, _across_heads(position_share, layer).to(hidden))
    reach = _reach(layer, hidden, order)
    for head in range(layer.heads):
        scale = _quantile_between(reach[:, head].flatten(), 1.0 - wanted)
        layer.ramp[head] *= scale
        layer.frequency.weight.view(layer.heads, layer.channels - 1, -1)[head] *= scale


def _across_heads(ends: tuple[float, float], layer: SynchronizationAttention) -> Tensor:
    """Heads share a range geometrically, so that they start with different windows."""
    return torch.from_numpy(np.geomspace(ends[0], ends[1], layer.heads))


def _share_position(layer: SynchronizationAttention, hidden: Tensor, share: Tensor) -> None:
    """Set the ramp so that it has the wanted share of the mean squared mismatch."""
    content = squared_mismatch(layer.oscillators(hidden).omega[..., 1:]).mean(dim=(0, 2, 3))
    steps = torch.arange(hidden.shape[1], dtype=hidden.dtype, device=hidden.device)
    position = squared_mismatch(steps.unsqueeze(-1)).mean()
    layer.ramp.copy_(torch.sqrt(share / (1.0 - share) * content / position))


def _reach(layer: SynchronizationAttention, hidden: Tensor, order: Tensor) -> Tensor:
    """d*_i / d_ij of the visible pairs, shape (B, H, pairs); infinite where d = 0."""
    alpha, gain, r = (t.double().cpu().numpy() for t in (layer.alpha[:, None], layer.gain[:, None], order))
    radius = torch.from_numpy(lock_radius(alpha, gain, r)).to(hidden)
    distance = squared_mismatch(layer.oscillators(hidden).omega).sqrt()
    return (radius.unsqueeze(-1) / distance)[..., visible_pairs(layer.causal, distance)]


def _quantile_between(values: Tensor, share: float) -> Tensor:
    """A number with this share of the values below it, halfway so that no pair is at its edge."""
    ordered = values[torch.isfinite(values)].sort().values
    if ordered.numel() < 2:
        raise SpecError(
            "given inputs whose tokens are all alike; expected tokens that differ, from a real text; "
            "initialise on other passages"
        )
    above = min(max(1, round(share * values.numel())), ordered.numel() - 1)
    return 0.5 * (ordered[above - 1] + ordered[above])


@torch.no_grad()
def initialise_model(model: OSNLanguageModel, passages: Tensor, wanted: float) -> None:
    """Initialise every layer from a wanted locked fraction, from the input upwards.

    Parameters
    ----------
    model : changed in place.
    passages : real passages, shape (B, N), int64.
    wanted : locked fraction of the visible pairs of every head, in (0, 1).

    Raises
    ------
    SpecError
        as :func:`initialise_layer`.

    >>> from models.osn import OSNConfig, OSNLanguageModel
    >>> model = OSNLanguageModel(OSNConfig())
    >>> initialise_model(model, torch.arange(256).view(4, 64), wanted=0.4)
    """
    model.visit(passages, lambda layer, hidden: initialise_layer(layer, hidden, wanted))
