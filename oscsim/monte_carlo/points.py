"""Results of a study on disk: a file per point, so that a killed sweep goes on."""

import dataclasses
import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from oscsim.errors import SchemaError
from oscsim.io import atomic_write, canonical_json, read_regular
from oscsim.monte_carlo.score import Score
from oscsim.monte_carlo.study import Point, Study

MANIFEST = "imperfections.json"
# Raise it whenever the meaning of a number in a point changes: older folders are refused from then on.
_MANIFEST = {"format": "oscsim imperfections", "version": 2}


class PointFolder:
    """A folder of finished points; what is in it and does not belong there is refused, not mixed in.

    Raises
    ------
    SchemaError
        the folder holds something else, or points of another version; says which.
    """

    def __init__(self, path: str) -> None:
        self.path = Path(path)
        self.path.mkdir(parents=True, exist_ok=True)
        manifest = self.path / MANIFEST
        if not manifest.exists():
            if any(not entry.name.startswith(".") for entry in self.path.iterdir()):
                raise SchemaError(f"{path}: holds files but no {MANIFEST}: no study; name another folder")
            atomic_write(manifest, (json.dumps(_MANIFEST, indent=2) + "\n").encode())
            return
        found = _json(manifest)
        if not isinstance(found, dict) or found.get("format") != _MANIFEST["format"]:
            raise SchemaError(f"{manifest}: not of a study of imperfections; name another folder")
        if found != _MANIFEST:
            raise SchemaError(
                f"{path}: its results are of version {found.get('version')}, this program computes version "
                f"{_MANIFEST['version']}; name another folder, or delete this one"
            )

    def load(self, study: Study, point: Point) -> list[Score] | None:
        """The chips of a point, or None where it has not been computed yet.

        Raises
        ------
        SchemaError
            the file is damaged, or of other settings than its name says.
        """
        path = self._file(study, point)
        if not path.exists():
            return None
        content = _json(path)
        if not isinstance(content, dict) or content.get("settings") != _settings(study, point):
            raise SchemaError(f"{path}: does not hold the settings its name says; delete it and start again")
        if content.get("checksum") != _checksum(content):
            raise SchemaError(f"{path}: its checksum does not match: altered; delete it and start again")
        return [Score(**entry) for entry in content["chips"]]

    def save(self, study: Study, point: Point, scores: Sequence[Score]) -> None:
        """Write a point; a reader sees all of it or nothing."""
        entries = [dataclasses.asdict(score) for score in scores]
        content = {"settings": _settings(study, point), "chips": entries}
        sealed = {**content, "checksum": _checksum(content)}
        atomic_write(self._file(study, point), canonical_json(sealed).encode())

    def _file(self, study: Study, point: Point) -> Path:
        digest = hashlib.sha256(canonical_json(_settings(study, point)).encode()).hexdigest()
        return self.path / f"{study.level}-{point.label.replace('=', '-')}-{digest[:12]}.json"


def _settings(study: Study, point: Point) -> dict[str, Any]:
    """Everything a point's numbers depend on."""
    return {
        "layer": study.spec.digest,
        "level": study.level,
        "design": point.design.model_dump(mode="json"),
        "chips": len(study.designs(point)),
    }


def _checksum(content: dict[str, Any]) -> str:
    kept = {name: content.get(name) for name in ("settings", "chips")}
    return hashlib.sha256(canonical_json(kept).encode()).hexdigest()


def _json(path: Path) -> Any:
    try:
        return json.loads(read_regular(path).decode("utf-8"))
    except ValueError:
        raise SchemaError(f"{path}: not JSON: truncated, or not written by oscsim; delete it") from None
