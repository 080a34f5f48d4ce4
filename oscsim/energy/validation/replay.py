"""All comparisons with published devices, and what they amount to."""

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from oscsim.energy.constants import Book
from oscsim.energy.coupler_split import Segment
from oscsim.energy.rings import load_rings
from oscsim.energy.validation.chips import is_equation, split
from oscsim.energy.validation.chips import replay as replay_chip
from oscsim.energy.validation.devices import load_chips
from oscsim.energy.validation.identity import sources
from oscsim.energy.validation.noise import phase_noises
from oscsim.energy.validation.rings import cycle_energies
from oscsim.energy.validation.row import Row
from oscsim.energy.validation.summary import Summary, sentence, summaries

JSON_VERSION = 1


@dataclass(frozen=True)
class Validation:
    """Comparisons by quantity.

    Parameters
    ----------
    chips : the table of chips that was replayed. rows : every comparison.
    splits : what the calibration chips leave to an oscillator and a coupler.
    """

    chips: str
    rows: tuple[Row, ...]
    splits: tuple[Segment, ...]

    @property
    def summaries(self) -> list[Summary]:
        """One per quantity."""
        return summaries(self.rows)

    @property
    def sentence(self) -> str:
        """What has been validated, in one line."""
        return sentence(self.summaries)

    def to_json(self) -> dict[str, Any]:
        """Everything as plain JSON."""
        return {
            "schema_version": JSON_VERSION, "chips": self.chips, "rows": [row.to_json() for row in self.rows],
            "summaries": [one.to_json() for one in self.summaries],
            "feasible_splits": [one.to_json() for one in self.splits],
        }  # fmt: skip


def replay(book: Book, chips: str | os.PathLike[str] | None = None) -> Validation:
    """Replay the rings of this project, and its chips or those of a file.

    Raises
    ------
    SchemaError
        a file that is no table of chips.
    """
    devices = load_chips(chips)
    rows: Sequence[Row] = [
        *cycle_energies(load_rings()), *phase_noises(book),
        *(
            replace(row, source=source)
            for chip, source in zip(devices, sources(devices), strict=True)
            for row in replay_chip(chip, book)
        ),
    ]  # fmt: skip
    splits = [split(chip, book)[0] for chip in devices if is_equation(chip)]
    return Validation(
        "shipped" if chips is None else str(chips),
        tuple(rows),
        tuple(one for one in splits if one is not None),
    )
