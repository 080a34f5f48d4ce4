"""The readable reference of Kuramoto attention: dense, pure torch, any float type.

Weights are a matrix of shape (B, H, N, N), so memory grows with N^2. The factors of products over tokens are
rounded to ``operand_dtype``: this is the yardstick of the 16-bit kernels.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

from hw_targets.triton.ops import kuramoto_features as features
from hw_targets.triton.ops.kuramoto_features import InputGradients, Rotations
from hw_targets.triton.ops.kuramoto_problem import (
    KuramotoForward,
    KuramotoGradients,
    KuramotoProblem,
    compute_dtype,
    operand_dtype,
)
from hw_targets.triton.ops.kuramoto_values import read


def forward(problem: KuramotoProblem) -> KuramotoForward:
    """Tangent increment, radial part and log-sum-exp of every row."""
    _, gate_q, gate_k, at = _prepared(problem)
    score = _scores(problem, at, gate_q, gate_k)
    total = torch.logsumexp(score, dim=-1)
    weights = _weights(problem, score)
    mean = _factor(problem, weights) @ _factor(problem, features.value(at))
    tangent, radial = read(at.theta, _halves(mean))
    if problem.valid is not None:
        total = torch.where(problem.valid[:, None, :], total, 0.0)
    return KuramotoForward(tangent.to(problem.theta.dtype), radial, total)


def backward(problem: KuramotoProblem, saved: KuramotoForward, d_increment: Tensor) -> KuramotoGradients:
    """Softmax attention's chain rule, then that of the features."""
    _, gate_q, gate_k, at = _prepared(problem)
    kind = at.theta[0].dtype
    weights = _weights(problem, _scores(problem, at, gate_q, gate_k))
    d_increment = _taking_part(problem, d_increment.to(kind))
    d_mean = _factor(problem, features.d_mean(at, d_increment))
    d_value = _factor(problem, weights).mT @ d_mean
    d_weights = d_mean @ _factor(problem, features.value(at)).mT
    own = (d_increment * saved.increment.to(kind)).sum(dim=-1, keepdim=True)
    d_score = _factor(problem, weights * (d_weights - own)) / math.sqrt(problem.theta.shape[-1])
    d_query = d_score @ _factor(problem, features.key(at, gate_k))
    d_key = d_score.mT @ _factor(problem, features.query(at, gate_q, problem.tau))
    by = features.pull_back(
        at, gate_q, gate_k, problem.tau, (d_query, d_key, d_value), -saved.radial * d_increment
    )
    return gradients(problem, by)


def gradients(problem: KuramotoProblem, by: InputGradients) -> KuramotoGradients:
    """Sum the gradients by drift and tau; give every gradient its input's dtype."""
    positions = torch.arange(problem.theta.shape[-2], device=problem.theta.device)
    summed = features.drift_and_tau(by.phi, by.tau, positions, problem.drift, problem.tau)
    theta, gate_q, gate_k = (x.to(problem.theta.dtype).contiguous() for x in by[:3])
    return KuramotoGradients(theta, gate_q, gate_k, *summed)


def _prepared(problem: KuramotoProblem) -> tuple[Tensor, Tensor, Tensor, Rotations]:
    kind = compute_dtype(problem.theta)
    given = (problem.theta, problem.gate_q, problem.gate_k)
    theta, gate_q, gate_k = (_taking_part(problem, x.to(kind)) for x in given)
    positions = torch.arange(theta.shape[-2], device=theta.device)
    at = features.rotations(theta, features.drift_angles(problem.drift, positions))
    return theta, gate_q, gate_k, at


def _taking_part(problem: KuramotoProblem, tensor: Tensor) -> Tensor:
    """Zero for padded tokens, whatever they hold."""
    return tensor if problem.valid is None else torch.where(problem.valid[:, None, :, None], tensor, 0.0)


def _scores(problem: KuramotoProblem, at: Rotations, gate_q: Tensor, gate_k: Tensor) -> Tensor:
    """s_tu, -inf where u is no source of t; (B, H, N, N)."""
    n, width = problem.theta.shape[-2:]
    query = _factor(problem, features.query(at, gate_q, problem.tau))
    score = query @ _factor(problem, features.key(at, gate_k)).mT / math.sqrt(width)
    allowed = torch.ones(n, n, dtype=torch.bool, device=score.device)
    allowed = allowed.tril() if problem.causal else allowed
    if problem.valid is not None:
        allowed = allowed & problem.valid[:, None, None, :]
    return score.masked_fill(~allowed, -math.inf)


def _weights(problem: KuramotoProblem, score: Tensor) -> Tensor:
    """A_tu; rows of padded tokens are 0."""
    weights = torch.softmax(score, dim=-1)
    return weights if problem.valid is None else torch.where(problem.valid[:, None, :, None], weights, 0.0)


def _halves(wide: Tensor) -> tuple[Tensor, Tensor]:
    first, second = wide.chunk(2, dim=-1)
    return first, second


def _factor(problem: KuramotoProblem, tensor: Tensor) -> Tensor:
    """A factor of a product over tokens, rounded to the operand type."""
    return tensor.to(operand_dtype(problem)).to(tensor.dtype)
