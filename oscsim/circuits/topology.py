"""Which couplers a chip has at all: everything, the king's graph of a grid, or a few of each oscillator."""

import dataclasses
import math

import numpy as np
from numpy.typing import NDArray

from oscsim.circuits.array import OscillatorArray
from oscsim.circuits.imperfections import Imperfections

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]


def kings_graph(count: int) -> Mask:
    """(count, count) whether two oscillators are at most one step of a chess king apart, themselves included.

    They lie row by row on a grid of ``ceil(sqrt(count))`` columns.

    >>> kings_graph(9)[4].all(), kings_graph(9)[0].astype(int).tolist()
    (np.True_, [1, 1, 0, 1, 1, 0, 0, 0, 0])
    """
    row, column = np.divmod(np.arange(count), max(1, math.isqrt(count - 1) + 1))
    steps = np.maximum(np.abs(row[:, None] - row), np.abs(column[:, None] - column))
    return steps <= 1


def strongest_inputs(strength: Array, degree: int) -> Mask:
    """(..., rows, columns) the ``degree`` largest of every row; the first of equals. Zeros are never kept."""
    order = np.argsort(-strength, axis=-1, kind="stable")[..., :degree]
    kept = np.zeros(strength.shape, dtype=bool)
    np.put_along_axis(kept, order, True, axis=-1)
    return kept & (strength > 0)


def strongest_mutual(strength: Array, degree: int) -> Mask:
    """(n, n) couplers of a symmetric matrix so that no oscillator has more than ``degree``.

    Strongest first, each taken while both its ends have a place left; the first of equals.

    >>> strongest_mutual(np.array([[0, 3, 2], [3, 0, 1], [2, 1, 0.0]]), 1).astype(int).tolist()
    [[0, 1, 0], [1, 0, 0], [0, 0, 0]]
    """
    row, column = np.triu_indices(len(strength), 1)
    size = strength[row, column]
    order = np.argsort(-size, kind="stable")
    kept, left = np.zeros(strength.shape, dtype=bool), np.full(len(strength), degree)
    for one in order[: int((size > 0).sum())]:
        i, j = row[one], column[one]
        if left[i] and left[j]:
            kept[i, j] = kept[j, i] = True
            left[[i, j]] -= 1
    return kept


def wired(chip: Imperfections, array: OscillatorArray, reciprocal: bool) -> tuple[OscillatorArray, int]:
    """What is left of an array on a chip with this topology, and how many couplers (pair: cells) it lacks.

    pair: cells (i, j) whose tokens are no neighbours (a token is its own), or that are not among the
    ``degree`` strongest of row i, do not exist. network: couplers between neighbours, or the strongest; a
    reciprocal coupler takes a place at both ends, a one-way one at the oscillator it drives. clamped: the
    same with one-way couplers, where the held oscillator j lies at the place of token j.
    """
    if chip.topology == "all":
        return array, 0
    return _wired_cells(chip, array) if array.dynamics == "pair" else _wired_pulls(chip, array, reciprocal)


def token_ranks(cell: NDArray[np.int64]) -> NDArray[np.int64]:
    """Tokens of a pair layer that are no padding, in order: their own cell exists in every mask."""
    return np.flatnonzero(np.diagonal(cell[0]) >= 0)


def _wired_cells(chip: Imperfections, array: OscillatorArray) -> tuple[OscillatorArray, int]:
    tokens, allowed = token_ranks(array.cell), array.cell >= 0
    kept = np.zeros_like(allowed)
    if chip.degree is None:
        kept[:, tokens[:, None], tokens] = kings_graph(len(tokens))
    else:
        strength = np.where(allowed, np.abs(array.pull[array.cell, 0, 1]), 0.0)
        kept = strongest_inputs(strength, chip.degree)
    kept &= allowed
    used, back = np.unique(array.cell[kept], return_inverse=True)
    cell = np.full_like(array.cell, -1)
    cell[kept] = back.ravel()
    left = dataclasses.replace(
        array, detuning=array.detuning[used], pull=array.pull[used], start=array.start[used],
        matrix=np.arange(len(used)), cell=cell,
    )  # fmt: skip
    return left, int(allowed.sum() - kept.sum())


def _wired_pulls(
    chip: Imperfections, array: OscillatorArray, reciprocal: bool
) -> tuple[OscillatorArray, int]:
    held = array.size // 2 if array.dynamics == "clamped" else 0
    rows = slice(0, array.size - held)
    strength = np.abs(array.pull[:, rows, held:])
    if chip.degree is None:
        kept = np.broadcast_to(kings_graph(strength.shape[1]), strength.shape)
    elif reciprocal:
        kept = np.stack([strongest_mutual(matrix, chip.degree) for matrix in strength])
    else:
        kept = strongest_inputs(strength, chip.degree)
    pull = array.pull.copy()
    pull[:, rows, held:] *= kept
    lost = ((strength > 0) & ~kept).sum(axis=(1, 2)) // (2 if reciprocal else 1)
    return dataclasses.replace(array, pull=pull), int(lost @ np.bincount(array.matrix, minlength=len(pull)))
