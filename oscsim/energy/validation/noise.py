"""Replay of fabricated ring oscillators: phase noise, whose measurements were used nowhere."""

from oscsim.energy.constants import Book
from oscsim.energy.noise.replay import RingReplay, replay_phase_noise
from oscsim.energy.validation.row import Range, Row

_NOTE = "V_char from the theory column of the same table; its measured phase noise was used nowhere"


def phase_noises(book: Book) -> list[Row]:
    """Phase noise of every ring at 1 MHz, dBc/Hz; the middle is that of the best values of all constants."""
    return [_row(one) for one in replay_phase_noise(book)]


def _row(one: RingReplay) -> Row:
    return Row(
        f"ring {one.index}", "ring_phase_noise", Range(one.low, one.predicted, one.high),
        one.measured, "independent", notes=(_NOTE,), citation="HAJIMIRI",
    )  # fmt: skip
