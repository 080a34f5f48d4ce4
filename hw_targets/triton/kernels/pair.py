"""The pair law with an explicit coupling matrix (docs/spec.md sections 2 and 3)."""

import triton
import triton.language as tl

from .tile import allowed_tile, squared_mismatch


@triton.jit
def explicit_pair(
    frequency, identity, matrix, inverse_strength, active, values, sync, locked, output, n,
    CHANNELS: tl.constexpr, PARTS: tl.constexpr, VALUES: tl.constexpr, CAUSAL: tl.constexpr,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
):  # fmt: skip
    """Pair law: ``q = d/(K r_i)``, locked where ``q <= |J|``, ``S = sqrt((|J| - q)(|J| + q))``.

    One program per row tile and head. Dividing by K r_i once per row leaves no quotient d/a, so a = 0
    needs no case of its own: such rows carry a negative inverse_strength and lock identical oscillators
    only, like cells with J = 0. With VALUES (width, 0 for none): ``y_i = sum_j S_ij V_j / sum_j S_ij``.
    """
    head = tl.program_id(1).to(tl.int64)
    first = tl.program_id(0) * BLOCK_M
    local = tl.arange(0, BLOCK_M)
    rows = first + local
    scale = tl.load(inverse_strength + head * n + rows, mask=rows < n, other=-1.0)[:, None]
    same_row = tl.load(identity + head * n + rows, mask=rows < n, other=-1)[:, None]
    corner = (head * n + first) * n
    stop = n
    if CAUSAL:
        stop = tl.minimum(n, first + BLOCK_M)
    if VALUES > 0:
        wide = tl.arange(0, VALUES)[None, :]
        total = tl.full((BLOCK_M,), 0.0, tl.float32)
        summed = tl.full((BLOCK_M, VALUES), 0.0, tl.float32)
    for start in range(0, stop, BLOCK_N):
        columns = start + tl.arange(0, BLOCK_N)
        inside = (rows < n)[:, None] & (columns < n)[None, :]
        cell = local[:, None] * n + columns[None, :]
        squared = squared_mismatch(frequency, head, rows, columns, n, CHANNELS, PARTS, BLOCK_M, BLOCK_N)
        j = tl.abs(tl.load(matrix + corner + cell, mask=inside, other=0.0))
        q = scale * tl.sqrt(squared)
        same_column = tl.load(identity + head * n + columns, mask=columns < n, other=-2)[None, :]
        lock = ((q <= j) & (j > 0.0) & (scale > 0.0)) | (same_row == same_column)
        lock = lock & allowed_tile(active, rows, columns, n, CAUSAL)
        q = tl.maximum(tl.minimum(q, j), 0.0)
        s = tl.where(lock, tl.sqrt((j - q) * (j + q)), 0.0)
        tl.store(sync + corner + cell, s, mask=inside)
        tl.store(locked + corner + cell, lock.to(tl.int8), mask=inside)
        if VALUES > 0:
            at = tl.arange(0, BLOCK_N)[:, None] * VALUES + wide
            v = tl.load(values + (head * n + start) * VALUES + at, mask=(columns < n)[:, None], other=0.0)
            summed = tl.dot(s, v, summed, input_precision="ieee")
            total += tl.reduce(s, 1, tl.standard._sum_combine)
    if CAUSAL:
        for start in range((stop + BLOCK_N - 1) // BLOCK_N * BLOCK_N, n, BLOCK_N):
            columns = start + tl.arange(0, BLOCK_N)
            inside = (rows < n)[:, None] & (columns < n)[None, :]
            cell = local[:, None] * n + columns[None, :]
            tl.store(sync + corner + cell, tl.full((BLOCK_M, BLOCK_N), 0.0, tl.float32), mask=inside)
            tl.store(locked + corner + cell, tl.full((BLOCK_M, BLOCK_N), 0, tl.int8), mask=inside)
    if VALUES > 0:
        mean = summed / tl.where(total > 0.0, total, 1.0)[:, None]
        at = (head * n + first) * VALUES + (local[:, None] * VALUES + wide)
        tl.store(output + at, mean, mask=(rows < n)[:, None])
