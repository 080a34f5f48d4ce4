"""Size of the tiles in which an implementation computes the scores; a BlockMap is built for one size."""

from __future__ import annotations

from collections.abc import Callable

from oscsim.errors import ConfigError

# Lowering reads this file, so it imports no backend.
EAGER_TILE = (64, 64)

# The steps of every Triton kernel divide it.
TRITON_TILE = (128, 128)

# A multiple of every register block (12 or 32 rows, 32 columns) that the second-level cache of a core holds.
# Half the size was 3 to 5 % slower where nothing can be skipped (D = 64, AVX-512 and BLAS), and 11 to 16 %
# faster on a ramp of frequencies with a window of 128 tokens, many times faster than dense either way.
NATIVE_TILE = (192, 192)


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
    "triton": lambda channels, value_width, precision: TRITON_TILE,
}
