"""Kuramoto attention on the CPU in memory O(N), around torch's own exact flash attention kernel.

Forward and backward are chained by hand: only the inputs, the mean's two parts and the log-sum-exp are kept
in between, and the trigonometry is done again. Padded tokens are taken out before the kernel and put back as
zeros after it, so a padded call computes exactly what the unpadded one does.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

import torch
from torch import Tensor

from hw_targets.triton.ops import kuramoto_features as features
from hw_targets.triton.ops.kuramoto_eager import gradients
from hw_targets.triton.ops.kuramoto_features import InputGradients, Rotations
from hw_targets.triton.ops.kuramoto_problem import (
    KuramotoForward,
    KuramotoGradients,
    KuramotoProblem,
    operand_dtype,
)
from hw_targets.triton.ops.kuramoto_values import read

_attend = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu
_attend_backward = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu_backward


class _Part(NamedTuple):
    """Batch elements that are computed in one go, and which of their tokens take part (None: all)."""

    batch: slice
    tokens: Tensor | None

    def take(self, tensor: Tensor) -> Tensor:
        """Tokens of a tensor (B, H, N, ...) in float32."""
        part = tensor[self.batch]
        return (part if self.tokens is None else part.index_select(2, self.tokens)).float()

    def put(self, whole: Tensor, part: Tensor) -> None:
        """Write tokens back into a tensor (B, H, N, ...)."""
        if self.tokens is None:
            whole[self.batch].copy_(part)
        else:
            whole[self.batch].index_copy_(2, self.tokens, part.to(whole.dtype))


class _Prepared(NamedTuple):
    gate_q: Tensor
    gate_k: Tensor
    at: Rotations
    query: Tensor
    key: Tensor
    value: Tensor
    scale: float


def forward(problem: KuramotoProblem) -> KuramotoForward:
    """Tangent increment, radial part and log-sum-exp of every row."""
    shape = problem.theta.shape
    result = KuramotoForward(
        problem.theta.new_zeros(shape),
        problem.theta.new_zeros(shape, dtype=torch.float32),
        problem.theta.new_zeros(shape[:-1], dtype=torch.float32),
    )
    for part in _parts(problem):
        given = _prepared(problem, part)
        mean, total = _attend(given.query, given.key, given.value, 0.0, problem.causal, scale=given.scale)
        first, second = mean.float().chunk(2, dim=-1)
        for whole, own in zip(result, (*read(given.at.theta, (first, second)), total), strict=True):
            part.put(whole, own)
    return result


def backward(problem: KuramotoProblem, saved: KuramotoForward, d_increment: Tensor) -> KuramotoGradients:
    """The kernel's backward pass between the two chain rules of the features."""
    shape = problem.theta.shape
    shapes = (shape, shape, shape, shape, shape[:-1])
    whole = InputGradients._make(problem.theta.new_zeros(x, dtype=torch.float32) for x in shapes)
    for part in _parts(problem):
        for all_tokens, own in zip(whole, _part_backward(problem, part, saved, d_increment), strict=True):
            part.put(all_tokens, own)
    return gradients(problem, whole)


def _part_backward(
    problem: KuramotoProblem, part: _Part, saved: KuramotoForward, d_increment: Tensor
) -> InputGradients:
    given, kind = _prepared(problem, part), operand_dtype(problem)
    increment, radial, upstream = (part.take(x) for x in (saved.increment, saved.radial, d_increment))
    by_features = _attend_backward(
        features.d_mean(given.at, upstream).to(kind),
        given.query,
        given.key,
        given.value,
        features.mean(given.at, increment, radial).to(kind),
        part.take(saved.logsumexp),
        0.0,
        problem.causal,
        scale=given.scale,
    )
    direct = -radial * upstream
    return features.pull_back(given.at, given.gate_q, given.gate_k, problem.tau, by_features, direct)


def _parts(problem: KuramotoProblem) -> Iterator[_Part]:
    """The whole batch, or each element with the tokens that take part."""
    if problem.valid is None:
        yield _Part(slice(None), None)
        return
    for index, row in enumerate(problem.valid):
        tokens = row.nonzero().flatten()
        if len(tokens) > 0:
            yield _Part(slice(index, index + 1), tokens)


def _prepared(problem: KuramotoProblem, part: _Part) -> _Prepared:
    theta, gate_q, gate_k = (part.take(x) for x in (problem.theta, problem.gate_q, problem.gate_k))
    positions = torch.arange(problem.theta.shape[2]) if part.tokens is None else part.tokens
    at = features.rotations(theta, features.drift_angles(problem.drift, positions))
    wide = features.query(at, gate_q, problem.tau), features.key(at, gate_k), features.value(at)
    query, key, value = (x.to(operand_dtype(problem)) for x in wide)
    return _Prepared(gate_q, gate_k, at, query, key, value, 1.0 / math.sqrt(theta.shape[-1]))
