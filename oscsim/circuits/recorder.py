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
    amplitude : (K, B, n) size of the state relative to the free limit cycle.
    """

    cycles: Array
    phase: Array
    phasor: Phasors | None
    amplitude: Array

    def select(self, batches: NDArray[np.int64]) -> "PhaseRecord":
        """Some batches of it."""
        phasor = None if self.phasor is None else self.phasor[:, batches]
        return PhaseRecord(self.cycles, self.phase[:, batches], phasor, self.amplitude[:, batches])

    def since(self, cycle: float) -> "PhaseRecord":
        """What was read from that carrier cycle on."""
        late = self.cycles >= cycle
        phasor = None if self.phasor is None else self.phasor[late]
        return PhaseRecord(self.cycles[late], self.phase[late], phasor, self.amplitude[late])

    def quantised(self, bits: int | None) -> "PhaseRecord":
        """As a read-out of ``bits`` per turn sees it: phases rounded to ``2 pi / 2^bits``; None: unchanged.

        >>> record = PhaseRecord(np.zeros(1), np.full((1, 1, 1), 0.8), None, np.ones((1, 1, 1)))
        >>> round(record.quantised(2).phase.item() / np.pi, 6)
        0.5
        """
        if bits is None:
            return self
        level = 2.0 * np.pi / 2**bits
        phase = np.round(self.phase / level) * level
        phasor = None if self.phasor is None else np.exp(1j * (phase[..., 0] - phase[..., 1]))
        return PhaseRecord(self.cycles, phase, phasor, self.amplitude)


class PhaseRecorder:
    """Reads the limit-cycle phase of states and averages it over whole cycles.

    A coupled oscillator leaves its limit cycle by O(coupling), twice per turn to either side: its phase
    wobbles, and the average over a whole cycle does not. All harmonics are in the table of the limit cycle,
    so the read-out does not depend on the waveform.

    Parameters
    ----------
    samples : evenly spaced readings per averaged cycle. pairs : whether to average ``exp(i psi)`` as well.
    """

    def __init__(self, reduction: Reduction, samples: int, pairs: bool) -> None:
        self._reduction, self._samples, self._pairs = reduction, samples, pairs
        self._size = float(np.abs(reduction.oscillator.phasor(reduction.cycle.states.T)).mean())
        self._last: Array | None = None
        self._block: list[tuple[float, Array, Array]] = []
        self._rows: list[tuple[float, Array, Phasors | None, Array]] = []

    def take(self, state: Array, cycle: float, turned: float) -> None:
        """One reading of states (dimension, B, n) at time ``cycle`` (carrier cycles).

        ``turned`` is the angle (rad) the carrier has turned by since the start in the frame of the states.
        """
        raw = self._reduction.phase(state) - turned
        self._last = wrap(raw) if self._last is None else self._last + wrap(raw - self._last)
        size = np.abs(self._reduction.oscillator.phasor(state)) / self._size
        self._block.append((cycle, self._last, size))
        if len(self._block) == self._samples:
            self._close()

    def _close(self) -> None:
        cycles, phases, sizes = (np.array(part) for part in zip(*self._block, strict=True))
        phasor = np.exp(1j * (phases[..., 0] - phases[..., 1])).mean(axis=0) if self._pairs else None
        self._rows.append((float(cycles.mean()), phases.mean(axis=0), phasor, sizes.mean(axis=0)))
        self._block = []

    @property
    def last(self) -> tuple[float, Array]:
        """Middle (carrier cycles) and phases (B, n) of the latest averaged cycle."""
        return self._rows[-1][0], self._rows[-1][1]

    def record(self) -> PhaseRecord:
        """All averaged cycles so far."""
        cycles, phase, phasor, amplitude = zip(*self._rows, strict=True)
        return PhaseRecord(
            np.array(cycles), np.stack(phase), np.stack(phasor) if self._pairs else None, np.stack(amplitude)
        )
