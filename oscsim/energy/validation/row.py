"""One comparison of a published number with what the model predicts for it."""

from dataclasses import asdict, dataclass
from typing import Any, Literal

from oscsim.energy.interval import UNINFORMATIVE, Interval

Role = Literal["calibration", "independent", "same paper", "extrapolation", "repeated"]
ROLES: dict[Role, str] = {
    "calibration": "used in a fit or an equation of the model; a ring is predicted by the fit to the others, "
    "a chip by design ranges alone",
    "independent": "never used in a fit; rows of one publication, or with the same numbers, count once",
    "same paper": "its measurement was used nowhere, but a constant of the prediction comes from the theory "
    "of the same paper: not independent",
    "extrapolation": "outside the technology that was fitted; counts for nothing",
    "repeated": "published power times settling time: no new evidence; counts for nothing",
}
# quantity -> (unit, words)
QUANTITIES: dict[str, tuple[str, str]] = {
    "ring_cycle_energy": ("J", "ring oscillator, energy of one cycle"),
    "ring_phase_noise": ("dBc/Hz", "ring oscillator, phase noise at 1 MHz"),
    "oscillator_power": ("W", "oscillators without couplings, power"),
    "chip_power": ("W", "chip of coupled oscillators, power"),
    "chip_energy_per_solution": ("J", "chip of coupled oscillators, energy per solution"),
}
_DECIBEL = "dBc/Hz"
NOTHING = "nothing to compare"


@dataclass(frozen=True)
class Range:
    """A predicted interval in the unit of its quantity: 95 %, or what a note says."""

    low: float
    median: float
    high: float

    @classmethod
    def of(cls, interval: Interval) -> "Range":
        """Low, median and high of an energy, in J (or of the energy of one second, in W)."""
        return cls(interval.low_j, interval.median_j, interval.high_j)


@dataclass(frozen=True)
class Row:
    """What was predicted and what was published for one quantity of one device.

    Parameters
    ----------
    predicted : None where it cannot be; ``reason`` then says why. published : None where nobody published it.
    role : what a comparison is worth, see ``ROLES``. notes : what the prediction rests on.
    citation : key of the publication, or its DOI. source : what it counts as, see
        :func:`oscsim.energy.validation.identity.sources`; empty: its device.
    bound : whether the prediction is an upper bound: a published value below it is neither covered nor not.
    published_bound : whether the published value is one, too.
    """

    device: str
    quantity: str
    predicted: Range | None
    published: float | None
    role: Role
    reason: str = ""
    notes: tuple[str, ...] = ()
    citation: str = ""
    source: str = ""
    bound: bool = False
    published_bound: bool = False

    @property
    def unit(self) -> str:
        """Unit of prediction and published value."""
        return QUANTITIES[self.quantity][0]

    @property
    def label(self) -> str:
        """Device and citation."""
        return f"{self.device} [{self.citation}]" if self.citation else self.device

    @property
    def compared(self) -> bool:
        """Whether there are two numbers."""
        return self.predicted is not None and self.published is not None

    @property
    def ratio(self) -> float | None:
        """Predicted median over published value; of powers, also where both are in dB."""
        if self.predicted is None or self.published is None:
            return None
        return _over(self.predicted.median, self.published, self.unit)

    @property
    def covered(self) -> bool | None:
        """Whether the interval holds the published value; None without a comparison, and below a bound."""
        if self.predicted is None or self.published is None:
            return None
        if self.bound and self.published <= self.predicted.high:
            return None
        return self.predicted.low <= self.published <= self.predicted.high

    @property
    def uninformative(self) -> bool:
        """Whether the interval spans more than a factor of 30: covering is then easy."""
        if self.predicted is None:
            return False
        return _over(self.predicted.high, self.predicted.low, self.unit) > UNINFORMATIVE

    def to_json(self) -> dict[str, Any]:
        """Plain numbers, with unit, ratio and whether the interval covers; no role without a comparison."""
        return {
            **asdict(self), "role": self.role if self.compared else None, "unit": self.unit,
            "ratio": self.ratio, "covered": self.covered, "uninformative": self.uninformative,
        }  # fmt: skip


def _over(number: float, other: float, unit: str) -> float:
    return 10.0 ** ((number - other) / 10.0) if unit == _DECIBEL else number / other
