"""Parameters of every row for the Triton kernels of selective synchronization attention.

kernels/ssa_tile.py names the columns of the table. Two scales go with it: the operands of the plain product
are frequencies less a centre times s, so that the product of a pair is UNIT (1 - u) after adding norms; the
careful kernels multiply differences by f, a power of two, which changes no bit of them.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn.functional import pad

from hw_targets.triton.ops.problem import SSAProblem

TABLE_WIDTH = 16
UNIT = 256.0
COEFFICIENTS = 5

# Rows with |a|^2 max(1, w) up to this, a in units of d* from the centre, take the plain product. The pairs
# of such a row that lock have |a|^2 + |b|^2 <= 2 (sqrt(8) + 1)^2 = 30; norms, three products in split
# precision and their sum round by less than 8 2^-24 of that: 1.4e-5 in u, so 7e-6 per condition in S.
NORM_LIMIT = 8.0

# However small |a|^2 is, the product holds 1 - u with two roundings of 2^-24: that turns S_ii = 1 into
# 1 - w 2^-24, 4e-6 here; rows with a larger w are careful.
PLAIN_SELECTIVITY = 64.0

# A column this far from the centre, in units of d*, has u >= 4 with every plain row.
FAR = math.sqrt(NORM_LIMIT) + 2.0

# Strengths of one head may differ by row: c between 1/4 and 2^18 of the head's reference keeps operands
# inside float16 and their low halves above its smallest step; other rows are careful.
SMALLEST_RATIO, LARGEST_RATIO = 0.25, 2.0**18

# In causal layers rows of the first tile are careful, for the centre is the median of that tile.
FIRST_TILE = 64

# Largest w of the polynomial form: degree 4 errs by 8.5e-7 at w = 1.5, degree 3 by 1.2e-4 at w = 2, a tenth
# of what one 16-bit product does.
POLYNOMIAL_LIMIT = {3: 2.0, 4: 1.5}


class Table(NamedTuple):
    """(B H, 1 or padded, TABLE_WIDTH) and (B H, 2): s and f."""

    table: Tensor
    scale: Tensor


def degree(precision: str) -> int:
    """Degree of the polynomial form of S."""
    return 3 if precision == "fast" else 4


def row_table(problem: SSAProblem, padded: int) -> Table:
    """Float32 parameters of every row, or of every head when all its rows have the same strength."""
    c, w, coupled = (x.flatten(0, 1) for x in (problem.inverse_square, problem.selectivity, problem.coupled))
    per_row = c.shape[1] > 1
    reference = _reference(problem, c, coupled)
    c = torch.where(coupled, c, 1.0)
    s = math.sqrt(2.0 * UNIT) * reference.sqrt()
    f = torch.exp2(torch.round(0.5 * torch.log2(reference)))
    ratio = c / reference
    usable = coupled & (ratio >= SMALLEST_RATIO) & (ratio <= LARGEST_RATIO) & (w <= PLAIN_SELECTIVITY)
    order = degree(problem.precision)
    columns = [
        2.0 * UNIT * c / s,
        UNIT * c / s**2 if per_row else torch.full_like(c, 0.5),
        s**2 / (4.0 * UNIT * c),
        torch.where(usable, UNIT * NORM_LIMIT / w.clamp(min=1.0), -1.0),
        (w > POLYNOMIAL_LIMIT[order]).to(c),
        w / math.log(2.0),
        torch.exp(-w),
        torch.where(coupled, -2.0 * c / s, 0.0),
        c / f**2,
        coupled.to(c),
    ]
    polynomial = coefficients(w.clamp(max=POLYNOMIAL_LIMIT[order]), order)
    table = torch.cat([torch.stack(columns, dim=-1), polynomial], dim=-1)
    rows = padded - c.shape[1] if per_row else 0
    table = pad(table, (0, TABLE_WIDTH - table.shape[-1], 0, rows)).float().contiguous()
    return Table(table, torch.cat([s, f], dim=-1).float().contiguous())


def _reference(problem: SSAProblem, c: Tensor, coupled: Tensor) -> Tensor:
    """(B H, 1) the smallest c among the coupled rows; causal: among those of the first tile."""
    if problem.causal:
        c, coupled = c[:, :FIRST_TILE], coupled[:, :FIRST_TILE]
    smallest = torch.where(coupled, c, math.inf).amin(dim=1, keepdim=True)
    return torch.where(smallest < math.inf, smallest, 1.0)


def coefficients(w: Tensor, order: int) -> Tensor:
    """Coefficients of Q_w, S = sqrt(z) Q_w(z), for z in units of 1/UNIT: (..., COEFFICIENTS), 0 at the end.

    Q_w(z) = sqrt( exp(-w) (expm1(w z) + z)/z ), interpolated at Chebyshev nodes of [0, 1].
    """
    k = torch.arange(order + 1, dtype=torch.float64, device=w.device)
    z = 0.5 + 0.5 * torch.cos(math.pi * (k + 0.5) / (order + 1))
    w = w.double()[..., None]
    at_nodes = torch.sqrt(torch.exp(-w) * (torch.expm1(w * z) / z + 1.0))
    powers = z[:, None] ** k
    fixed = torch.linalg.inv(powers)
    unit = UNIT ** -(k + 0.5)
    return pad((at_nodes @ fixed.T) * unit, (0, COEFFICIENTS - order - 1))
