"""Backward pass of Kuramoto attention in two deterministic passes, by rows and by columns; no atomics.

Weights come back from the saved log-sum-exp: p_tu = exp2(min(s - L_t, 0)), for rounding of large scores can
put s above L_t. Whatever scales a row of gradients is a power of two added to the exponent, its *lift*, so
that float16 parts of p and ds stay in range (kuramoto_fused.py picks them).
"""

# pyright: reportGeneralTypeIssues=false
# (what a jit function returns exists only inside a kernel)

import triton
import triton.language as tl

from .kuramoto_tile import exponent_of, load_operand, product, rest_of


@triton.jit
def by_query_tile(
    query, query_rest, upstream, upstream_rest, row_factor, level, lift, own, rows, total,
    key, value, column_factor, start, size,
    PARTS: tl.constexpr, EDGE: tl.constexpr, WIDTH: tl.constexpr,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
):  # fmt: skip
    """Add ``sum_u ds_tu key_u`` of one tile, ``ds = p (d_mean . value - own)``."""
    local = tl.arange(0, BLOCK_N)
    at = local[:, None] * WIDTH + tl.arange(0, WIDTH)[None, :]
    key_part, key_rest = load_operand(key, at, size, PARTS)
    factor = tl.load(column_factor + local)[None, :]
    zero = tl.full((BLOCK_M, BLOCK_N), 0.0, tl.float32)
    score = product(query, query_rest, tl.trans(key_part), tl.trans(key_rest), zero, PARTS)
    score = exponent_of(score, row_factor[:, None], factor)
    weight = tl.exp2(tl.minimum(score - level[:, None], 0.0) + lift[:, None])
    if EDGE:
        weight = tl.where((start + local)[None, :] <= rows[:, None], weight, 0.0)
    value_part, value_rest = load_operand(value, at, size, PARTS)
    change = product(upstream, upstream_rest, tl.trans(value_part), tl.trans(value_rest), zero, PARTS)
    change = weight * (change - own[:, None]) * factor
    part = change.to(query.dtype)
    return product(part, rest_of(change, part, PARTS), key_part, key_rest, total, PARTS)


@triton.jit
def kuramoto_by_query(
    query, key, value, d_mean, row_factor, column_factor, level, lift, own, unit, d_query, n, padded,
    WIDTH: tl.constexpr, PARTS: tl.constexpr, CAUSAL: tl.constexpr,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
):  # fmt: skip
    """Gradient by query (B H, padded, WIDTH), times unit_t; one program per row tile and batch-head."""
    one = tl.program_id(1).to(tl.int64)
    first = (tl.num_programs(0) - 1 - tl.program_id(0)) * BLOCK_M
    local = tl.arange(0, BLOCK_M)
    rows = first + local
    size = tl.num_programs(1).to(tl.int64) * padded * WIDTH
    at = (one * padded + first) * WIDTH + (local[:, None] * WIDTH + tl.arange(0, WIDTH)[None, :])
    own_query, own_query_rest = load_operand(query, at, size, PARTS)
    upstream, upstream_rest = load_operand(d_mean, at, size, PARTS)
    vector = one * padded + rows
    scale = tl.load(row_factor + vector)
    shift = tl.load(level + vector)
    raised = tl.load(lift + vector)
    inner = tl.load(own + vector)
    total = tl.full((BLOCK_M, WIDTH), 0.0, tl.float32)
    columns = column_factor + one * padded
    edge = n
    if CAUSAL:
        edge = first // BLOCK_N * BLOCK_N
    for start in range(0, edge, BLOCK_N):
        skipped = (one * padded + start) * WIDTH
        total = by_query_tile(
            own_query, own_query_rest, upstream, upstream_rest, scale, shift, raised, inner, rows, total,
            key + skipped, value + skipped, columns + start, start, size,
            PARTS, False, WIDTH, BLOCK_M, BLOCK_N,
        )  # fmt: skip
    if CAUSAL:
        for start in range(edge, tl.minimum(first + BLOCK_M, n), BLOCK_N):
            skipped = (one * padded + start) * WIDTH
            total = by_query_tile(
                own_query, own_query_rest, upstream, upstream_rest, scale, shift, raised, inner, rows, total,
                key + skipped, value + skipped, columns + start, start, size,
                PARTS, True, WIDTH, BLOCK_M, BLOCK_N,
            )  # fmt: skip
    tl.store(d_query + at, total * tl.load(unit + vector)[:, None])


