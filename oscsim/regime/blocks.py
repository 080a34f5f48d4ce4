"""Results of a sweep on disk: a file per cell and block of seeds, so that a killed sweep goes on."""

import dataclasses
import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from oscsim.errors import SchemaError
from oscsim.io import atomic_write, canonical_json, read_regular
from oscsim.regime.cell import Cell
from oscsim.regime.network import SAMPLE_EVERY
from oscsim.regime.run import Agreement, Run
from oscsim.regime.steady import FIRST_SPAN, SHORTEST_DRIFT
from oscsim.tolerance import LOCK_THRESHOLD, REGIME_CAP, REGIME_RESIDUAL, REGIME_STEP

MANIFEST = "regime.json"
# Raise it whenever the meaning of a number in a block changes: older folders are refused from then on.
_VERSION = 1


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
        self.path = Path(path)
        self.path.mkdir(parents=True, exist_ok=True)
        self._numerics = {
            "format": "oscsim regime map", "version": _VERSION, "longest_span": longest_span,
            "first_span": FIRST_SPAN, "shortest_drift": SHORTEST_DRIFT, "step": REGIME_STEP,
            "sample_every": SAMPLE_EVERY, "residual": REGIME_RESIDUAL, "cap": REGIME_CAP,
            "lock_threshold": LOCK_THRESHOLD,
        }  # fmt: skip
        manifest = self.path / MANIFEST
        if manifest.exists():
            self._check(manifest)
        elif any(not entry.name.startswith(".") for entry in self.path.iterdir()):
            raise SchemaError(f"{path}: holds files but no {MANIFEST}: no regime map; name another folder")
        else:
            atomic_write(manifest, (json.dumps(self._numerics, indent=2) + "\n").encode())

    def _check(self, manifest: Path) -> None:
        found = _json(manifest)
        if not isinstance(found, dict) or found.get("format") != self._numerics["format"]:
            raise SchemaError(f"{manifest}: not of a regime map; name another folder")
        for name, expected in self._numerics.items():
            if found.get(name) != expected:
                raise SchemaError(
                    f"{self.path}: its results were computed with {name} = {found.get(name)}, this program "
                    f"computes with {expected}; name another folder, or delete this one"
                )

    def load(self, cell: Cell, seeds: Sequence[int]) -> list[Run] | None:
        """The runs of a block, or None where it has not been computed yet.

        Raises
        ------
        SchemaError
            the file is damaged, or of other settings than its name says.
        """
        path = self._file(cell, seeds)
        if not path.exists():
            return None
        content = _json(path)
        if not isinstance(content, dict) or content.get("settings") != self._settings(cell, seeds):
            raise SchemaError(f"{path}: does not hold the settings its name says; delete it and start again")
        if content.get("checksum") != _checksum(content):
            raise SchemaError(f"{path}: its checksum does not match: altered; delete it and start again")
        return [_run(entry) for entry in content["runs"]]

    def save(self, cell: Cell, seeds: Sequence[int], runs: Sequence[Run]) -> None:
        """Write a block; a reader sees all of it or nothing."""
        settings, entries = self._settings(cell, seeds), [dataclasses.asdict(run) for run in runs]
        content = {"settings": settings, "runs": entries}
        atomic_write(
            self._file(cell, seeds), canonical_json({**content, "checksum": _checksum(content)}).encode()
        )

    def _settings(self, cell: Cell, seeds: Sequence[int]) -> dict[str, Any]:
        return {"cell": dataclasses.asdict(cell), "seeds": list(seeds), "numerics": self._numerics}

    def _file(self, cell: Cell, seeds: Sequence[int]) -> Path:
        digest = hashlib.sha256(canonical_json(self._settings(cell, seeds)).encode()).hexdigest()
        name = f"n{cell.n}-spread{cell.spread:g}-gain{cell.gain:g}-seed{seeds[0]}-{digest[:12]}.json"
        return self.path / name


def _checksum(content: dict[str, Any]) -> str:
    kept = {name: content.get(name) for name in ("settings", "runs")}
    return hashlib.sha256(canonical_json(kept).encode()).hexdigest()


def _json(path: Path) -> Any:
    try:
        return json.loads(read_regular(path).decode("utf-8"))
    except ValueError:
        raise SchemaError(f"{path}: not JSON: truncated, or not written by oscsim; delete it") from None


def _run(entry: dict[str, Any]) -> Run:
    agreement = {name: Agreement(**values) for name, values in entry.pop("agreement").items()}
    return Run(**entry, agreement=agreement)
