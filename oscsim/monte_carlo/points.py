"""Results of a study on disk: a file per point, so that a killed sweep goes on."""

import dataclasses
from collections.abc import Sequence
from typing import Any

from oscsim.monte_carlo.score import Score
from oscsim.monte_carlo.study import Point, Study
from oscsim.sealed import SealedFolder

MANIFEST = "imperfections.json"
# Raise it whenever the meaning of a number in a point changes: older folders are refused from then on.
_VERSION = 3


class PointFolder:
    """A folder of finished points; what is in it and does not belong there is refused, not mixed in.

    Raises
    ------
    SchemaError
        the folder holds something else, or points of another version; says which.
    """

    def __init__(self, path: str) -> None:
        facts = {"format": "oscsim imperfections", "version": _VERSION}
        self._folder = SealedFolder(path, MANIFEST, facts, "a study of imperfections")

    def load(self, study: Study, point: Point) -> list[Score] | None:
        """The chips of a point, or None where it has not been computed yet.

        Raises
        ------
        SchemaError
            the file is damaged, or of other settings than its name says.
        """
        chips = self._folder.load(_name(study, point), _settings(study, point))
        return None if chips is None else [Score(**entry) for entry in chips]

    def save(self, study: Study, point: Point, scores: Sequence[Score]) -> None:
        """Write a point; a reader sees all of it or nothing."""
        entries = [dataclasses.asdict(score) for score in scores]
        self._folder.save(_name(study, point), _settings(study, point), entries)


def _name(study: Study, point: Point) -> str:
    return f"{study.level}-{point.label.replace('=', '-')}"


def _settings(study: Study, point: Point) -> dict[str, Any]:
    """Everything a point's numbers depend on."""
    return {
        "layer": study.spec.digest,
        "level": study.level,
        "design": point.design.model_dump(mode="json"),
        "chips": len(study.designs(point)),
    }
