"""What a published chip of coupled oscillators does in a second, as counts."""

import math

from oscsim.counts import Counts
from oscsim.energy.validation.devices import Chip


def counts_per_second(chip: Chip, bits: float) -> Counts:
    """All oscillators and couplers, running for one second: joules of it are watts.

    No programming and no read-out: published power is that of the running array.

    Parameters
    ----------
    bits : resolution of the couplers; a fraction is log2 of a number of levels.

    Raises
    ------
    ValueError
        a chip whose oscillators, couplings or frequency are unknown.
    """
    oscillators, couplings, frequency = chip.n_osc, chip.n_couplings, chip.f_osc_hz
    if oscillators is None or couplings is None or frequency is None:
        raise ValueError(f"{chip.name}: oscillators, couplings or frequency are unknown")
    spans = couplings * mean_span(oscillators, couplings)
    detail = f"{bits:.4f}".rstrip("0").rstrip(".").replace(".", "_")  # 2.3 bits are 2_3 in counts
    numbers = {
        "oscillators": oscillators, "oscillator_cycles": oscillators * frequency, "array_seconds": 1.0,
        f"couplers.{detail}": couplings, f"coupling_cycles.{detail}": couplings * frequency,
        "wire_spans": spans, "wire_span_cycles": spans * frequency,
    }  # fmt: skip
    return Counts({name: number for name, number in numbers.items() if number > 0.0})


def mean_span(oscillators: int, couplings: int) -> float:
    """Mean length of a coupling's wire on a square grid of oscillators, in cell pitches.

    All to all: ``(2/3) sqrt(n)``, the mean distance of two random places. Otherwise the ``2 M/n`` neighbours
    fill the smallest square around their oscillator, and one net reaches them ring by ring: the mean ring is
    a third of the side, ``sqrt(2 M/n + 1)/3``; at least 1 and at most as for all to all. A coupling between
    cells that touch, as in a King's graph, is one pitch of wire.

    >>> mean_span(64, 64 * 63 // 2), mean_span(1968, 7607), round(mean_span(1024, 12 * 1024), 2)
    (5.333333333333333, 1.0, 1.67)
    """
    everywhere = max(1.0, 2.0 / 3.0 * math.sqrt(oscillators))
    if 2 * couplings >= oscillators * (oscillators - 1):
        return everywhere
    return min(everywhere, max(1.0, math.sqrt(2.0 * couplings / oscillators + 1.0) / 3.0))
