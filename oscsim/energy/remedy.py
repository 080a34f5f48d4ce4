"""One thing that helps against noise."""

from dataclasses import dataclass
from typing import Any

from oscsim.energy.interval import Interval


@dataclass(frozen=True)
class Remedy:
    """A change of one option that lifts the oscillators to their noise floor, calculated for the layer.

    Parameters
    ----------
    option : as a user gives it. total, oscillators, floor : of the layer with it.
    """

    option: str
    total: Interval
    oscillators: Interval
    floor: Interval

    def to_json(self) -> dict[str, Any]:
        """Option and energies."""
        energies = {name: getattr(self, name).to_json() for name in ("total", "oscillators", "floor")}
        return {"option": self.option, **energies}
