"""Replay of fabricated ring oscillators: phase noise, measured values of which were used nowhere."""

from oscsim.energy.constants import Book
from oscsim.energy.noise.replay import RingReplay, replay_phase_noise
from oscsim.energy.validation.row import Range, Row

_NOTE = (
    "V_char from the theory column of the same table, for the 0.25 um and for the 2 um rings; its measured "
    "phase noise was used nowhere"
)


def phase_noises(book: Book) -> list[Row]:
    """Phase noise of every ring at 1 MHz, dBc/Hz.

    Both kinds of rings have a V_char of their own from the same paper's theory: none is an extrapolation, and
    none is independent.
    """
    return [_row(one) for one in replay_phase_noise(book)]


def _row(one: RingReplay) -> Row:
    return Row(
        f"ring {one.index}", "ring_phase_noise", Range(one.low, one.median, one.high),
        one.measured, "same paper", notes=(_NOTE,), citation="HAJIMIRI",
    )  # fmt: skip
