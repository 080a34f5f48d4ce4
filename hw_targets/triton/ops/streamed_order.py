"""The order parameter of all tokens so far, kept up to date while they arrive."""

from __future__ import annotations

import torch
from torch import Tensor

from hw_targets.triton.ops.order import result_dtype
from oscsim.errors import ConfigError


class StreamedOrder:
    """Running sums of the unit phasors, float64 (batch, heads, D), and how many tokens they hold.

    A value: :meth:`longer` and :meth:`selected` return what comes next and leave this one as it is.

    >>> order, stream = StreamedOrder().longer(torch.zeros(1, 1, 2, 3))
    >>> order.tolist()
    [[[1.0, 1.0]]]
    >>> order, stream = stream.longer(torch.full((1, 1, 1, 3), torch.pi))
    >>> round(order.item(), 4)
    0.3333
    """

    def __init__(self, sums: Tensor | None = None, count: Tensor | None = None) -> None:
        self._sums, self._count = sums, count

    def fits(self, theta: Tensor) -> None:
        """ConfigError unless ``theta`` continues what is there."""
        if self._sums is None:
            return
        _, batch, heads, _, channels = self._sums.shape
        if (*theta.shape[:2], theta.shape[3]) != (batch, heads, channels):
            raise ConfigError(
                f"theta: given {tuple(theta.shape)}, expected {(batch, heads, 'new', channels)} like the "
                "tokens before; call reset() to start again"
            )

    def longer(self, theta: Tensor, padding: Tensor | None = None) -> tuple[Tensor, StreamedOrder]:
        """r of every new token, (batch, heads, new), and the sums that hold these tokens too.

        theta : (batch, heads, new, D), padding : (batch, new).
        """
        batch, _, new, _ = theta.shape
        if padding is None:
            padding = torch.zeros(batch, new, dtype=torch.bool, device=theta.device)
        phase = theta.double()
        phasors = torch.stack([phase.cos(), phase.sin()])
        sums = torch.where(padding[:, None, :, None], 0.0, phasors).cumsum(dim=3)
        count = (~padding).cumsum(dim=-1)[:, None]
        if self._sums is not None and self._count is not None:
            sums, count = sums + self._sums, count + self._count
        order = torch.hypot(sums[0], sums[1]).mean(dim=-1) / count.clamp(min=1)
        if not bool(order.isfinite().all()):
            raise ConfigError(
                "theta: given NaN or infinity, expected finite phases; mark such tokens as padded"
            )
        return order.to(result_dtype(theta)), StreamedOrder(sums[:, :, :, -1:], count[:, :, -1:])

    def selected(self, indices: Tensor) -> StreamedOrder:
        """These entries of the batch."""
        if self._sums is None or self._count is None:
            return self
        return StreamedOrder(self._sums[:, indices], self._count[indices])
