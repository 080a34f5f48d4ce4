"""Couplers of one chip: programmed with codes, in crossbar tiles, stuck off, mismatched."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from oscsim.circuits.array import OscillatorArray
from oscsim.circuits.design import CircuitDesign
from oscsim.circuits.topology import token_ranks

Array = NDArray[np.float64]
Indices = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class BuiltCouplers:
    """Couplers of one chip, and what became of the wanted ones.

    Parameters
    ----------
    kappa : (M, n, n) as built, signed; matrix : (B,) which of them each batch uses.
    codes : (M', n, n) signed codes as programmed, before stuck couplers and mismatch (M' = M without these),
        or None for continuous couplers; code times ``lsb`` (M', n, n) is the programmed coupling.
    tiles : arrays with a code range of their own.
    total, saturated, missing : couplers that are wanted at all, beyond full scale, stuck off.
    """

    kappa: Array
    matrix: Indices
    codes: Indices | None
    lsb: Array | None
    tiles: int
    total: int
    saturated: int
    missing: int

    @property
    def finest(self) -> float:
        """Finest resolution of a tile relative to the coarsest; tiles without a coupler have none."""
        steps = np.zeros(0) if self.lsb is None else self.lsb[self.lsb > 0]
        return float(steps.min() / steps.max()) if len(steps) else 1.0


def largest_code(bits: int) -> int:
    """``2^(bits-1) - 1``: signed codes are symmetric, so that zero and both signs of everything exist.

    >>> largest_code(3)
    3
    """
    return 2 ** (bits - 1) - 1


def built_couplers(design: CircuitDesign, array: OscillatorArray, kappa: Array) -> BuiltCouplers:
    """Couplers (M, n, n) of one chip: programmed, then stuck off, then mismatched."""
    reciprocal, matrix = design.oscillator().reciprocal, array.matrix
    copies = np.bincount(matrix, weights=_copies(array), minlength=len(kappa)).astype(np.int64)

    def count(where: NDArray[np.bool_], times: NDArray[np.int64]) -> int:
        return int(where.sum(axis=(1, 2)) // (2 if reciprocal else 1) @ times)

    codes, lsb, tiles, saturated = None, None, 1, np.zeros(kappa.shape, dtype=bool)
    total = count(kappa != 0, copies)
    if design.coupling_bits is not None:
        largest, tiles = _largest_wanted(design, array, kappa)
        last = largest_code(design.coupling_bits)
        lsb = design.coupling_range * largest / last
        steps = np.divide(kappa, lsb, out=np.zeros_like(kappa), where=lsb > 0)
        codes = np.clip(np.rint(steps), -last, last).astype(np.int64)
        saturated, kappa = np.abs(steps) > last * (1.0 + 1e-12), codes * lsb
    beyond, missing = count(saturated, copies), 0
    if design.missing_couplers or design.coupling_mismatch:
        kappa, matrix = kappa[matrix], np.arange(len(matrix))
        if design.missing_couplers:
            stuck = _per_coupler(design, "missing_couplers", kappa.shape, reciprocal)
            missing = count(stuck & (kappa != 0), np.ones(len(kappa), dtype=np.int64))
            kappa = np.where(stuck, 0.0, kappa)
        if design.coupling_mismatch:
            kappa = kappa * _per_coupler(design, "coupling_mismatch", kappa.shape, reciprocal)
    return BuiltCouplers(kappa, matrix, codes, lsb, tiles, total, beyond, missing)


def _copies(array: OscillatorArray) -> NDArray[np.int64]:
    """(B,) how many circuits of the chip each batch stands for: equal cells of a pair layer are one batch."""
    if array.dynamics != "pair":
        return np.ones(array.batches, dtype=np.int64)
    return np.bincount(array.cell[array.cell >= 0], minlength=array.batches)


def _per_coupler(design: CircuitDesign, name: str, shape: tuple[int, ...], reciprocal: bool) -> NDArray[Any]:
    """(B, n, n) whether a coupler is stuck off, or its relative strength; a resistor is one for both ways."""
    random, share = design.drawn(name), getattr(design, name)
    if name == "missing_couplers":
        drawn = random.random(shape) < share
    else:
        # a coupler cannot change its sign: one that far off (five standard deviations of 0.2) is open
        drawn = np.maximum(1.0 + share * random.standard_normal(shape), 0.0)
    if not reciprocal:
        return drawn
    upper = np.triu(drawn, 1)
    return upper + np.swapaxes(upper, 1, 2)


def _largest_wanted(design: CircuitDesign, array: OscillatorArray, kappa: Array) -> tuple[Array, int]:
    """(M, n, n) largest wanted coupling of the tile each coupler belongs to, and the number of tiles."""
    size = np.abs(kappa)
    if design.crossbar_size is None:
        return np.full(kappa.shape, size.max(initial=0.0)), 1
    if array.dynamics == "pair":  # one crossbar of cells (i, j) per head
        tokens = token_ranks(array.cell)
        cells = array.cell[:, tokens[:, None], tokens]
        of_cell = np.where(cells >= 0, size[cells, 0, 1], 0.0)
        tiled, tiles = _tiled(of_cell, design.crossbar_size)
        largest = np.zeros(len(kappa))
        largest[cells[cells >= 0]] = tiled[cells >= 0]
        return np.broadcast_to(largest[:, None, None], kappa.shape), tiles
    held = array.size // 2 if array.dynamics == "clamped" else 0
    largest = np.zeros(kappa.shape)
    block = (slice(None), slice(0, array.size - held), slice(held, None))
    largest[block], tiles = _tiled(size[block], design.crossbar_size)
    return largest, tiles * array.batches // len(kappa)


def _tiled(values: Array, size: int) -> tuple[Array, int]:
    """Largest value of each size x size tile of (M, n, n), written into all of it; number of tiles."""
    tile = np.arange(values.shape[1]) // size
    count = int(tile[-1]) + 1
    largest = np.zeros((len(values), count, count))
    for matrix, found in zip(values, largest, strict=True):
        np.maximum.at(found, (tile[:, None], tile[None, :]), matrix)
    return largest[:, tile[:, None], tile], len(values) * count * count
