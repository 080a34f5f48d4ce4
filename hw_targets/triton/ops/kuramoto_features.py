"""Kuramoto attention as ordinary attention over vectors of width 2k, and the way back for gradients.

With phi = theta + omega t the score is a dot product,
s_tu = tau/sqrt(k) (g^q_t [cos phi_t, sin phi_t]) . (g^k_u [cos phi_u, sin phi_u]), and the mean is taken of
[cos theta_u, sin theta_u]. phi itself is never formed: e^{i phi} is e^{i theta} turned by the drift angle, so
adding omega t to an unwrapped theta rounds nothing away; how large theta may be is up to how the cosine
reduces it.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import torch
from torch import Tensor

from hw_targets.triton.ops.kuramoto_values import (
    Pair,
    across,
    along,
    read_backward,
    sent,
    sent_backward,
    turned,
)


class Rotations(NamedTuple):
    """``e^{i theta}`` and ``e^{i phi}`` of every token, as (cos, sin) of shape (..., N, k)."""

    theta: Pair
    phi: Pair


def drift_angles(drift: Tensor, positions: Tensor) -> Tensor:
    """``omega_j t`` modulo 2 pi in [-pi, pi], (H, N, k) float64: reduced before anything is rounded.

    >>> angles = drift_angles(torch.tensor([[1.0]]), torch.tensor([0, 1, 65536]))
    >>> angles.round(decimals=4).flatten().tolist()
    [0.0, 1.0, 2.3772]
    """
    turns = (drift.double() / (2.0 * math.pi))[:, None, :] * positions.double()[None, :, None]
    return turns.sub_(turns.round()).mul_(2.0 * math.pi)


def rotations(theta: Tensor, angle: Tensor) -> Rotations:
    """Turn the unit vectors of theta by the drift angles, rounded to theta's dtype."""
    cosine, sine = torch.cos(theta), torch.sin(theta)
    angle = angle.to(theta.dtype)
    return Rotations((cosine, sine), turned((cosine, sine), (torch.cos(angle), torch.sin(angle))))


def query(at: Rotations, gate_q: Tensor, tau: Tensor) -> Tensor:
    """``tau g^q [cos phi, sin phi]``, (..., N, 2k); scores are query . key / sqrt(k)."""
    gate = gate_q * tau.to(gate_q.dtype)[:, None, None]
    return torch.cat((gate * at.phi[0], gate * at.phi[1]), dim=-1)


def key(at: Rotations, gate_k: Tensor) -> Tensor:
    """``g^k [cos phi, sin phi]``, (..., N, 2k)."""
    return torch.cat((gate_k * at.phi[0], gate_k * at.phi[1]), dim=-1)


def value(at: Rotations) -> Tensor:
    """What a source sends, (..., N, 2k)."""
    return torch.cat(sent(at.theta), dim=-1)


def d_mean(at: Rotations, d_increment: Tensor) -> Tensor:
    """Gradient by the mean, (..., N, 2k)."""
    return torch.cat(read_backward(at.theta, d_increment), dim=-1)


def mean(at: Rotations, increment: Tensor, radial: Tensor) -> Tensor:
    """The mean G again, (..., N, 2k), from its tangent and radial part."""
    return torch.cat(turned(at.theta, (radial, increment)), dim=-1)


class InputGradients(NamedTuple):
    """By theta and gates (..., N, k); by phi (drift is position-weighted phi), and by tau (..., N)."""

    theta: Tensor
    gate_q: Tensor
    gate_k: Tensor
    phi: Tensor
    tau: Tensor


def pull_back(
    at: Rotations,
    gate_q: Tensor,
    gate_k: Tensor,
    tau: Tensor,
    by_features: tuple[Tensor, Tensor, Tensor],
    direct: Tensor,
) -> InputGradients:
    """Turn gradients by query, key and value into those by what they were made of.

    ``direct`` is the gradient by theta_t through the read-out. tau is never divided by, so it may be 0.
    """
    d_query, d_key, d_value = (x.to(direct.dtype).chunk(2, dim=-1) for x in by_features)
    scale = tau.to(direct.dtype)[:, None, None]
    by_gate_q = along(at.phi, (d_query[0], d_query[1]))
    by_tau = (gate_q * by_gate_q).sum(dim=-1)
    by_phi = scale * gate_q * across(at.phi, (d_query[0], d_query[1]))
    by_phi = torch.addcmul(by_phi, gate_k, across(at.phi, (d_key[0], d_key[1])))
    by_theta = by_phi + direct + sent_backward(at.theta, (d_value[0], d_value[1]))
    by_gate_k = along(at.phi, (d_key[0], d_key[1]))
    return InputGradients(by_theta, scale * by_gate_q, by_gate_k, by_phi, by_tau)


def drift_and_tau(
    by_phi: Tensor, by_tau: Tensor, positions: Tensor, drift: Tensor, tau: Tensor
) -> tuple[Tensor, Tensor]:
    """Sum gradients over batch and tokens in float64: by drift ``sum t d_phi`` (H, k), by tau (H,).

    Scores see differences of positions only, so they are counted from the middle: smaller terms cancel.
    """
    centred = positions.double() - 0.5 * float(max(positions.shape[0] - 1, 0))
    weighted = by_phi.sum(dim=0, dtype=torch.float64) * centred[:, None]
    by_drift = weighted.sum(dim=-2)
    return by_drift.to(drift.dtype), by_tau.sum(dim=(0, 2), dtype=torch.float64).to(tau.dtype)
