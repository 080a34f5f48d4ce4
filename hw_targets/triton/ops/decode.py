"""Causal decoding: tokens arrive one by one or in chunks, and only their own rows are computed."""

from __future__ import annotations

import torch
from torch import Tensor

from hw_targets.triton.ops.arguments import check_options, check_shapes, per_head, per_row
from hw_targets.triton.ops.growing import Growing
from hw_targets.triton.ops.implementations import choose
from hw_targets.triton.ops.problem import Implementation, Precision
from hw_targets.triton.ops.ssa_op import ssa_attention_op
from hw_targets.triton.ops.streamed_order import StreamedOrder
from oscsim.errors import ConfigError


class SSACache:
    """What causal selective synchronization attention remembers of the tokens so far: memory O(N D).

    Appending tokens gives their rows of :func:`ssa_attention` with ``causal=True`` over everything appended
    so far, in any chunks, equal within rounding. A token costs O(N (D + D_v)). Inference only: no gradients.

    Parameters
    ----------
    alpha, gain, precision, impl : as for :func:`ssa_attention`.

    Raises
    ------
    ConfigError
        an unknown option here, or tokens that do not fit the ones before in :meth:`append`.

    >>> cache = SSACache(alpha=0.0, gain=1.0, impl="eager")
    >>> omega, values = torch.tensor([0.0, 0.6]).view(1, 1, 2, 1), torch.eye(2).view(1, 1, 2, 2)
    >>> _ = cache.append(omega[:, :, :1], values[:, :, :1], order_parameter=1.0)
    >>> y = cache.append(omega[:, :, 1:], values[:, :, 1:], order_parameter=1.0)
    >>> [round(x, 4) for x in y.flatten().tolist()]
    [0.4444, 0.5556]
    >>> len(cache)
    2
    """

    def __init__(
        self,
        *,
        alpha: Tensor | float,
        gain: Tensor | float,
        precision: Precision = "accurate",
        impl: Implementation | None = None,
    ) -> None:
        check_options(precision, "smooth", None, 0.0, None, "eager")
        self.alpha, self.gain = alpha, gain
        self.precision: Precision = precision
        self.impl: Implementation | None = impl
        self.reset()

    def __len__(self) -> int:
        return len(self._omega)

    def reset(self) -> None:
        """Forget all tokens; the next ones may have any shape."""
        self._omega, self._values, self._order, self._padded = (Growing() for _ in range(4))
        self._phasors = StreamedOrder()
        self._constant: Tensor | None = None
        self._source = ""

    @torch.no_grad()
    def append(
        self,
        omega: Tensor,
        values: Tensor,
        *,
        theta: Tensor | None = None,
        order_parameter: Tensor | float | None = None,
        padding: Tensor | None = None,
    ) -> Tensor:
        """Take new tokens in and return their outputs.

        Parameters
        ----------
        omega, values : (batch, heads, new, D) and (batch, heads, new, D_v).
        theta : phases (batch, heads, new, channels), rad: r_i is the order parameter of the tokens up to i.
        order_parameter : instead of theta, r: a number, (heads,) or (batch, heads), the same in every call;
            or one
            per token, (batch, heads, new).
        padding : (batch, new) bool, True = padded: no part in anything, outputs 0 (prompts of unequal
            length).

        Returns
        -------
        (batch, heads, new, D_v) in the dtype of values.
        """
        impl = choose(self.impl, omega.device)
        check_shapes(omega, values, impl)
        batch, _, new, _ = omega.shape
        if padding is None:
            padding = torch.zeros(batch, new, dtype=torch.bool, device=omega.device)
        elif padding.shape != (batch, new) or padding.dtype != torch.bool:
            given = f"{tuple(padding.shape)} {padding.dtype}"
            raise ConfigError(f"padding: given {given}, expected ({batch}, {new}) torch.bool, True = padded")
        self._omega.fits("omega", omega)
        self._values.fits("values", values)
        self._take_order(theta, order_parameter, omega, padding)
        first = len(self)
        self._omega.append(omega)
        self._values.append(values)
        self._padded.append(padding[:, None, :, None])
        return self._attend(first, impl)

    def select(self, indices: Tensor) -> None:
        """Keep or repeat these sequences of the batch, (new batch,) whole numbers (beam search)."""
        if len(self) == 0:
            raise ConfigError("select: given an empty cache, expected tokens; append some first")
        batch = self._omega.view().shape[0]
        if indices.dim() != 1 or indices.is_floating_point() or indices.dtype == torch.bool:
            raise ConfigError(
                f"indices: given {tuple(indices.shape)} {indices.dtype}, expected (new batch,) whole numbers"
            )
        if len(indices) == 0 or int(indices.min()) < 0 or int(indices.max()) >= batch:
            raise ConfigError(
                f"indices: given {indices.tolist()}, expected at least one, each in 0..{batch - 1}"
            )
        indices = indices.to(self._omega.view().device)
        for part in (self._omega, self._values, self._order, self._padded, self._phasors):
            part.select(indices)
        if self._constant is not None:
            self._constant = self._constant[indices]

    def _take_order(
        self, theta: Tensor | None, order: Tensor | float | None, omega: Tensor, padding: Tensor
    ) -> None:
        if theta is not None and order is None:
            self._stays("theta")
            if theta.dim() != 4 or theta.shape[:3] != omega.shape[:3]:
                expected = (*omega.shape[:3], "channels")
                raise ConfigError(f"theta: given {tuple(theta.shape)}, expected {expected}, phases per token")
            self._phasors.fits(theta)
            self._order.append(self._phasors.append(theta, padding)[..., None])
        elif isinstance(order, Tensor) and order.dim() == 3 and theta is None:
            self._stays("order_parameter per token")
            if order.shape != omega.shape[:3]:
                expected = tuple(omega.shape[:3])
                raise ConfigError(f"order_parameter: given {tuple(order.shape)}, expected {expected}")
            self._order.fits("order_parameter", order[..., None])
            self._order.append(order[..., None])
        elif order is not None and theta is None:
            self._stays("order_parameter for all tokens")
            constant = per_row(order, omega)
            if self._constant is not None and not torch.equal(constant, self._constant):
                raise ConfigError(
                    "order_parameter: given another one than for the tokens before, expected the same; pass "
                    "(batch, heads, new) for one per token"
                )
            self._constant = constant
        else:
            raise ConfigError("given both or none of theta and order_parameter, expected exactly one of them")

    def _stays(self, source: str) -> None:
        if len(self) and source != self._source:
            raise ConfigError(
                f"given {source}, expected {self._source} as before; call reset() to start again"
            )
        self._source = source

    def _attend(self, first: int, impl: str) -> Tensor:
        omega, padded = self._omega.view(), self._padded.view().flatten(1)
        order = self._order.view()[..., 0] if self._constant is None else self._constant
        return ssa_attention_op(
            omega,
            self._values.view(),
            per_head("alpha", self.alpha, omega),
            per_head("gain", self.gain, omega),
            order,
            ~padded if bool(padded.any()) else None,
            [],
            None,
            True,
            self.precision,
            "smooth",
            0.5,
            0.0,
            first,
            0,
            impl,
        )[0]
