"""Keep locked fractions in range while a model trains: a monitor that warns, and a regulariser.

Left alone, training narrows the heads: sharper windows predict text better. Near zero locked pairs a
head would stay there, because unlocked pairs have no gradient.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence

import torch
from torch import Tensor
from torch.nn import functional

from hw_targets.triton.ops import COUPLING_FLOOR

from .attention import SynchronizationAttention
from .mismatch import squared_mismatch, visible_pairs
from .processes import process_count, process_rank, sum_over_processes

SLACK = 0.2
"""A head is warned about when it is this share of the way from the target range to locking none or all."""


class LockedFractionWarning(UserWarning):
    """A head locks too few or too many of its pairs."""


def watched_range(target: tuple[float, float]) -> tuple[float, float]:
    """Return the locked fractions that raise no warning, a little wider than what the regulariser wants.

    >>> [round(end, 2) for end in watched_range((0.25, 0.75))]
    [0.2, 0.8]
    """
    low, high = target
    return (1.0 - SLACK) * low, 1.0 - (1.0 - SLACK) * (1.0 - high)


def warn_if_outside(fractions: Tensor, step: int, limits: tuple[float, float]) -> None:
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


@torch.no_grad()
def locked_fraction(layer: SynchronizationAttention, hidden: Tensor) -> Tensor:
    """Return the share of the pairs of different tokens that lock, of those the layer sees.

    Parameters
    ----------
    layer : causal, then these are the pairs j < i, or not: j != i.
    hidden : its inputs, shape (B, N, width), N >= 2.

    Returns
    -------
    shape (H,), float64, in [0, 1].
    """
    locked = layer.locked(hidden)
    return locked[..., visible_pairs(layer.causal, locked)].double().mean(dim=(0, 2))


def soft_locked_fraction(layer: SynchronizationAttention, hidden: Tensor, softness: float) -> Tensor:
    """Return a differentiable locked fraction of the visible pairs, shape (H,).

    f = mean_ij sigmoid( ln(a_ij / d_ij) / softness ),  a_ij = K r_i exp(-alpha d_ij^2),  j < i or j != i

    The sigmoid replaces the step of the lock condition d <= a [SSA] and gives unlocked pairs a
    gradient. It tends to the locked fraction as ``softness`` (dimensionless) tends to 0.

    Parameters
    ----------
    layer : the layer.
    hidden : its inputs, shape (B, N, width); f is 0 where there is no pair.
    softness : width of the sigmoid, > 0.

    >>> layer = SynchronizationAttention(width=8, heads=2, channels=4)
    >>> layer.implementation = "eager"
    >>> soft_locked_fraction(layer, torch.zeros(1, 5, 8), softness=0.2).shape
    torch.Size([2])
    """
    oscillators = layer.oscillators(hidden)
    mismatch = squared_mismatch(oscillators.omega)
    # logarithms of zero have no gradient
    strength = layer.locking(oscillators.theta).clamp(min=COUPLING_FLOOR).log().unsqueeze(-1)
    distance = 0.5 * mismatch.clamp(min=COUPLING_FLOOR**2).log()
    margin = strength - layer.alpha[:, None, None] * mismatch - distance
    visible = visible_pairs(layer.causal, mismatch).to(mismatch)
    share = torch.sigmoid(margin / softness) * visible
    return share.sum(dim=(0, 2, 3)) / (visible.sum() * hidden.shape[0]).clamp(min=1.0)


def locked_fraction_penalty(
    layers: Sequence[SynchronizationAttention],
    inputs: Sequence[Tensor],
    target: tuple[float, float],
    softness: float = 0.2,
) -> Tensor:
    """Return the regulariser, a scalar: zero while every soft locked fraction is in the target.

    R = sum over blocks and heads of relu(low - f)^2 + relu(f - high)^2

    f is that of the first quarter of the passages, at least one, of all processes together: process
    ``rank`` of a torch.distributed group holds the passages ``rank``, ``rank + world``, ... and as many as
    the others. Gradients averaged over the processes are then those of one process with all passages.
    They reach the oscillators of each layer (W_omega, ramp, W_theta, alpha, K) but not the layers before
    it, which are left to the text.

    Parameters
    ----------
    layers : one per block.
    inputs : what each layer saw, (B, N, width).
    target : low and high end of the soft fraction.
    softness : see :func:`soft_locked_fraction`.
    """
    world = process_count()
    quarter = max(1, world * inputs[0].shape[0] // 4)
    mine = len(range(process_rank(), quarter, world))
    fractions = torch.stack(
        [
            soft_locked_fraction(layer, hidden[:mine].detach(), softness)
            for layer, hidden in zip(layers, inputs, strict=True)
        ]
    )
    fractions = sum_over_processes(fractions * (mine / quarter))
    low, high = target
    return (functional.relu(low - fractions) + functional.relu(fractions - high)).square().sum()
