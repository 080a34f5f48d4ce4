"""Results of a sweep on disk: a file per cell and block of seeds, so that a killed sweep goes on."""

import dataclasses
from collections.abc import Sequence
from typing import Any

from oscsim.regime.cell import Cell
from oscsim.regime.network import SAMPLE_EVERY
from oscsim.regime.run import Agreement, Run
from oscsim.regime.steady import FIRST_SPAN, SHORTEST_DRIFT
from oscsim.sealed import SealedFolder
from oscsim.tolerance import LOCK_THRESHOLD, REGIME_CAP, REGIME_RESIDUAL, REGIME_STEP

MANIFEST = "regime.json"
# Raise it whenever the meaning of a number in a block changes: older folders are refused from then on.
_VERSION = 2


class BlockFolder:
    """A folder of finished blocks; what is in it and does not belong to this sweep is refused, not mixed in.

    Parameters
    ----------
    path : made if it is not there.
    longest_span : of the runs, part of what a block is keyed by.

    Raises
    ------
    SchemaError
        the folder holds something else, or blocks computed in another way; says which.
    """

    def __init__(self, path: str, longest_span: float) -> None:
        self._numerics = {
            "format": "oscsim regime map", "version": _VERSION, "longest_span": longest_span,
            "first_span": FIRST_SPAN, "shortest_drift": SHORTEST_DRIFT, "step": REGIME_STEP,
            "sample_every": SAMPLE_EVERY, "residual": REGIME_RESIDUAL, "cap": REGIME_CAP,
            "lock_threshold": LOCK_THRESHOLD,
        }  # fmt: skip
        self._folder = SealedFolder(path, MANIFEST, self._numerics, "a regime map")

    def load(self, cell: Cell, seeds: Sequence[int]) -> list[Run] | None:
        """The runs of a block, or None where it has not been computed yet.

        Raises
        ------
        SchemaError
            the file is damaged, or of other settings than its name says.
        """
        runs = self._folder.load(_name(cell, seeds), self._settings(cell, seeds))
        return None if runs is None else [_run(entry) for entry in runs]

    def save(self, cell: Cell, seeds: Sequence[int], runs: Sequence[Run]) -> None:
        """Write a block; a reader sees all of it or nothing."""
        entries = [dataclasses.asdict(run) for run in runs]
        self._folder.save(_name(cell, seeds), self._settings(cell, seeds), entries)

    def _settings(self, cell: Cell, seeds: Sequence[int]) -> dict[str, Any]:
        return {"cell": dataclasses.asdict(cell), "seeds": list(seeds), "numerics": self._numerics}


def _name(cell: Cell, seeds: Sequence[int]) -> str:
    return f"n{cell.n}-spread{cell.spread:g}-gain{cell.gain:g}-seed{seeds[0]}"


def _run(entry: dict[str, Any]) -> Run:
    agreement = {name: Agreement(**values) for name, values in entry.pop("agreement").items()}
    return Run(**entry, agreement=agreement)
