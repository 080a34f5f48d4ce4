"""How much a plan computes and moves: counts of what the kernels execute, padding of tiles included."""

import math

from oscsim.coupling import ExplicitCoupling
from oscsim.spec import PhaseLayerSpec


def visited_tiles(count: int, block_m: int, block_n: int, causal: bool) -> int:
    """Tiles of one head that are computed; a causal mask stops at the diagonal.

    >>> visited_tiles(100, 32, 32, causal=False), visited_tiles(100, 32, 32, causal=True)
    (16, 10)
    """
    starts = range(0, count, block_m)
    stops = (min(count, first + block_m) if causal else count for first in starts)
    return sum(math.ceil(stop / block_n) for stop in stops)


def pair_work(
    spec: PhaseLayerSpec, block_m: int, block_n: int, parts: int, values: int, lanes: int
) -> dict[str, int]:
    """Operations and bytes of ``explicit_pair``, all heads together.

    multiply_adds are those of the matrix product; additions and multiplications the rest; special
    functions exp and sqrt; bytes_loaded counts a tile's operands every time it is visited.
    """
    del lanes
    heads, count, channels = spec.omega.shape
    tiles = heads * visited_tiles(count, block_m, block_n, spec.mask == "causal")
    cells = tiles * block_m * block_n
    mismatch = (block_m + block_n) * channels * parts
    couplings = block_m * block_n
    return {
        "tile_cells": cells,
        "multiply_adds": cells * values,
        "additions": cells * (channels * 2 * parts + 2),
        "multiplications": cells * (channels + 2),
        "special_functions": cells * 2,
        "bytes_loaded": 4 * tiles * (mismatch + couplings + block_n * (values + 1) + 2 * block_m),
        "bytes_stored": heads * count * (5 * count + 4 * values),
    }


def attention_work(spec: PhaseLayerSpec, tile: tuple[int, int], precision: str, width: int) -> dict[str, int]:
    """Operations of the fused op and of the read-out of S, all heads together, as if no row were far out.

    multiply_adds are those of both products; polynomial counts what turns 1 - u into S besides a square root.
    """
    heads, count, channels = spec.omega.shape
    cells = heads * visited_tiles(count, *tile, spec.mask == "causal") * tile[0] * tile[1]
    every = heads * visited_tiles(count, *tile, causal=False) * tile[0] * tile[1]
    products = {"accurate": 3, "fast": 1, "fp32": 1}[precision] * channels
    degree = 3 if precision == "fast" else 4
    return {
        "tile_cells": cells + every,
        "multiply_adds": cells * (products + width) + every * products,
        "polynomial": (cells + every) * degree,
        "special_functions": cells + every,
        "bytes_stored": heads * count * (4 * count + 4 * width + 4),
    }


def clamped_work(
    spec: PhaseLayerSpec, block_m: int, block_n: int, parts: int, values: int, lanes: int
) -> dict[str, int]:
    """Operations and bytes of frequency_coupling, clamped_flow and clamped_readout, all heads together."""
    heads, count, channels = spec.omega.shape
    width = math.ceil(channels / lanes) * lanes
    tile, oscillators = block_m * block_n, heads * count * width
    every = heads * visited_tiles(count, block_m, block_n, causal=False)
    coupled = 0 if isinstance(spec.coupling, ExplicitCoupling) else every
    flow = heads * visited_tiles(count, block_m, block_n, spec.mask == "causal")
    blocks = width // lanes
    return {
        "tile_cells": (coupled + flow * blocks + every) * tile,
        "multiply_adds": flow * tile * 2 * width + every * tile * (2 * width + values),
        "additions": coupled * tile * channels * 2 * parts + 14 * oscillators,
        "multiplications": coupled * tile * (channels + 1) + every * tile * 2 + 30 * oscillators,
        "special_functions": coupled * tile + 2 * oscillators,
        "bytes_loaded": 4 * coupled * (block_m + block_n) * channels * parts
        + 4 * flow * blocks * (tile + 2 * block_n * lanes)
        + 4 * every * (tile + 2 * (block_m + block_n) * width + block_n * values)
        + 12 * oscillators,
        "bytes_stored": 4 * (coupled > 0) * heads * count**2
        + 4 * heads * count * (count + values)
        + 16 * oscillators,
    }
