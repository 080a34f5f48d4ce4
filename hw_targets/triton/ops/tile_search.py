"""The search behind block_map: candidates along one axis, exact distances of boxes."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor

from hw_targets.triton.ops.normal_form import check_finite, normal_form
from hw_targets.triton.ops.tile_boxes import Boxes, boxes, tile_radius
from oscsim.errors import ConfigError

# Pairs of tiles looked at in one go: bounds the memory of the search.
CHUNK = 1 << 19


@torch.library.custom_op(
    "oscsim::block_map",
    mutates_args=(),
    schema="(Tensor omega, Tensor alpha, Tensor gain, Tensor order_parameter, Tensor? valid, bool causal, "
    "int rows, int columns, float growth) -> (Tensor, Tensor, Tensor, Tensor)",
)
def block_map_op(
    omega: Tensor, alpha: Tensor, gain: Tensor, order_parameter: Tensor, *rest: Any
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Row starts, column tiles, column starts, row tiles of a BlockMap."""
    check_finite(alpha=alpha, gain=gain, order_parameter=order_parameter)
    return lockable_tiles(omega, normal_form(alpha, gain, order_parameter).inverse_square, *rest)


def lockable_tiles(
    omega: Tensor,
    inverse_square: Tensor,
    valid: Tensor | None,
    causal: bool,
    rows: int,
    columns: int,
    growth: float,
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """The same from the inverse squared lock radius of every row."""
    targets, sources = boxes(omega, valid, rows, columns)
    reach = tile_radius(inverse_square, valid, omega.shape[2], rows) * (1.0 + growth)
    # Frequencies in two float32 parts are off by 2^-49 of the largest in each of up to 128 channels.
    largest = torch.cat([torch.where(x.isfinite(), x.abs(), 0.0) for x in sources], dim=-1).amax(dim=(0, -1))
    reach = reach + largest[:, None] * 2.0**-44
    visible = torch.tensor(visible_columns(omega.shape[2], rows, columns, causal), device=omega.device)
    flat, column = search(targets, sources, reach, visible)
    _, heads, row_tiles = targets.low.shape
    column_tiles = sources.low.shape[-1]
    back = flat // row_tiles * column_tiles + column
    return (
        *_compress(flat, column, heads * row_tiles, column_tiles),
        *_compress(back, flat % row_tiles, heads * column_tiles, row_tiles),
    )


@block_map_op.register_fake
def _(
    omega: Tensor,
    alpha: Tensor,
    gain: Tensor,
    order_parameter: Tensor,
    valid: Tensor | None,
    causal: bool,
    rows: int,
    columns: int,
    growth: float,
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    batch, heads, n, _ = omega.shape
    active = torch.library.get_ctx().new_dynamic_size()
    sizes = [batch * heads * -(-n // tile) + 1 for tile in (rows, columns)]
    starts = [omega.new_empty((size,), dtype=torch.int32) for size in sizes]
    lists = [omega.new_empty((active,), dtype=torch.int32) for _ in sizes]
    return starts[0], lists[0], starts[1], lists[1]


@block_map_op.register_vmap
def _(info: Any, in_dims: Any, *args: Any) -> Any:
    raise ConfigError(
        "block_map: given a batch of torch.vmap, expected none; the op is batched: pass (batch, heads, N, D)"
    )


def visible_columns(n: int, rows: int, columns: int, causal: bool) -> list[int]:
    """How many column tiles, counted from the first, a row tile of one head may see.

    >>> visible_columns(10, 4, 2, True)
    [2, 4, 5]
    """
    last = [min(first + rows, n) if causal else n for first in range(0, n, rows)]
    return [-(-stop // columns) for stop in last]


def search(targets: Boxes, sources: Boxes, reach: Tensor, visible: Tensor) -> tuple[Tensor, Tensor]:
    """Pairs of tiles whose boxes are within reach: row tile (head row_tiles + tile), column tile; unsorted.

    Along the axis that separates the boxes best, a row tile can only meet column tiles whose interval
    overlaps its own, widened by its reach: a range of the column tiles sorted by their lower end. Only those
    are measured.
    """
    row_tiles, column_tiles = reach.shape[-1], sources.low.shape[-1]
    best, axes = separating_axes(targets, sources, reach)
    head = torch.arange(best.shape[0], device=best.device)
    low_i, high_i, low_j, high_j = (x[best, head] for x in (*targets, *sources))
    low_j, order = low_j.sort(dim=-1, stable=True)
    furthest = high_j.gather(-1, order).cummax(dim=-1).values
    begin = torch.searchsorted(furthest, low_i - reach).flatten()
    count = torch.searchsorted(low_j, high_i + reach, right=True).flatten() - begin
    count = torch.where((high_i >= low_i).flatten(), count.clamp(min=0), 0)
    end = count.cumsum(0)
    begin, order = begin - (end - count), order.flatten()
    found = [(order.new_empty(0), order.new_empty(0))]
    for first, last, done in _chunks(end.tolist()):
        row = torch.arange(first, last, device=count.device).repeat_interleave(count[first:last])
        rank = torch.arange(done, done + row.shape[0], device=row.device) + begin[row]
        column = order[row // row_tiles * column_tiles + rank]
        seen = column < visible[row % row_tiles]
        found.append(_within(targets, sources, reach.flatten(), axes, row[seen], column[seen]))
    row, column = (torch.cat(x) for x in zip(*found, strict=True))
    return row, column


def separating_axes(targets: Boxes, sources: Boxes, reach: Tensor) -> tuple[Tensor, list[int]]:
    """The axis to sort along, (B H,), and the axes along which any two boxes are apart, best first.

    An axis on which all boxes of a head have a point in common adds nothing to any distance.
    """
    low, high = (torch.cat(x, dim=-1) for x in zip(targets, sources, strict=True))
    filled = high >= low
    apart = torch.where(filled, low, -torch.inf).amax(dim=-1) > high.amin(dim=-1)
    spread = (high.amax(dim=-1) - low.amin(dim=-1)).clamp(min=0.0)
    width = torch.where(filled, high - low, 0.0).mean(dim=-1) + 2.0 * reach.mean(dim=-1)
    score = spread / width.clamp(min=torch.finfo(torch.float64).tiny)
    order = score.amax(dim=-1).argsort(descending=True)
    return score.argmax(dim=0), order[apart.any(dim=-1)[order]].tolist()


def _within(
    targets: Boxes, sources: Boxes, reach: Tensor, axes: list[int], row: Tensor, column: Tensor
) -> tuple[Tensor, Tensor]:
    row_tiles, column_tiles = (x.low.shape[-1] for x in (targets, sources))
    tables = [x.flatten(1) for x in (*targets, *sources)]
    squared = torch.zeros(row.shape[0], dtype=torch.float64, device=row.device)
    for count, axis in enumerate(axes, 1):
        source = row // row_tiles * column_tiles + column
        low_i, high_i, low_j, high_j = (x[axis] for x in tables)
        gap = torch.maximum(low_j[source] - high_i[row], low_i[row] - high_j[source]).clamp_(min=0.0)
        squared.addcmul_(gap, gap)
        if count & (count - 1) == 0 or count == len(axes):
            near = squared <= reach[row].square()
            row, column, squared = row[near], column[near], squared[near]
    return row, column


def _compress(line: Tensor, entry: Tensor, lines: int, width: int) -> tuple[Tensor, Tensor]:
    """Starts and entries of a compressed sparse matrix, entries ascending."""
    if line.shape[0] > torch.iinfo(torch.int32).max:
        raise ConfigError(
            f"block_map: given {line.shape[0]} active tiles, expected fewer than 2^31; pass fewer heads"
        )
    start = torch.zeros(lines + 1, dtype=torch.int32, device=line.device)
    start[1:] = torch.bincount(line, minlength=lines).cumsum(0)
    return start, ((line * width + entry).sort().values % width).int()


def _chunks(end: list[int]) -> Iterator[tuple[int, int, int]]:
    """Runs of row tiles with about CHUNK candidates: first, last + 1, candidates before."""
    first, done = 0, 0
    while first < len(end):
        last = max(first + 1, bisect_right(end, done + CHUNK))
        yield first, last, done
        first, done = last, end[last - 1]
