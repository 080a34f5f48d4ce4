"""Kuramoto attention in Triton: features of every token, then tiles, then the chain rule of the features.

On CPU tensors the kernels are interpreted. What scales a tile's numbers into float16's range is decided here,
all of it in powers of two, so it costs no rounding.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import torch
from torch import Tensor
from triton.runtime import driver

from hw_targets.triton.ops import kuramoto_features as features
from hw_targets.triton.ops.fused_launch import Launch
from hw_targets.triton.ops.fused_run import run
from hw_targets.triton.ops.kuramoto_problem import (
    KuramotoForward,
    KuramotoGradients,
    KuramotoProblem,
    operand_dtype,
)
from hw_targets.triton.ops.kuramoto_tiles import ROOMY_BYTES, TOKENS, launches

_LOG2_E = 1.0 / math.log(2.0)

# |p (d_mean . value - own)| <= 4 k <= 512 for rows divided by their largest gradient: 2^6 times that is
# within float16, and its smallest step is then 2^-30 of a whole weight.
_LIFT = 6.0
_FILLS_PADDING = ("kuramoto_features", "kuramoto_upstream")

# An exponent level above which every weight is 0: the largest score is about this.
_NOWHERE = 3.4e38


class _Prepared(NamedTuple):
    """What all kernels read: inputs, operands and factors (see kernels/kuramoto_features.py)."""

    inputs: dict[str, Tensor]
    operands: dict[str, Tensor]
    query_factor: Tensor
    key_factor: Tensor
    sizes: dict[str, int]
    launches: dict[str, Launch]


def forward(problem: KuramotoProblem) -> KuramotoForward:
    """Tangent increment, radial part and log-sum-exp of every row."""
    theta, given = problem.theta, _prepare(problem)
    result = KuramotoForward(
        torch.empty_like(theta, dtype=torch.float32),
        torch.empty_like(theta, dtype=torch.float32),
        theta.new_empty(theta.shape[:-1], dtype=torch.float32),
    )
    _run(
        given,
        "kuramoto_forward",
        **given.operands,
        row_factor=_row_factor(problem, given.query_factor),
        key_factor=given.key_factor,
        theta=theta,
        **result._asdict(),
    )
    return result._replace(increment=result.increment.to(theta.dtype))


def backward(problem: KuramotoProblem, saved: KuramotoForward, d_increment: Tensor) -> KuramotoGradients:
    """Gradients by query, by source, and from both those by the inputs."""
    given, theta = _prepare(problem), problem.theta
    upstream = torch.empty_like(given.operands["value"])
    share, own = torch.empty_like(given.query_factor), torch.empty_like(given.query_factor)
    outer = {"increment": saved.increment, "d_increment": d_increment}
    inputs = {name: given.inputs[name] for name in ("theta", "valid")}
    _run(given, "kuramoto_upstream", **inputs, **outer, d_mean=upstream, factor=share, own=own)
    by_query, by_key, by_value = _by_features(problem, given, saved.logsumexp, upstream, share, own)
    per_token = {
        name: torch.empty_like(theta, dtype=torch.float32)
        for name in ("d_theta", "d_gate_q", "d_gate_k", "d_phi")
    }
    by_tau = theta.new_empty(theta.shape[:-1], dtype=torch.float32)
    _run(
        given,
        "kuramoto_pull_back",
        **given.inputs,
        tau=problem.tau.float().contiguous(),
        radial=saved.radial,
        d_increment=d_increment,
        d_query=by_query,
        d_key=by_key,
        d_value=by_value,
        d_tau=by_tau,
        **per_token,
    )
    positions = torch.arange(theta.shape[-2], device=theta.device)
    summed = features.drift_and_tau(per_token.pop("d_phi"), by_tau, positions, problem.drift, problem.tau)
    by_theta, by_gate_q, by_gate_k = (x.to(theta.dtype) for x in per_token.values())
    return KuramotoGradients(by_theta, by_gate_q, by_gate_k, *summed)


def _by_features(
    problem: KuramotoProblem,
    given: _Prepared,
    logsumexp: Tensor,
    upstream: Tensor,
    factor: Tensor,
    own: Tensor,
) -> tuple[Tensor, Tensor, Tensor]:
    """Gradients by query before tau, by key and by value, (B H, padded, 2K) float32."""
    width = given.operands["value"].shape[-1]
    by_query, by_key, by_value = (factor.new_empty((*factor.shape, width)) for _ in range(3))
    largest_key = given.key_factor.amax(dim=-1, keepdim=True)
    largest_key = torch.where(largest_key > 0, largest_key, 1.0)
    largest_query, largest = (x.amax(dim=-1, keepdim=True) for x in (given.query_factor, factor))
    shared = {
        **given.operands,
        "d_mean": upstream,
        "row_factor": _row_factor(problem, given.query_factor) * largest_key,
        "column_factor": given.key_factor / largest_key,
        "own": own,
    }
    level = torch.full_like(factor, _NOWHERE)
    n = logsumexp.shape[-1]
    level[:, :n] = logsumexp.flatten(0, 1) * _LOG2_E
    level = torch.where(given.key_factor > 0, level, _NOWHERE)
    scale = 2.0**-_LIFT / math.sqrt(problem.theta.shape[-1])
    unit = factor * largest_key * scale
    lift = torch.full_like(factor, _LIFT)
    _run(given, "kuramoto_by_query", **shared, level=level, lift=lift, unit=unit, d_query=by_query)
    _run(
        given,
        "kuramoto_by_source",
        **shared,
        level=level,
        lift=lift + torch.log2(factor / largest),
        query_share=given.query_factor / largest_query,
        key_unit=_per_row(problem.tau, problem) * (largest * largest_query * scale).squeeze(-1),
        value_unit=(largest * 2.0**-_LIFT).squeeze(-1),
        d_key=by_key,
        d_value=by_value,
    )
    return by_query, by_key, by_value


def _prepare(problem: KuramotoProblem) -> _Prepared:
    theta = problem.theta
    batch, heads, n, channels = theta.shape
    plan = launches(channels, problem.causal, operand_dtype(problem), problem.precision, _roomy(theta.device))
    padded = -(-n // TOKENS) * TOKENS
    constants = plan["kuramoto_features"].constants
    kind = torch.float32 if problem.precision == "fp32" else torch.float16
    shape = (constants["PARTS"], batch * heads, padded, constants["WIDTH"])
    operands = {name: theta.new_empty(shape, dtype=kind) for name in ("query", "key", "value")}
    query_factor, key_factor = (theta.new_empty(shape[1:3], dtype=torch.float32) for _ in range(2))
    valid = theta.new_ones((batch, n), dtype=torch.int8) if problem.valid is None else problem.valid
    inputs = {
        "theta": theta,
        "gate_q": problem.gate_q,
        "gate_k": problem.gate_k,
        "angle": features.drift_angles(problem.drift, torch.arange(n, device=theta.device)).float(),
        "valid": valid.to(torch.int8).contiguous(),
    }
    sizes = {"n": n, "padded": padded, "heads": heads}
    given = _Prepared(inputs, operands, query_factor, key_factor, sizes, plan)
    _run(given, "kuramoto_features", **inputs, **operands, query_factor=query_factor, key_factor=key_factor)
    return given


def _roomy(device: torch.device) -> bool:
    """Whether the larger tiles fit; the interpreter runs those of the larger GPU."""
    if device.type == "cpu":
        return True
    index = torch.cuda.current_device() if device.index is None else device.index
    found = driver.active.utils.get_device_properties(index)  # pyright: ignore[reportAttributeAccessIssue]
    return found["max_shared_mem"] >= ROOMY_BYTES


def _row_factor(problem: KuramotoProblem, query_factor: Tensor) -> Tensor:
    """``tau log2(e) / sqrt(k)`` times the query's factor: a score's exponent of 2 per unit of the product."""
    scale = _LOG2_E / math.sqrt(problem.theta.shape[-1])
    return query_factor * (_per_row(problem.tau, problem) * scale)[:, None]


def _per_row(per_head: Tensor, problem: KuramotoProblem) -> Tensor:
    """(H,) to (B H,)."""
    return per_head.float().repeat(problem.theta.shape[0])


def _run(given: _Prepared, name: str, **arguments: Any) -> None:
    launch = given.launches[name]
    extent = given.sizes["padded" if name in _FILLS_PADDING else "n"]
    grid = (-(-extent // launch.rows), given.key_factor.shape[0])
    run(launch, grid, {**given.sizes, **arguments})
