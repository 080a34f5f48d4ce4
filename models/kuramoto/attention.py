"""Kuramoto attention: scores between phases, and the pull of the phases attended to."""

from __future__ import annotations

import math
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional

from hw_targets.triton.ops import Implementation, kuramoto_attention
from oscsim.errors import SpecError

from ..attention_weights import causal_softmax
from .config import KuramotoConfig


class Scores(NamedTuple):
    """What the scores are made of, per head; heads H, tokens N, k / H coordinates."""

    theta: Tensor  # (B, H, N, k/H) phases, rad
    gate_q: Tensor  # (B, H, N, k/H) metric gates of targets
    gate_k: Tensor  # (B, H, N, k/H) metric gates of sources


def circle(theta: Tensor) -> Tensor:
    """Return f(theta) = [cos theta, sin theta], shape (..., 2k).

    >>> circle(torch.zeros(1)).tolist()
    [1.0, 0.0]
    """
    return torch.cat([theta.cos(), theta.sin()], dim=-1)


class KuramotoAttention(nn.Module):
    """Softmax attention between phases [KA] Nunley, arXiv 2606.11585 (2026); docs/spec.md.

    A = softmax over u <= t of s,
    s_tu = tau/sqrt(k/H) sum_j g^q_tj g^k_uj cos(theta_tj - theta_uj + omega_j (t - u))
    g = softplus(linear(f(theta))), divided by its mean over the coordinates of a head
    a_tj = sum_u A_tu sin(theta_uj - theta_tj), the tangent of the circular mean
    G_tj = sum_u A_tu e^{i theta_uj}

    Parameters
    ----------
    config : the model's; this layer reads width, heads, gates and temperature.

    Attributes
    ----------
    implementation : who computes a, see :func:`hw_targets.triton.ops.kuramoto_attention`.

    Raises
    ------
    SpecError
        ``width`` is not a multiple of ``heads``.

    >>> layer = KuramotoAttention(KuramotoConfig(width=8, heads=2))
    >>> layer(torch.zeros(1, 5, 8)).shape
    torch.Size([1, 5, 8])
    """

    def __init__(self, config: KuramotoConfig) -> None:
        super().__init__()
        width, heads = config.width, config.heads
        if heads < 1 or width % heads:
            raise SpecError(
                f"given width {width} and {heads} heads; expected a width that is a multiple of the heads; "
                "change one of them"
            )
        self.heads = heads
        self.implementation: Implementation | None = None
        self.gate_q = nn.Linear(2 * width, width) if config.gates else None
        self.gate_k = nn.Linear(2 * width, width) if config.gates else None
        channels = width // heads
        ladder = 10_000.0 ** (-torch.arange(channels) / channels)
        self.omega = nn.Parameter(ladder.expand(heads, channels).clone())
        self.log_tau = nn.Parameter(torch.full((heads,), math.log(config.temperature / math.sqrt(channels))))

    def forward(self, theta: Tensor) -> Tensor:
        """Return the pull a on phases (B, N, k), the same shape, dimensionless."""
        scores = self.scores(theta)
        pull = kuramoto_attention(
            *scores, self.omega, tau=self.log_tau.exp(), causal=True, impl=self.implementation
        )
        return self.joined(pull)

    def circular_mean(self, theta: Tensor) -> tuple[Tensor, Tensor]:
        """Return Im and Re of G e^{-i theta}, the tangent a and the radial part, (B, N, k) each."""
        mean = self.attend(theta, circle(self.split(theta)))
        real, imaginary = (self.joined(part) for part in mean.chunk(2, dim=-1))
        cos, sin = theta.cos(), theta.sin()
        return imaginary * cos - real * sin, real * cos + imaginary * sin

    def attend(self, theta: Tensor, values: Tensor) -> Tensor:
        """Return sum_u A_tu values_u for values (B, H, N, any), by torch's exact attention."""
        query, key = self._vectors(theta)
        scale = 1.0 / math.sqrt(query.shape[-1] // 2)
        with torch.autocast(theta.device.type, enabled=False):  # phases are no bfloat16 numbers
            return functional.scaled_dot_product_attention(query, key, values, is_causal=True, scale=scale)

    def weights(self, theta: Tensor) -> Tensor:
        """Return A, shape (B, H, N, N)."""
        query, key = self._vectors(theta)
        return causal_softmax(query, key, query.shape[-1] // 2)

    def scores(self, theta: Tensor) -> Scores:
        """Return phases and gates of phases (B, N, k), split into heads."""
        split = self.split(theta)
        if self.gate_q is None or self.gate_k is None:
            return Scores(split, torch.ones_like(split), torch.ones_like(split))
        features = circle(theta)
        return Scores(split, *(self._gate(gate(features)) for gate in (self.gate_q, self.gate_k)))

    def split(self, flat: Tensor) -> Tensor:
        """Return (B, N, any) as (B, H, N, any / H)."""
        return flat.unflatten(-1, (self.heads, -1)).transpose(1, 2)

    @staticmethod
    def joined(split: Tensor) -> Tensor:
        """Return (B, H, N, any) as (B, N, H any)."""
        return split.transpose(1, 2).flatten(-2)

    def _gate(self, raw: Tensor) -> Tensor:
        gate = functional.softplus(self.split(raw.float()))
        return gate / gate.mean(dim=-1, keepdim=True)

    def _vectors(self, theta: Tensor) -> tuple[Tensor, Tensor]:
        """The 2k-vectors whose dot product is tau times the sum over coordinates."""
        split, gate_q, gate_k = self.scores(theta)
        steps = torch.arange(theta.shape[1], device=theta.device, dtype=torch.float64)
        drift = (
            (self.omega.double().unsqueeze(-2) * steps.unsqueeze(-1)).remainder(2 * math.pi).to(theta.dtype)
        )
        angle = split + drift
        tau = self.log_tau.exp().view(-1, 1, 1)
        return tau * gate_q.repeat(1, 1, 1, 2) * circle(angle), gate_k.repeat(1, 1, 1, 2) * circle(angle)
