"""Counts of what the kernels execute and move: operations by precision, bytes by level of memory."""

import math
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hw_targets.triton.plan import Launch, power_of_two
from hw_targets.triton.work import visited_tiles
from oscsim.counts import Counts
from oscsim.spec import PhaseLayerSpec

Arrays = Mapping[str, NDArray[Any]]
Buffers = Mapping[str, tuple[tuple[int, ...], str]]

# Of the fused op: type and number of products of the frequencies, and of S with the values.
FREQUENCY_PRODUCTS = {"accurate": ("float16", 3), "fast": ("float16", 1), "fp32": ("float32", 1)}
VALUE_PRODUCTS = {"accurate": ("bfloat16", 6), "fast": ("bfloat16", 1), "fp32": ("float32", 1)}
# Parts in which an operand is kept, which make that many products.
_PARTS = {1: 1, 3: 2, 6: 3}
_BYTES = {"float32": 4, "float16": 2, "bfloat16": 2}
# Rows of a prepared operand are padded to this many tokens.
_TOKENS = 128


def tile_counts(
    work: Mapping[str, int], launches: Iterable[Launch], arrays: Arrays, buffers: Buffers
) -> Counts:
    """Counts of the tile kernels, all in float32, from the section ``work``.

    ``bytes.l2`` is what programs load and store, tile by tile; ``bytes.hbm`` every array once per kernel that
    reads or writes it: the least that has to come from outside, if nothing is evicted before its last use.
    """
    sizes = {name: array.nbytes for name, array in arrays.items()}
    sizes |= {name: math.prod(shape) * np.dtype(kind).itemsize for name, (shape, kind) in buffers.items()}
    return Counts(
        {
            "multiply_accumulates.float32": work["multiply_adds"],
            "additions.float32": work["additions"],
            "multiplications.float32": work["multiplications"],
            "special_functions.float32": work["special_functions"],
            "bytes.l2": work["bytes_loaded"] + work["bytes_stored"],
            "bytes.hbm": sum(sizes[name] for launch in launches for name in launch.memory),
        }
    )


def attention_counts(
    spec: PhaseLayerSpec, work: Mapping[str, int], tile: tuple[int, int], precision: str, width: int
) -> Counts:
    """Counts of the fused op and of the read-out of S, as if no row were far out.

    Products run over whole lanes (16, 32, 64 or 128), idle ones included; the polynomial that turns 1 - u
    into S is a multiply-accumulate per degree. Both kernels prepare their own operands. Bytes as in
    :func:`tile_counts`: a program keeps its rows and loads the operands of every column tile it visits.
    """
    heads, count, channels = spec.omega.shape
    causal = spec.mask == "causal"
    forward, every = (heads * visited_tiles(count, *tile, masked) for masked in (causal, False))
    area = tile[0] * tile[1]
    kind, products = FREQUENCY_PRODUCTS[precision]
    value_kind, value_products = VALUE_PRODUCTS[precision]
    lanes, value_lanes = power_of_two(channels), power_of_two(width)
    operand = _BYTES[kind] * _PARTS[products] * lanes + 8  # and a norm and a level
    value = _BYTES[value_kind] * _PARTS[value_products] * value_lanes
    rows, programs = heads * -(-count // _TOKENS) * _TOKENS, heads * -(-count // tile[0])
    stored = work["bytes_stored"]
    prepared = 2 * (4 * heads * count * channels + rows * operand) + 4 * heads * count * width + rows * value
    read = rows * (2 * operand + value)
    visits = tile[1] * (forward * (operand + value) + every * operand) + tile[0] * 2 * programs * operand
    return (
        Counts({f"multiply_accumulates.{kind}": (forward + every) * area * products * lanes})
        + Counts({f"multiply_accumulates.{value_kind}": forward * area * value_products * value_lanes})
        + Counts(
            {
                "multiply_accumulates.float32": work["polynomial"],
                "special_functions.float32": work["special_functions"],
                "bytes.l2": prepared + visits + stored,
                "bytes.hbm": prepared + read + stored,
            }
        )
    )


def network_counts(
    work: Mapping[str, int], taken: Iterable[tuple[int, int]], arrays: Arrays, buffers: Buffers
) -> Counts:
    """Counts of a network that every head runs for its planned steps.

    Parameters
    ----------
    work : per step of all heads. taken : (steps, launches) of every head, as planned; a run takes as many as
        its data ask for. Between its start and its end a launch only stores the phases of every step.
    """
    planned = list(taken)
    steps, launches = sum(s for s, _ in planned), sum(n for _, n in planned)
    share = steps / len(planned)
    sizes = {name: array.nbytes for name, array in arrays.items()}
    ends = sum(sizes.values()) + sizes["phase"] + sizes["carry"]
    ends += sum(math.prod(shape) * np.dtype(kind).itemsize for shape, kind in buffers.values())
    moved = share * work["bytes_stored_per_step"] + launches / len(planned) * ends
    return Counts(
        {
            "multiply_accumulates.float32": share * work["multiply_adds_per_step"],
            "additions.float32": share * work["additions_per_step"],
            "multiplications.float32": share * work["multiplications_per_step"],
            "special_functions.float32": share * work["special_functions_per_step"],
            "bytes.l2": moved,
            "bytes.hbm": moved,
        }
    )
