"""Size of the tiles in which an implementation computes the scores; a BlockMap is built for one size."""

from __future__ import annotations

from collections.abc import Callable

from oscsim.errors import ConfigError

EAGER_TILE = (64, 64)

# A tile of scores (36 KB) and the rows it belongs to stay in the caches of one core, and the width is a
# multiple of every register block (12 rows, 32 columns). Twice the size is 4 % faster when nothing can be
# skipped, but a ramp of frequencies then has a fifth more active pairs.
NATIVE_TILE = (96, 96)


def tile_shape(impl: str, channels: int, value_width: int, precision: str) -> tuple[int, int]:
    """Rows and columns of a tile.

    Parameters
    ----------
    impl : "triton", "native" or "eager".
    channels, value_width : D and D_v.
    precision : "accurate", "fast" or "fp32".

    >>> tile_shape("eager", 64, 64, "accurate")
    (64, 64)
    """
    if impl not in _SHAPES:
        raise ConfigError(f"impl: given {impl!r}, expected one of {', '.join(sorted(_SHAPES))}")
    return _SHAPES[impl](channels, value_width, precision)


_SHAPES: dict[str, Callable[[int, int, str], tuple[int, int]]] = {
    "eager": lambda channels, value_width, precision: EAGER_TILE,
    "native": lambda channels, value_width, precision: NATIVE_TILE,
}