@triton.jit
def by_source_tile(
    key, key_rest, value, value_rest, column_factor, columns, by_key, by_value,
    query, d_mean, row_factor, level, lift, own, query_share, start, size,
    PARTS: tl.constexpr, EDGE: tl.constexpr, WIDTH: tl.constexpr,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
):  # fmt: skip
    """Add ``sum_t ds_tu query_t`` and ``sum_t p_tu d_mean_t`` of one tile, which is held transposed."""
    local = tl.arange(0, BLOCK_M)
    at = local[:, None] * WIDTH + tl.arange(0, WIDTH)[None, :]
    query_part, query_rest = load_operand(query, at, size, PARTS)
    zero = tl.full((BLOCK_N, BLOCK_M), 0.0, tl.float32)
    score = product(key, key_rest, tl.trans(query_part), tl.trans(query_rest), zero, PARTS)
    score = exponent_of(score, tl.load(row_factor + local)[None, :], column_factor[:, None])
    weight = tl.minimum(score - tl.load(level + local)[None, :], 0.0)
    weight = tl.exp2(weight + tl.load(lift + local)[None, :])
    if EDGE:
        weight = tl.where(columns[:, None] <= (start + local)[None, :], weight, 0.0)
    upstream, upstream_rest = load_operand(d_mean, at, size, PARTS)
    part = weight.to(key.dtype)
    by_value = product(part, rest_of(weight, part, PARTS), upstream, upstream_rest, by_value, PARTS)
    change = product(value, value_rest, tl.trans(upstream), tl.trans(upstream_rest), zero, PARTS)
    change = weight * (change - tl.load(own + local)[None, :]) * tl.load(query_share + local)[None, :]
    part = change.to(key.dtype)
    by_key = product(part, rest_of(change, part, PARTS), query_part, query_rest, by_key, PARTS)
    return by_key, by_value


@triton.jit
def kuramoto_by_source(
    query, key, value, d_mean, row_factor, column_factor, level, lift, own, query_share, key_unit,
    value_unit, d_key, d_value, n, padded,
    WIDTH: tl.constexpr, PARTS: tl.constexpr, CAUSAL: tl.constexpr,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
):  # fmt: skip
    """Gradients by key and value (B H, padded, WIDTH), times a unit per batch-head.

    One program per column tile and batch-head.
    """
    one = tl.program_id(1).to(tl.int64)
    first = tl.program_id(0) * BLOCK_N
    local = tl.arange(0, BLOCK_N)
    size = tl.num_programs(1).to(tl.int64) * padded * WIDTH
    at = (one * padded + first) * WIDTH + (local[:, None] * WIDTH + tl.arange(0, WIDTH)[None, :])
    own_key, own_key_rest = load_operand(key, at, size, PARTS)
    own_value, own_value_rest = load_operand(value, at, size, PARTS)
    factor = tl.load(column_factor + one * padded + first + local)
    by_key = tl.full((BLOCK_N, WIDTH), 0.0, tl.float32)
    by_value = tl.full((BLOCK_N, WIDTH), 0.0, tl.float32)
    row_factor += one * padded
    level += one * padded
    lift += one * padded
    own += one * padded
    query_share += one * padded
    begin = 0
    if CAUSAL:
        begin = first // BLOCK_M * BLOCK_M
        for start in range(begin, tl.minimum(first + BLOCK_N, n), BLOCK_M):
            skipped = (one * padded + start) * WIDTH
            by_key, by_value = by_source_tile(
                own_key, own_key_rest, own_value, own_value_rest, factor, first + local, by_key, by_value,
                query + skipped, d_mean + skipped, row_factor + start, level + start, lift + start,
                own + start, query_share + start, start, size, PARTS, True, WIDTH, BLOCK_M, BLOCK_N,
            )  # fmt: skip
        begin = (first + BLOCK_N + BLOCK_M - 1) // BLOCK_M * BLOCK_M
    for start in range(begin, n, BLOCK_M):
        skipped = (one * padded + start) * WIDTH
        by_key, by_value = by_source_tile(
            own_key, own_key_rest, own_value, own_value_rest, factor, first + local, by_key, by_value,
            query + skipped, d_mean + skipped, row_factor + start, level + start, lift + start,
            own + start, query_share + start, start, size, PARTS, False, WIDTH, BLOCK_M, BLOCK_N,
        )  # fmt: skip
    tl.store(d_key + at, by_key * tl.load(key_unit + one))
    tl.store(d_value + at, by_value * tl.load(value_unit + one))
