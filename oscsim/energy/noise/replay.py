"""Published phase noise of fabricated rings against the formula; none of them was used to fit it."""

import csv
from dataclasses import dataclass
from importlib import resources

import numpy as np

from oscsim.energy.constants import Book
from oscsim.energy.noise.phase_noise import decibel
from oscsim.energy.noise.ring import phase_noise
from oscsim.energy.units import Quantity, quantity
from oscsim.energy.valuation import Draws, Nominal, Valuation

_OFFSET_HZ = 1e6  # of the published numbers
_LONG_UM = 1.0  # above, V_char is that of a long channel


@dataclass(frozen=True)
class RingReplay:
    """One ring, single-sideband phase noise at 1 MHz offset, dBc/Hz.

    Parameters
    ----------
    index : row of the table. note : what it is. predicted : from the best values of all constants. median,
        low, high : of the draws, 95 %.
    measured : published. published_theory : the formula evaluated by its authors.
    """

    index: int
    note: str
    predicted: float
    median: float
    low: float
    high: float
    measured: float
    published_theory: float

    @property
    def covered(self) -> bool:
        """Whether the interval holds what was measured."""
        return self.low <= self.measured <= self.high


def replay_phase_noise(book: Book) -> tuple[RingReplay, ...]:
    """The seven rings of rings.csv [HAJIMIRI]: supply, current, frequency and length in, phase noise out.

    The measured phase noise is used nowhere: constants of V_char come from the published theory column.

    >>> from oscsim.energy import load_constants
    >>> rows = replay_phase_noise(load_constants())
    >>> len(rows), rows[2].measured, rows[2].covered
    (7, -111.5, True)
    """
    text = (resources.files("oscsim.energy") / "rings.csv").read_text(encoding="utf-8")
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    nominal, drawn = Nominal(book), Draws(book)
    return tuple(_replayed(row, nominal, drawn) for row in csv.DictReader(lines))


def _replayed(row: dict[str, str], nominal: Valuation, drawn: Valuation) -> RingReplay:
    low, median, high = np.percentile(decibel(_noise(row, drawn)), (2.5, 50.0, 97.5))
    return RingReplay(
        index=int(row["idx"]),
        note=row["note"],
        predicted=float(decibel(_noise(row, nominal))),
        median=float(median),
        low=float(low),
        high=float(high),
        measured=float(row["meas_L1MHz_dbc"]),
        published_theory=float(row["pred_eq23_dbc"]),
    )


def _noise(row: dict[str, str], v: Valuation) -> Quantity:
    supply = quantity(float(row["vdd_v"]), "V")
    power = supply * quantity(float(row["isup_ma"]), "mA")
    thermal = v("boltzmann") * v("room_temperature")
    return phase_noise(
        v("ring_eta"),
        (supply / _characteristic_voltage(float(row["ln_um"]), v)).to(""),
        thermal,
        power,
        quantity(float(row["f0_hz"]), "Hz"),
        quantity(_OFFSET_HZ, "Hz"),
    )


def _characteristic_voltage(length_um: float, v: Valuation) -> Quantity:
    """``(V_DD/2 - V_T)/gamma`` of a long channel, ``(E_c/gamma) L`` of a short one."""
    if length_um > _LONG_UM:
        return v("ring_char_voltage_2um")
    return v("ring_char_field") * quantity(length_um, "um")
