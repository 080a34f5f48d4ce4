"""Which tiles of the score matrix can lock: exact sparsity, built once and used forwards and backwards.

(The module is not called block_map because the public function is.)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from hw_targets.triton.ops.arguments import check_options, check_shapes, per_head, per_row, valid_tokens
from hw_targets.triton.ops.implementations import choose
from hw_targets.triton.ops.problem import Implementation, Precision
from hw_targets.triton.ops.tile_boxes import radius_growth
from hw_targets.triton.ops.tile_search import block_map_op, visible_columns
from oscsim.errors import ConfigError


@dataclass(frozen=True, eq=False, repr=False)
class BlockMap:
    """Tiles with a pair that can lock, by rows and by columns (compressed sparse rows and their transpose).

    Parameters
    ----------
    rows, columns : size of a tile; the last one of either kind may be shorter.
    row_start : (B H row_tiles + 1,) int32; row tile t of head h (flat: (b H + h) row_tiles + t) owns
        row_columns[row_start[t] : row_start[t + 1]].
    row_columns : (active,) int32, numbers of column tiles, ascending within a row tile.
    column_start, column_rows : the same for column tiles, which list their row tiles.
    batch, heads, n, causal : the call it was built for.
    """

    rows: int
    columns: int
    row_start: Tensor
    row_columns: Tensor
    column_start: Tensor
    column_rows: Tensor
    batch: int
    heads: int
    n: int
    causal: bool

    @property
    def active_tiles(self) -> int:
        """Tiles that are computed, over batch and heads."""
        return self.row_columns.shape[0]

    @property
    def total_tiles(self) -> int:
        """Tiles that the mask (full or causal) allows, over batch and heads."""
        return self.batch * self.heads * sum(visible_columns(self.n, self.rows, self.columns, self.causal))

    @property
    def active_share(self) -> float:
        """active / total, the cost relative to the dense op."""
        return self.active_tiles / self.total_tiles if self.total_tiles else 0.0

    def __repr__(self) -> str:
        mask = "causal" if self.causal else "full"
        return (
            f"BlockMap(batch={self.batch}, heads={self.heads}, n={self.n}, {mask}, tiles of {self.rows} x "
            f"{self.columns}: {self.active_tiles} of {self.total_tiles} active, {self.active_share:.2%})"
        )

    def tensors(self) -> list[Tensor]:
        """As tensors alone, which is what a torch op can take; :func:`from_tensors` is the way back."""
        shape = [self.rows, self.columns, self.batch, self.heads, self.n, int(self.causal)]
        lists = [self.row_start, self.row_columns, self.column_start, self.column_rows]
        return [torch.tensor(shape, dtype=torch.int64), *lists]

    def check(self, omega: Tensor, values: Tensor, causal: bool, precision: str, impl: str) -> None:
        """Refuse a map that was built for another shape, mask, device or tile size.

        A map of other *frequencies* of the same shape cannot be told from the right one without building it
        again; it gives wrong results.

        Raises
        ------
        ConfigError
            what differs, and what to build.
        """
        width = values.shape[-1]
        expected = {
            "(batch, heads, N)": tuple(omega.shape[:3]),
            "causal": causal,
            "tile": _tile(impl, omega.shape[-1], width, precision),
            "device": omega.device,
        }
        given = {
            "(batch, heads, N)": (self.batch, self.heads, self.n),
            "causal": self.causal,
            "tile": (self.rows, self.columns),
            "device": self.row_start.device,
        }
        for name, value in expected.items():
            if given[name] != value:
                raise ConfigError(
                    f"block_map: given a map with {name} = {given[name]}, expected {value}; build it with "
                    f"block_map(omega, ..., causal={causal}, impl={impl!r}, precision={precision!r}, "
                    f"value_width={width})"
                )


def from_tensors(tensors: Sequence[Tensor]) -> BlockMap:
    """A map from what :meth:`BlockMap.tensors` gave."""
    shape, row_start, row_columns, column_start, column_rows = tensors
    rows, columns, batch, heads, n, causal = shape.tolist()
    lists = row_start, row_columns, column_start, column_rows
    return BlockMap(rows, columns, *lists, batch=batch, heads=heads, n=n, causal=bool(causal))


def block_map(
    omega: Tensor,
    *,
    alpha: Tensor | float,
    gain: Tensor | float,
    order_parameter: Tensor | float,
    causal: bool = False,
    padding: Tensor | None = None,
    lengths: Tensor | None = None,
    impl: Implementation | None = None,
    precision: Precision = "accurate",
    value_width: int | None = None,
) -> BlockMap:
    """Return the tiles that hold a pair that can lock; every other tile contributes exactly zero.

    A pair can lock when d_ij <= d*_i = sqrt( W_0(2 alpha K^2 r_i^2) / (2 alpha) ), the lock radius of its row
    (docs/spec.md section 2). A pair of tiles is kept when the distance of the boxes around their frequencies
    is at most the largest radius among its rows, enlarged by what the rounding of an implementation can do to
    d_ij.

    The map belongs to these frequencies, strengths, padding and options: build a new one when they change (a
    stale map of the same shape is not noticed). Inside torch.compile it is one op of data-dependent size.

    Parameters
    ----------
    omega, alpha, gain, order_parameter, causal, padding, lengths, impl, precision : as for
        :func:`ssa_attention`.
    value_width : D_v, which the tile size may depend on; default D.

    Raises
    ------
    ConfigError
        shapes or options that do not fit.

    >>> omega = torch.arange(256.0).view(1, 1, 256, 1)
    >>> block_map(omega, alpha=0.0, gain=8.0, order_parameter=1.0, impl="eager")
    BlockMap(batch=1, heads=1, n=256, full, tiles of 64 x 64: 10 of 16 active, 62.50%)
    """
    chosen = choose(impl, omega.device)
    check_shapes(omega, omega[..., :1].float(), chosen)
    check_options(precision, "smooth", None, 0.0, None, chosen)
    batch, heads, n, channels = omega.shape
    if 0 in (batch, heads) or (value_width is not None and value_width < 1):
        raise ConfigError(
            f"given omega {tuple(omega.shape)} and value_width {value_width}, expected at least one batch, "
            "head and column"
        )
    rows, columns = _tile(chosen, channels, value_width or channels, precision)
    lists = block_map_op(
        omega.detach(),
        per_head("alpha", alpha, omega).detach(),
        per_head("gain", gain, omega).detach(),
        per_row(order_parameter, omega).detach(),
        valid_tokens(batch, n, padding, lengths, omega.device),
        causal,
        rows,
        columns,
        radius_growth(channels, precision),
    )
    return BlockMap(rows, columns, *lists, batch=batch, heads=heads, n=n, causal=causal)


def _tile(impl: str, channels: int, width: int, precision: str) -> tuple[int, int]:
    from hw_targets.triton.ops.tile_shape import tile_shape

    return tile_shape(impl, channels, width, precision)
