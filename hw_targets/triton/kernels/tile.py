"""What every tile needs: frequency mismatch and mask.

A tile is BLOCK_M driven oscillators (rows, starting at ``first``) by BLOCK_N sources (columns, starting
at ``start``) of one head. Frequencies come as up to three float32 parts on fixed grids
(frequency_grid.py), so every difference of parts is exact and clusters far apart do not cancel. Offsets
are 64-bit per tile and 32-bit within it: fewer registers, and N * BLOCK_M stays below 2^31.
"""

# pyright: reportGeneralTypeIssues=false
# (what a jit function returns and what static_range yields exist only inside a kernel)

import triton
import triton.language as tl


@triton.jit
def squared_mismatch(
    frequency, head, rows, columns, n,
    CHANNELS: tl.constexpr, PARTS: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
):  # fmt: skip
    """(BLOCK_M, BLOCK_N) ``sum_l (omega_i^l - omega_j^l)^2`` in grid units; frequency (H, D, PARTS, N)."""
    squared = tl.full((BLOCK_M, BLOCK_N), 0.0, tl.float32)
    base = frequency + head * (CHANNELS * PARTS) * n
    row_inside = rows < n
    column_inside = columns < n
    for _ in range(CHANNELS):
        delta = squared
        for part in tl.static_range(PARTS):
            driven = tl.load(base + rows, mask=row_inside, other=0.0)
            source = tl.load(base + columns, mask=column_inside, other=0.0)
            if part == 0:
                delta = driven[:, None] - source[None, :]
            else:
                delta += driven[:, None] - source[None, :]
            base += n
        squared += delta * delta
    return squared


@triton.jit
def allowed_tile(active, rows, columns, n, CAUSAL: tl.constexpr):
    """(BLOCK_M, BLOCK_N) bool: inside the matrix, neither end padded, and j <= i when causal."""
    driven = tl.load(active + rows, mask=rows < n, other=0) != 0
    source = tl.load(active + columns, mask=columns < n, other=0) != 0
    allowed = driven[:, None] & source[None, :]
    if CAUSAL:
        allowed = allowed & (columns[None, :] <= rows[:, None])
    return allowed
