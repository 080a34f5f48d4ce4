"""An order of the tokens in which close frequencies share tiles, for full masks.

(The module is not called frequency_order because the public function is.)
"""

from __future__ import annotations

import torch
from torch import Tensor

from hw_targets.triton.ops.arguments import valid_tokens
from hw_targets.triton.ops.implementations import choose
from hw_targets.triton.ops.problem import Implementation
from hw_targets.triton.ops.tile_shape import tile_shape
from oscsim.errors import ConfigError

# Channels that the halving may choose from: with more, each is cut too rarely to tell tiles apart.
AXES = 2


@torch.no_grad()
def frequency_order(
    omega: Tensor,
    *,
    padding: Tensor | None = None,
    lengths: Tensor | None = None,
    impl: Implementation | None = None,
) -> Tensor:
    """Return which token comes at each place: (batch, heads, N) int64, padded tokens last.

    Tokens are sorted along the channel in which they spread most and halved; so is every half, down to single
    tiles (the order of a k-d tree: J. L. Bentley, Commun. ACM 18, 509 (1975)), over the two widest channels.
    A frequency that is one-dimensional comes out sorted.

    SSA with a full mask does not depend on the order of the tokens, except for the rounding of sums: with
    ``order = frequency_order(omega)``, attend to ``reorder(omega, order)`` and ``reorder(values, order)``
    (and a ``reorder``-ed order parameter where it differs between rows) and undo it with ``restore(y,
    order)``. Padding then is ``padded_last(padding)``. Never for causal masks: their meaning is the order.

    Parameters
    ----------
    omega : (batch, heads, N, D).
    padding : (batch, N) bool, True = padded.
    lengths : (batch,) instead of padding.
    impl : whose tiles, as for :func:`ssa_attention`.

    >>> omega = torch.tensor([3.0, 1.0, 2.0]).view(1, 1, 3, 1)
    >>> order = frequency_order(omega)
    >>> order.tolist(), reorder(omega, order).flatten().tolist()
    ([[[1, 2, 0]]], [1.0, 2.0, 3.0])
    >>> torch.equal(restore(reorder(omega, order), order), omega)
    True
    """
    if omega.dim() != 4 or 0 in omega.shape[2:]:
        raise ConfigError(f"omega: given {tuple(omega.shape)}, expected (batch, heads, N, D) with N, D >= 1")
    batch, heads, n, channels = omega.shape
    valid = valid_tokens(batch, n, padding, lengths, omega.device)
    tile = max(tile_shape(choose(impl, omega.device), channels, channels, "accurate"))
    levels = (-(-n // tile) - 1).bit_length()
    # Places beyond the tokens are filled with numbers that stand for none, and sort last like padded tokens.
    size = tile << levels
    outside = torch.ones(batch, size, dtype=torch.bool, device=omega.device)
    outside[:, :n] = False if valid is None else ~valid
    outside = outside.repeat_interleave(heads, dim=0)
    wide = _widest(omega.flatten(0, 1), outside[:, :n], size)
    order = torch.arange(size, device=omega.device).expand(batch * heads, size)
    for level in range(levels + 1):
        order = _sort(wide, outside, order.view(batch * heads, 2**level, -1)).flatten(1)
    # a stable sort keeps the numbers beyond the tokens behind the padded ones
    return order[:, :n].reshape(batch, heads, n)


def reorder(tokens: Tensor, order: Tensor) -> Tensor:
    """Put tokens (batch, heads, N) or (batch, heads, N, width) into an order; differentiable."""
    if tokens.dim() == 3:
        return tokens.gather(2, order)
    return tokens.gather(2, order[..., None].expand(-1, -1, -1, tokens.shape[3]))


def restore(tokens: Tensor, order: Tensor) -> Tensor:
    """Undo :func:`reorder`; differentiable."""
    return reorder(tokens, order.argsort(dim=-1))


def padded_last(padding: Tensor) -> Tensor:
    """Padding (batch, N) of reordered tokens: the same for all heads.

    >>> padded_last(torch.tensor([[True, False, True, False]])).tolist()
    [[False, False, True, True]]
    """
    return padding.sort(dim=-1, stable=True).values


def _widest(omega: Tensor, outside: Tensor, size: int) -> Tensor:
    """The channels of largest range, (B H, AXES, size); 0 beyond the tokens."""
    low, high = _range(omega.mT, outside[:, None])
    axes = (high - low).topk(min(AXES, omega.shape[2])).indices
    chosen = omega.mT.gather(1, axes[..., None].expand(-1, -1, omega.shape[1]))
    return torch.nn.functional.pad(chosen, (0, size - omega.shape[1]))


def _sort(wide: Tensor, outside: Tensor, order: Tensor) -> Tensor:
    """Sort every group along the channel in which its tokens spread most; order (B H, groups, members)."""
    flat = order.flatten(1)
    out = outside.gather(1, flat).view_as(order)
    members = torch.stack([channel.gather(1, flat).view_as(order) for channel in wide.unbind(1)])
    low, high = _range(members, out)
    axis = (high - low).argmax(dim=0)
    key = members.gather(0, axis[None, :, :, None].expand(1, *order.shape)).squeeze(0)
    key = torch.where(out, torch.inf, key)
    return order.gather(2, key.argsort(dim=2, stable=True))


def _range(x: Tensor, outside: Tensor) -> tuple[Tensor, Tensor]:
    return torch.where(outside, torch.inf, x).amin(dim=-1), torch.where(outside, -torch.inf, x).amax(dim=-1)
