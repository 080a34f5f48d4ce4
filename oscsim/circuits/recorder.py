"""Phases of a running circuit: state vectors in, cycle averages of limit-cycle phases out."""

from collections import deque
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from oscsim.phase import wrap
from oscsim.phase_reduction.reduction import Reduction

Array = NDArray[np.float64]
Phasors = NDArray[np.complex128]
# Length of an average.
AVERAGED_CYCLES = 3


@dataclass(frozen=True, eq=False)
class PhaseRecord:
    """Readings on an even grid of times, each an average over carrier cycles.

    Parameters
    ----------
    cycles : (K,) middle of each average, in carrier cycles from the start.
    phase : (K, B, n) rad, unwrapped, in the frame of the carrier.
    phasor : (K, B) averages of ``exp(i(phase_0 - phase_1))`` (pairs), or None.
    amplitude : (B, n) size of the states in the last average, relative to the free limit cycle.
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


def cycle_weights(samples: int) -> Array:
    """(3 samples,) weights of an average over three cycles that removes whatever repeats within one.

    A box of one cycle, three times convolved: its transform has third-order zeros at all harmonics of the
    carrier, so that a circuit that runs a share delta beside the carrier keeps delta^3 of its wobble.

    >>> weights, t = cycle_weights(8), np.arange(24) / 8
    >>> abs(float(weights @ np.cos(2 * np.pi * 2 * 1.01 * t))) < 1e-5
    True
    """
    box: Array = np.full(samples, 1.0 / samples)
    weights = np.zeros(AVERAGED_CYCLES * samples if samples > 1 else 1)
    spline = np.convolve(np.convolve(box, box), box)
    weights[: len(spline)] = spline
    return weights


class PhaseRecorder:
    """Reads the limit-cycle phase of states and averages it over whole cycles.

    A coupled oscillator leaves its limit cycle by O(coupling), twice per turn to either side: its phase
    wobbles, and the average over whole cycles does not. All harmonics are in the table of the limit cycle,
    so the read-out does not depend on the waveform.

    Parameters
    ----------
    start : (B, n) initial phases, from which the read ones are continuous.
    samples : evenly spaced samples per cycle; 1 where nothing turns and no average is needed.
    pairs : whether to average ``exp(i psi)`` as well.
    """

    def __init__(self, reduction: Reduction, start: Array, samples: int, pairs: bool) -> None:
        self._reduction, self._pairs = reduction, pairs
        self._weights = cycle_weights(samples)
        self._size = float(np.abs(reduction.oscillator.phasor(reduction.cycle.states.T)).mean())
        self._last = start
        self._taken: deque[tuple[float, Array, Array]] = deque(maxlen=len(self._weights))
        self._rows: list[tuple[float, Array, Phasors | None]] = []
        self._amplitude = np.ones_like(start)

    def take(self, state: Array, cycle: float, turned: float) -> None:
        """One sample of states (dimension, B, n) at time ``cycle`` (carrier cycles).

        ``turned`` is the angle (rad) the carrier has turned by since the start in the frame of the states.
        """
        raw = self._reduction.phase(state) - turned
        self._last = self._last + wrap(raw - self._last)
        size = np.abs(self._reduction.oscillator.phasor(state)) / self._size
        self._taken.append((cycle, self._last, size))

    def close(self) -> None:
        """Average the last three cycles of samples, which must have been taken without a gap."""
        cycles, phases, sizes = (np.array(part) for part in zip(*self._taken, strict=True))
        phase = np.tensordot(self._weights, phases, axes=1).astype(np.float64)
        phasor: Phasors | None = None
        if self._pairs:
            turning = np.exp(1j * (phases[..., 0] - phases[..., 1]))
            phasor = np.tensordot(self._weights, turning, axes=1).astype(np.complex128)
        self._rows.append((float(self._weights @ cycles), phase, phasor))
        self._amplitude = sizes.mean(axis=0)

    @property
    def count(self) -> int:
        """Averages so far."""
        return len(self._rows)

    def record(self) -> PhaseRecord:
        """All averages so far."""
        cycles, phase, phasor = zip(*self._rows, strict=True)
        joined = np.stack(phasor) if self._pairs else None
        return PhaseRecord(np.array(cycles), np.stack(phase), joined, self._amplitude)
