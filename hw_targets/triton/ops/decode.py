"""Causal decoding: tokens arrive one by one or in chunks, and only their own rows are computed."""

from __future__ import annotations

import torch
from torch import Tensor

from hw_targets.triton.ops.arguments import check_options, check_shapes, per_head, per_row
from hw_targets.triton.ops.growing import Growing
from hw_targets.triton.ops.implementations import choose, selective_synchronization
from hw_targets.triton.ops.normal_form import NormalForm, normal_form
from hw_targets.triton.ops.problem import Implementation, Precision, SSAProblem
from hw_targets.triton.ops.ssa_op import check_finite
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
        self._omega, self._values, self._form, self._padded = (Growing() for _ in range(4))
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
        omega = omega if omega.dtype == torch.float64 else omega.float()
        self._omega.fits("omega", omega)
        self._values.fits("values", values)
        self._strengthen(self._order_of(theta, order_parameter, omega, padding), omega)
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
        for part in (self._omega, self._values, self._form, self._padded, self._phasors):
            part.select(indices)
        if self._constant is not None:
            self._constant = self._constant[indices]

    def _order_of(
        self, theta: Tensor | None, order: Tensor | float | None, omega: Tensor, padding: Tensor
    ) -> Tensor:
        """(batch, heads, new), or (batch, heads, 1) where one is for all tokens."""
        if theta is not None and order is None:
            self._stays("theta")
            if theta.dim() != 4 or theta.shape[:3] != omega.shape[:3]:
                expected = (*omega.shape[:3], "channels")
                raise ConfigError(f"theta: given {tuple(theta.shape)}, expected {expected}, phases per token")
            self._phasors.fits(theta)
            return self._phasors.append(theta, padding)
        if isinstance(order, Tensor) and order.dim() == 3 and theta is None:
            self._stays("order_parameter per token")
            if order.shape != omega.shape[:3]:
                expected = tuple(omega.shape[:3])
                raise ConfigError(f"order_parameter: given {tuple(order.shape)}, expected {expected}")
            return order.to(omega.device)
        if order is None or theta is not None:
            raise ConfigError("given both or none of theta and order_parameter, expected exactly one of them")
        self._stays("order_parameter for all tokens")
        constant = per_row(order, omega)
        if self._constant is not None and not torch.equal(constant, self._constant):
            raise ConfigError(
                "order_parameter: given another one than for the tokens before, expected the same; pass "
                "(batch, heads, new) for one per token"
            )
        self._constant = constant
        return constant

    def _stays(self, source: str) -> None:
        if len(self) and source != self._source:
            raise ConfigError(
                f"given {source}, expected {self._source} as before; call reset() to start again"
            )
        self._source = source

    def _strengthen(self, order: Tensor, omega: Tensor) -> None:
        """Keep the normal form of new rows (or of all, once): it is never computed twice."""
        if self._constant is not None and len(self._form):
            return
        alpha, gain = per_head("alpha", self.alpha, omega), per_head("gain", self.gain, omega)
        check_finite(alpha=alpha, gain=gain, order_parameter=order)
        form = normal_form(alpha, gain, order)
        self._form.append(torch.stack(form[:2], dim=-1))

    def _attend(self, first: int, impl: str) -> Tensor:
        padded = self._padded.view().flatten(1)
        inverse_square, selectivity = (x.contiguous() for x in self._form.view().unbind(-1))
        problem = SSAProblem(
            self._omega.view().contiguous(),
            self._values.view().contiguous(),
            *NormalForm(inverse_square, selectivity, inverse_square > 0),
            valid=~padded if bool(padded.any()) else None,
            causal=True,
            precision=self.precision,
            first_row=first,
        )
        with torch.autocast(problem.omega.device.type, enabled=False):
            return selective_synchronization(impl).forward(problem).output
