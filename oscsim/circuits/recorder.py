"""Phases of a running circuit: state vectors in, cycle averages of limit-cycle phases out."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from oscsim.phase import wrap
from oscsim.phase_reduction.reduction import Reduction

Array = NDArray[np.float64]
Phasors = NDArray[np.complex128]


@dataclass(frozen=True, eq=False)
class PhaseRecord:
    """Readings on an even grid of times, each the average over one carrier cycle.

    Parameters
    ----------
    cycles : (K,) middle of each averaged cycle, in carrier cycles from the start.
    phase : (K, B, n) rad, unwrapped, in the frame of the carrier.
    phasor : (K, B) averages of ``exp(i(phase_0 - phase_1))`` (pairs), or None.
    amplitude : (B, n) size of the states in the last averaged cycle, relative to the free limit cycle.
    """

    cycles: Array
    phase: Array
    phasor: Phasors | None
    amplitude: Array

    def since(self, cycle: float) -> "PhaseRecord":
        """What was read from that carrier cycle on; never less than the later half."""
        late = self.cycles >= min(cycle, float(self.cycles[len(self.cycles) // 2]))
        phasor = None if self.phasor is None else self.phasor[late]
        return PhaseRecord(self.cycles[late], self.phase[late], phasor, self.amplitude)

    def quantised(self, bits: int | None) -> "PhaseRecord":
        """As a read-out of ``bits`` per turn sees it: phases rounded to ``2 pi / 2^bits``; None: unchanged.

        >>> record = PhaseRecord(np.zeros(1), np.full((1, 1, 1), 0.8), None, np.ones((1, 1)))
        >>> round(record.quantised(2).phase.item() / np.pi, 6)
        0.5
        """
        if bits is None:
            return self
        phase = quantised(self.phase, bits)
        phasor = None if self.phasor is None else np.exp(1j * (phase[..., 0] - phase[..., 1]))
        return PhaseRecord(self.cycles, phase, phasor, self.amplitude)


def quantised(phase: Array, bits: int | None) -> Array:
    """Phases rounded to ``2 pi / 2^bits``, or as they are."""
    if bits is None:
        return phase
    level = 2.0 * np.pi / 2**bits
    return np.round(phase / level) * level


class PhaseRecorder:
    """Reads the limit-cycle phase of states and averages it over whole cycles.

    A coupled oscillator leaves its limit cycle by O(coupling), twice per turn to either side: its phase
    wobbles, and the average over a whole cycle does not. All harmonics are in the table of the limit cycle,
    so the read-out does not depend on the waveform.

    Parameters
    ----------
    start : (B, n) initial phases, from which the read ones are continuous.
    samples : evenly spaced readings per averaged cycle. pairs : whether to average ``exp(i psi)`` as well.
    """

    def __init__(self, reduction: Reduction, start: Array, samples: int, pairs: bool) -> None:
        self._reduction, self._samples, self._pairs = reduction, samples, pairs
        self._size = float(np.abs(reduction.oscillator.phasor(reduction.cycle.states.T)).mean())
        self._last = start
        self._block: list[tuple[float, Array, Array]] = []
        self._rows: list[tuple[float, Array, Phasors | None]] = []
        self._amplitude = np.ones_like(start)

    def take(self, state: Array, cycle: float, turned: float) -> None:
        """One reading of states (dimension, B, n) at time ``cycle`` (carrier cycles).

        ``turned`` is the angle (rad) the carrier has turned by since the start in the frame of the states.
        """
        raw = self._reduction.phase(state) - turned
        self._last = self._last + wrap(raw - self._last)
        size = np.abs(self._reduction.oscillator.phasor(state)) / self._size
        self._block.append((cycle, self._last, size))
        if len(self._block) == self._samples:
            self._close()

    def _close(self) -> None:
        cycles, phases, sizes = (np.array(part) for part in zip(*self._block, strict=True))
        phasor = np.exp(1j * (phases[..., 0] - phases[..., 1])).mean(axis=0) if self._pairs else None
        self._rows.append((float(cycles.mean()), phases.mean(axis=0), phasor))
        self._amplitude = sizes.mean(axis=0)
        self._block = []

    @property
    def count(self) -> int:
        """Averaged cycles so far."""
        return len(self._rows)

    def record(self) -> PhaseRecord:
        """All averaged cycles so far."""
        cycles, phase, phasor = zip(*self._rows, strict=True)
        joined = np.stack(phasor) if self._pairs else None
        return PhaseRecord(np.array(cycles), np.stack(phase), joined, self._amplitude)
