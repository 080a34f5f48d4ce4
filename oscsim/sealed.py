"""Finished pieces of a sweep in a folder: written whole or not at all, refused when not what they say."""

import hashlib
import json
from pathlib import Path
from typing import Any

from oscsim.errors import SchemaError
from oscsim.io import atomic_write, canonical_json, read_regular


class SealedFolder:
    """A folder of results of one kind, a file per piece; whatever does not belong there is refused.

    Parameters
    ----------
    path : made if it is not there.
    manifest : name of the file that says what the folder is.
    facts : what it says: "format", and everything about the program that the results depend on.
    kind : in words, for messages.

    Raises
    ------
    SchemaError
        the folder holds something else, or results computed in another way; says which.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as place:
    ...     folder = SealedFolder(place + "/sweep", "sweep.json", {"format": "example"}, "a sweep")
    ...     folder.save("piece", {"seed": 1}, [0.5])
    ...     folder.load("piece", {"seed": 1}), folder.load("piece", {"seed": 2})
    ([0.5], None)
    """

    def __init__(self, path: str, manifest: str, facts: dict[str, Any], kind: str) -> None:
        self.path, file = Path(path), Path(path) / manifest
        self.path.mkdir(parents=True, exist_ok=True)
        if not file.exists():
            if any(not entry.name.startswith(".") for entry in self.path.iterdir()):
                raise SchemaError(f"{path}: holds files but no {manifest}: not {kind}; name another folder")
            atomic_write(file, (json.dumps(facts, indent=2) + "\n").encode())
            return
        found = _json(file)
        if not isinstance(found, dict) or found.get("format") != facts["format"]:
            raise SchemaError(f"{file}: not of {kind}; name another folder")
        for name, expected in facts.items():
            if found.get(name) != expected:
                raise SchemaError(
                    f"{path}: its results were computed with {name} = {found.get(name)}, this program "
                    f"computes with {expected}; name another folder, or delete this one"
                )

    def save(self, name: str, settings: dict[str, Any], results: Any) -> None:
        """Write results with the settings they depend on; a reader sees all of it or nothing."""
        sealed = {"settings": settings, "results": results, "checksum": _checksum(settings, results)}
        atomic_write(self._file(name, settings), canonical_json(sealed).encode())

    def load(self, name: str, settings: dict[str, Any]) -> Any:
        """The results of a piece, or None where it has not been computed yet.

        Raises
        ------
        SchemaError
            the file is damaged, altered, or of other settings than its name says.
        """
        path = self._file(name, settings)
        if not path.exists():
            return None
        content = _json(path)
        if not isinstance(content, dict) or content.get("settings") != settings:
            raise SchemaError(f"{path}: does not hold the settings its name says; delete it and start again")
        results = content.get("results")
        if content.get("checksum") != _checksum(settings, results):
            raise SchemaError(f"{path}: its checksum does not match: altered; delete it and start again")
        return results

    def _file(self, name: str, settings: dict[str, Any]) -> Path:
        digest = hashlib.sha256(canonical_json(settings).encode()).hexdigest()
        return self.path / f"{name}-{digest[:12]}.json"


def _checksum(settings: dict[str, Any], results: Any) -> str:
    return hashlib.sha256(canonical_json({"settings": settings, "results": results}).encode()).hexdigest()


def _json(path: Path) -> Any:
    try:
        return json.loads(read_regular(path).decode("utf-8"))
    except ValueError:
        raise SchemaError(f"{path}: not JSON: truncated, or not written by oscsim; delete it") from None
