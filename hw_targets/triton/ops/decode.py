"""Causal decoding: tokens arrive one by one or in chunks, and only their own rows are computed."""

from __future__ import annotations

from numbers import Real
from typing import NamedTuple

import torch
from torch import Tensor

from hw_targets.triton.ops.arguments import check_options, check_shapes, per_head, per_row
from hw_targets.triton.ops.growing import Growing
from hw_targets.triton.ops.implementations import choose, implementation
from hw_targets.triton.ops.normal_form import NormalForm, normal_form
from hw_targets.triton.ops.problem import Implementation, Precision, SSAProblem
from hw_targets.triton.ops.ssa_op import check_finite
from hw_targets.triton.ops.streamed_order import StreamedOrder
from oscsim.errors import ConfigError


class _Kept(NamedTuple):
    """All that is remembered, replaced as a whole when a call has succeeded: a refused one changes nothing.

    ``form`` holds the normal form of every row, or of all at once where one ``constant`` is for all tokens.
    """

    omega: Growing = Growing()
    values: Growing = Growing()
    padded: Growing = Growing()
    form: Growing = Growing()
    phasors: StreamedOrder = StreamedOrder()
    constant: Tensor | None = None
    source: str = ""


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
        an unknown option, alpha or gain that are no finite numbers >= 0; in :meth:`append` tokens that do
        not fit the ones before. A refused call leaves the cache as it was.

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
        choose(impl, torch.device("cpu"))  # an unknown name; the device is that of the tokens
        for name, given in (("alpha", alpha), ("gain", gain)):
            _check_real(name, given, 1)
            check_finite(**{name: torch.as_tensor(given, dtype=torch.float64)})
        self.alpha, self.gain = alpha, gain
        self.precision: Precision = precision
        self.impl: Implementation | None = impl
        self.reset()

    def __len__(self) -> int:
        return len(self._kept.omega)

    def reset(self) -> None:
        """Forget all tokens; the next ones may have any shape."""
        self._kept = _Kept()

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
        before = self._kept
        before.omega.fits("omega", omega)
        before.values.fits("values", values)
        order, kept = self._order_of(theta, order_parameter, omega, padding)
        kept = kept._replace(
            omega=before.omega.longer(omega),
            values=before.values.longer(values),
            padded=before.padded.longer(padding[:, None, :, None]),
            form=self._strengthened(kept, order, omega),
        )
        output = self._attend(kept, len(before.omega), impl)
        self._kept = kept
        return output

    def select(self, indices: Tensor) -> None:
        """Keep or repeat these sequences of the batch, (new batch,) whole numbers (beam search)."""
        if len(self) == 0:
            raise ConfigError("select: given an empty cache, expected tokens; append some first")
        kept = self._kept
        batch = kept.omega.view().shape[0]
        if indices.dim() != 1 or indices.is_floating_point() or indices.dtype == torch.bool:
            raise ConfigError(
                f"indices: given {tuple(indices.shape)} {indices.dtype}, expected (new batch,) whole numbers"
            )
        if len(indices) == 0 or int(indices.min()) < 0 or int(indices.max()) >= batch:
            raise ConfigError(
                f"indices: given {indices.tolist()}, expected at least one, each in 0..{batch - 1}"
            )
        indices = indices.to(kept.omega.view().device)
        self._kept = _Kept(
            *(part.selected(indices) for part in kept[:4]),
            phasors=kept.phasors.selected(indices),
            constant=None if kept.constant is None else kept.constant[indices],
            source=kept.source,
        )

    def _order_of(
        self, theta: Tensor | None, order: Tensor | float | None, omega: Tensor, padding: Tensor
    ) -> tuple[Tensor, _Kept]:
        """(batch, heads, new), or (batch, heads, 1) where one is for all tokens; and what to keep of it."""
        if theta is not None and order is None:
            kept = self._from("theta")
            if theta.dim() != 4 or theta.shape[:3] != omega.shape[:3] or not theta.is_floating_point():
                raise ConfigError(
                    f"theta: given {tuple(theta.shape)} {theta.dtype}, expected "
                    f"{(*omega.shape[:3], 'channels')}, floating point phases per token"
                )
            kept.phasors.fits(theta)
            order, phasors = kept.phasors.longer(theta, padding)
            return order, kept._replace(phasors=phasors)
        if order is None or theta is not None:
            raise ConfigError("given both or none of theta and order_parameter, expected exactly one of them")
        _check_real("order_parameter", order, 3)
        if isinstance(order, Tensor) and order.dim() == 3:
            if order.shape != omega.shape[:3]:
                expected = tuple(omega.shape[:3])
                raise ConfigError(f"order_parameter: given {tuple(order.shape)}, expected {expected}")
            return order.to(omega.device), self._from("order_parameter per token")
        kept = self._from("order_parameter for all tokens")
        constant = per_row(order, omega)
        if kept.constant is not None and not torch.equal(constant.double(), kept.constant):
            raise ConfigError(
                "order_parameter: given another one than for the tokens before, expected the same; pass "
                "(batch, heads, new) for one per token"
            )
        # a copy: what was given may change in place later
        return constant, kept._replace(constant=constant.double().clone())

    def _from(self, source: str) -> _Kept:
        """What is kept, with the order parameter from this source as before."""
        kept = self._kept
        if len(self) and source != kept.source:
            raise ConfigError(
                f"given {source}, expected {kept.source} as before; call reset() to start again"
            )
        return kept._replace(source=source)

    def _strengthened(self, kept: _Kept, order: Tensor, omega: Tensor) -> Growing:
        """The normal form with that of new rows (or of all, once): it is never computed twice."""
        _check_real("alpha", self.alpha, 1)
        _check_real("gain", self.gain, 1)
        alpha, gain = per_head("alpha", self.alpha, omega), per_head("gain", self.gain, omega)
        check_finite(alpha=alpha, gain=gain, order_parameter=order)
        if kept.constant is not None and len(kept.form):
            return kept.form
        form = normal_form(alpha, gain, order)
        return kept.form.longer(torch.stack(form[:2], dim=-1))

    def _attend(self, kept: _Kept, first: int, impl: str) -> Tensor:
        padded = kept.padded.view().flatten(1)
        inverse_square, selectivity = (x.contiguous() for x in kept.form.view().unbind(-1))
        problem = SSAProblem(
            kept.omega.view().contiguous(),
            kept.values.view().contiguous(),
            *NormalForm(inverse_square, selectivity, inverse_square > 0),
            valid=~padded if bool(padded.any()) else None,
            causal=True,
            precision=self.precision,
            first_row=first,
        )
        with torch.autocast(problem.omega.device.type, enabled=False):
            return implementation("ssa", impl).forward(problem).output


def _check_real(name: str, given: object, most: int) -> None:
    """ConfigError unless a real number or a real tensor with at most this many dimensions."""
    if isinstance(given, Tensor):
        if given.dim() > most or given.is_complex() or given.dtype == torch.bool:
            raise ConfigError(
                f"{name}: given {tuple(given.shape)} {given.dtype}, expected a number or a tensor of real "
                f"numbers with at most {most} dimension{'s' * (most > 1)}"
            )
    elif not isinstance(given, Real) or isinstance(given, bool):
        raise ConfigError(f"{name}: given {given!r}, expected a number or a tensor of real numbers")
