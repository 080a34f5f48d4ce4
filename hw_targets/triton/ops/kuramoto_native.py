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

from hw_targets.triton.ops import kuramoto_blocks as blocks
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

    def put(self, whole: tuple[Tensor, ...], part: tuple[Tensor, ...]) -> None:
        """Write tokens back into tensors (B, H, N, ...)."""
        tokens = slice(None) if self.tokens is None else self.tokens
        for all_tokens, own in zip(whole, part, strict=True):
            all_tokens[self.batch][:, :, tokens] = own.to(all_tokens.dtype)


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
    if problem.valid is None:
        return _part_forward(problem, _Part(slice(None), None))
    kind, whole = problem.theta.dtype, _zeros(problem, 2)
    for part in _parts(problem.valid):
        part.put(whole, _part_forward(problem, part))
    return KuramotoForward(whole[0].to(kind), whole[1], whole[2])


def backward(problem: KuramotoProblem, saved: KuramotoForward, d_increment: Tensor) -> KuramotoGradients:
    """The kernel's backward pass between the two chain rules of the features."""
    if problem.valid is None:
        return gradients(problem, _part_backward(problem, _Part(slice(None), None), saved, d_increment))
    whole = _zeros(problem, 4)
    for part in _parts(problem.valid):
        part.put(whole, _part_backward(problem, part, saved, d_increment))
    return gradients(problem, InputGradients._make(whole))


def _part_forward(problem: KuramotoProblem, part: _Part) -> KuramotoForward:
    given = _prepared(problem, part)
    mean, total = _attend(given.query, given.key, given.value, 0.0, problem.causal, scale=given.scale)
    first, second = mean.float().chunk(2, dim=-1)
    tangent, radial = read(given.at.theta, (first, second))
    tangent = tangent.to(problem.theta.dtype)
    return KuramotoForward(tangent.contiguous(), radial.contiguous(), total.contiguous())


def _part_backward(
    problem: KuramotoProblem, part: _Part, saved: KuramotoForward, d_increment: Tensor
) -> InputGradients:
    given, kind = _prepared(problem, part), _factor_dtype(problem)
    increment, radial, upstream = (part.take(x) for x in (saved.increment, saved.radial, d_increment))
    attended = given.query, given.key, given.value
    d_mean = features.d_mean(given.at, upstream).to(kind)
    if blocks.needed(given.query, given.key, given.scale):
        by_features = blocks.backward(d_mean, *attended, problem.causal, given.scale)
    else:
        mean = features.mean(given.at, increment, radial).to(kind)
        total = part.take(saved.logsumexp)
        by_features = _attend_backward(d_mean, *attended, mean, total, 0.0, problem.causal, scale=given.scale)
    direct = -radial * upstream
    return features.pull_back(given.at, given.gate_q, given.gate_k, problem.tau, by_features, direct)


def _parts(valid: Tensor) -> Iterator[_Part]:
    """Each batch element with the tokens that take part."""
    for index, row in enumerate(valid):
        tokens = row.nonzero().flatten()
        if len(tokens) > 0:
            yield _Part(slice(index, index + 1), tokens)


def _zeros(problem: KuramotoProblem, wide: int) -> tuple[Tensor, ...]:
    """Results to fill: ``wide`` of (B, H, N, k) and one of (B, H, N), float32."""
    shape = problem.theta.shape
    shapes = [shape] * wide + [shape[:-1]]
    return tuple(problem.theta.new_zeros(x, dtype=torch.float32) for x in shapes)


def _factor_dtype(problem: KuramotoProblem) -> torch.dtype:
    """What the kernel's operands are rounded to; float16 has neither range nor speed on a CPU."""
    kind = operand_dtype(problem)
    return torch.float32 if kind == torch.float16 else kind


def _prepared(problem: KuramotoProblem, part: _Part) -> _Prepared:
    theta, gate_q, gate_k = (part.take(x) for x in (problem.theta, problem.gate_q, problem.gate_k))
    positions = torch.arange(problem.theta.shape[2]) if part.tokens is None else part.tokens
    at = features.rotations(theta, features.drift_angles(problem.drift, positions))
    wide = features.query(at, gate_q, problem.tau), features.key(at, gate_k), features.value(at)
    query, key, value = (x.to(_factor_dtype(problem)) for x in wide)
    return _Prepared(gate_q, gate_k, at, query, key, value, 1.0 / math.sqrt(theta.shape[-1]))
