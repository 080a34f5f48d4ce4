"""A selective-synchronization-attention layer in torch, and its phase layer."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional

from hw_targets.triton.ops import (
    EDGE_SMOOTHING,
    Implementation,
    order_parameter,
    prefix_order_parameter,
    ssa_attention,
)
from oscsim import PhaseLayerSpec
from oscsim.errors import SpecError

from .mismatch import squared_mismatch
from .phase_layer import one_passage, phase_layer


class Oscillators(NamedTuple):
    """What a layer makes of its input; leading dimension B, then heads H and tokens N."""

    omega: Tensor  # (B, H, N, D) natural frequencies, rad per time unit
    theta: Tensor  # (B, H, N, D) phases, rad
    values: Tensor  # (B, H, N, D_v)


class SynchronizationAttention(nn.Module):
    """Multi-head SSA: tokens attend to those whose oscillators lock to theirs.

    omega_i = [beta i, W_omega x_i],  theta_i = W_theta x_i,  V_i = W_v x_i
    y_i = W_o concat_h( sum_j S_ij V_j / sum_j S_ij ),  j <= i when causal   [SSA]

    with S and r from :mod:`hw_targets.triton.ops`. Channel 0 of every head
    carries position only. As |omega_i - omega_j| >= beta |i - j| there, no pair further apart
    than (lock radius) / beta can lock: a window that is learned, and exact.

    Parameters
    ----------
    width : width of the input and of the output.
    heads : number of heads H; must divide ``width``.
    channels : frequency channels D per head, at least 2 (position and content).
    smoothing : eps of the smooth edge in the backward pass, see :func:`hw_targets.triton.ops.ssa_attention`.
    causal : tokens attend to earlier ones, with r of the tokens so far; else to all, with r of all.

    Attributes
    ----------
    implementation : who computes the attention, "triton", "native", "eager" (dense torch, any float type),
        or None for the device's own.

    Raises
    ------
    SpecError
        ``width`` is not a multiple of ``heads``, or ``channels`` < 2.

    >>> layer = SynchronizationAttention(width=8, heads=2, channels=4)
    >>> layer.oscillators(torch.zeros(1, 5, 8)).omega.shape
    torch.Size([1, 2, 5, 4])
    """

    def __init__(
        self, width: int, heads: int, channels: int, smoothing: float = EDGE_SMOOTHING, causal: bool = True
    ) -> None:
        super().__init__()
        if heads < 1 or width % heads or channels < 2:
            raise SpecError(
                f"given width {width}, heads {heads}, channels {channels}; expected a width that "
                "is a multiple of heads and at least 2 channels; change one of them"
            )
        self.heads, self.channels, self.smoothing, self.causal = heads, channels, smoothing, causal
        self.implementation: Implementation | None = None
        self.frequency = nn.Linear(width, heads * (channels - 1), bias=False)
        self.phase = nn.Linear(width, heads * channels)
        self.value = nn.Linear(width, width, bias=False)
        self.output = nn.Linear(width, width, bias=False)
        self.ramp = nn.Parameter(torch.full((heads,), 0.1))
        self.alpha_raw = nn.Parameter(torch.zeros(heads))
        self.gain_raw = nn.Parameter(torch.zeros(heads))
        nn.init.normal_(self.phase.weight, std=0.5 / math.sqrt(width))
        nn.init.zeros_(self.phase.bias)

    @property
    def alpha(self) -> Tensor:
        """Coupling bandwidth per head, softplus(raw) >= 0, shape (H,), (time unit)^2 / rad^2."""
        return functional.softplus(self.alpha_raw)

    @property
    def gain(self) -> Tensor:
        """Global coupling K per head, softplus(raw) >= 0, shape (H,), rad per time unit."""
        return functional.softplus(self.gain_raw)

    def oscillators(self, hidden: Tensor) -> Oscillators:
        """Return frequencies, phases and values of inputs of shape (B, N, width)."""
        values = self._per_head(self.value(hidden))
        # a frequency off by a bfloat16 step would lock other pairs
        with torch.autocast(hidden.device.type, enabled=False):
            full = hidden.to(self.ramp.dtype)
            steps = torch.arange(full.shape[1], dtype=full.dtype, device=full.device)
            position = (self.ramp.unsqueeze(-1) * steps).expand(full.shape[0], -1, -1).unsqueeze(-1)
            omega = torch.cat([position, self._per_head(self.frequency(full))], dim=-1)
            theta = self._per_head(self.phase(full))
        return Oscillators(omega, theta, values)

    def order(self, theta: Tensor) -> Tensor:
        """Return r, shape (B, H, N) when causal, else (B, H, 1)."""
        if self.causal:
            return prefix_order_parameter(theta, impl=self.implementation)
        return order_parameter(theta).unsqueeze(-1)

    def locking(self, theta: Tensor) -> Tensor:
        """Return K r_i in rad per time unit, shape (B, H, N) when causal, else (B, H, 1)."""
        return self.gain.unsqueeze(-1) * self.order(theta)

    def locked(self, hidden: Tensor) -> Tensor:
        """Return which pairs lock, d_ij <= K r_i exp(-alpha d_ij^2), shape (B, H, N, N), unmasked.

        A float32 layer may differ from the float64 reference for pairs at the edge itself.
        """
        oscillators = self.oscillators(hidden)
        mismatch = squared_mismatch(oscillators.omega)
        coupling = torch.exp(-self.alpha[:, None, None] * mismatch)
        return mismatch.sqrt() <= self.locking(oscillators.theta).unsqueeze(-1) * coupling

    def attend(self, oscillators: Oscillators) -> Tensor:
        """Return the weighted mean of the values of locked tokens, shape (B, H, N, D_v)."""
        return ssa_attention(
            oscillators.omega,
            oscillators.values,
            alpha=self.alpha,
            gain=self.gain,
            order_parameter=self.order(oscillators.theta),
            causal=self.causal,
            eps=self.smoothing,
            impl=self.implementation,
        )

    def forward(self, hidden: Tensor) -> Tensor:
        """Map inputs of shape (B, N, width) to outputs of the same shape."""
        heads = self.attend(self.oscillators(hidden))
        return self.output(heads.transpose(1, 2).flatten(-2))

    @torch.no_grad()
    def to_spec(self, hidden: Tensor, dynamics: str = "pair", **fields: Any) -> PhaseLayerSpec:
        """Return the phase layer that this layer makes of one passage.

        ``oscsim.solve`` of it gives :meth:`attend` of the same input (before W_o) as ``output``.

        Parameters
        ----------
        hidden : the layer's input, shape (N, width) or (1, N, width), with N >= 1.
        dynamics : 'pair', 'network' or 'clamped'.
        **fields : further fields of the spec, such as ``time_unit_s`` or ``duration``.

        Raises
        ------
        SpecError
            the input is not one passage, or a field is refused.

        >>> layer = SynchronizationAttention(width=8, heads=2, channels=4)
        >>> layer.to_spec(torch.zeros(5, 8)).omega.shape
        (2, 5, 4)
        """
        oscillators = self.oscillators(one_passage(hidden, self.value.in_features))
        return phase_layer(oscillators, self.alpha, self.gain, self.causal, {"dynamics": dynamics, **fields})

    def _per_head(self, flat: Tensor) -> Tensor:
        return flat.unflatten(-1, (self.heads, -1)).transpose(1, 2)


@contextmanager
def computed_by(
    layers: Iterable[SynchronizationAttention], implementation: Implementation | None
) -> Iterator[None]:
    """Let these layers be computed by ``implementation`` for the length of a with statement."""
    before: list[tuple[SynchronizationAttention, Implementation | None]] = [
        (layer, layer.implementation) for layer in layers
    ]
    for layer, _ in before:
        layer.implementation = implementation
    try:
        yield
    finally:
        for layer, previous in before:
            layer.implementation = previous
