"""Keep locked fractions in range while a model trains: a monitor that warns, and a regulariser.

Left alone, training narrows the heads: sharper windows predict characters better. On the shipped text
the default training without the regulariser ends with heads that lock 6 to 23 % of their pairs, at 2.09
bits per character; with it, 24 to 35 %, at 2.12. Near zero a head would stay there, because unlocked
pairs have no gradient.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence

import torch
from torch import Tensor
from torch.nn import functional

from hw_targets.triton.ops import COUPLING_FLOOR

from .attention import SynchronizationAttention
from .mismatch import squared_mismatch
from .osn import OSNLanguageModel

LOCKED_RANGE = (0.2, 0.8)
"""Locked fractions outside this range are warned about."""


class LockedFractionWarning(UserWarning):
    """A head locks too few or too many of its pairs."""


def warn_if_outside(fractions: Tensor, step: int, limits: tuple[float, float] = LOCKED_RANGE) -> None:
    """Warn for every head whose locked fraction is out of range.

    Parameters
    ----------
    fractions : shape (blocks, H), in [0, 1].
    step : training steps done, for the message.
    limits : smallest and largest fraction that raise no warning.

    Warns
    -----
    LockedFractionWarning
        names the block, the head and its locked fraction.
    """
    low, high = limits
    for block, head in ((fractions < low) | (fractions > high)).nonzero().tolist():
        warnings.warn(
            f"step {step}: block {block} head {head} locks {fractions[block, head].item():.1%} of its "
            f"pairs; expected {low:.0%} to {high:.0%}; raise locked_weight or lower frequency_rate",
            LockedFractionWarning,
            stacklevel=2,
        )


def soft_locked_fraction(layer: SynchronizationAttention, hidden: Tensor, softness: float) -> Tensor:
    """Return a differentiable locked fraction of the pairs j < i, shape (H,).

    f = mean_{j<i} sigmoid( ln(a_ij / d_ij) / softness ),  a_ij = K r_i exp(-alpha d_ij^2)

    The sigmoid replaces the step of the lock condition d <= a [SSA] and gives unlocked pairs a
    gradient. It tends to the locked fraction as ``softness`` (dimensionless) tends to 0.

    Parameters
    ----------
    layer : the layer.
    hidden : its inputs, shape (B, N, width), N >= 2.
    softness : width of the sigmoid, > 0.

    >>> layer = SynchronizationAttention(width=8, heads=2, channels=4)
    >>> soft_locked_fraction(layer, torch.zeros(1, 5, 8), softness=0.2).shape
    torch.Size([2])
    """
    oscillators = layer.oscillators(hidden)
    mismatch = squared_mismatch(oscillators.omega)
    # logarithms of zero have no gradient
    strength = layer.locking(oscillators.theta).clamp(min=COUPLING_FLOOR).log().unsqueeze(-1)
    distance = 0.5 * mismatch.clamp(min=COUPLING_FLOOR**2).log()
    margin = strength - layer.alpha[:, None, None] * mismatch - distance
    below = torch.ones_like(mismatch[0, 0]).tril(-1)
    share = torch.sigmoid(margin / softness) * below
    return share.sum(dim=(0, 2, 3)) / (below.sum() * hidden.shape[0])


def locked_fraction_penalty(
    model: OSNLanguageModel, inputs: Sequence[Tensor], target: tuple[float, float], softness: float = 0.2
) -> Tensor:
    """Return the regulariser, a scalar: zero while every soft locked fraction is in the target.

    R = sum over blocks and heads of relu(low - f)^2 + relu(f - high)^2

    Gradients reach the oscillators of each layer (W_omega, ramp, W_theta, alpha, K) but not the
    layers before it, which are left to the text.

    Parameters
    ----------
    model : the model.
    inputs : what each layer saw, (B, N, width) per block.
    target : low and high end of the soft fraction.
    softness : see :func:`soft_locked_fraction`.
    """
    low, high = target
    total = inputs[0].new_zeros(())
    for block, hidden in enumerate(inputs):
        soft = soft_locked_fraction(model.layer(block), hidden.detach(), softness)
        outside = functional.relu(low - soft) + functional.relu(soft - high)
        total = total + outside.square().sum()
    return total
