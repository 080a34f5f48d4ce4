"""Published phase noise of fabricated rings against the formula; none of them was used to fit it."""

from dataclasses import dataclass

import numpy as np

from oscsim.energy.constants import Book
from oscsim.energy.noise.phase_noise import decibel
from oscsim.energy.noise.ring import phase_noise
from oscsim.energy.rings import PublishedRing, load_rings
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
    nominal, drawn = Nominal(book), Draws(book)
    return tuple(_replayed(ring, nominal, drawn) for ring in load_rings())


def _replayed(ring: PublishedRing, nominal: Valuation, drawn: Valuation) -> RingReplay:
    low, median, high = np.percentile(decibel(_noise(ring, drawn)), (2.5, 50.0, 97.5))
    return RingReplay(
        index=ring.index,
        note=ring.note,
        predicted=float(decibel(_noise(ring, nominal))),
        median=float(median),
        low=float(low),
        high=float(high),
        measured=ring.measured_dbc,
        published_theory=ring.theory_dbc,
    )


def _noise(ring: PublishedRing, v: Valuation) -> Quantity:
    supply = quantity(ring.vdd_v, "V")
    power = supply * quantity(ring.supply_a, "A")
    thermal = v("boltzmann") * v("room_temperature")
    return phase_noise(
        v("ring_eta"),
        (supply / _characteristic_voltage(ring.length_um, v)).to(""),
        thermal,
        power,
        quantity(ring.frequency_hz, "Hz"),
        quantity(_OFFSET_HZ, "Hz"),
    )


def _characteristic_voltage(length_um: float, v: Valuation) -> Quantity:
    """``(V_DD/2 - V_T)/gamma`` of a long channel, ``(E_c/gamma) L`` of a short one."""
    if length_um > _LONG_UM:
        return v("ring_char_voltage_2um")
    return v("ring_char_field") * quantity(length_um, "um")
