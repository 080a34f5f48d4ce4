"""What a physical array of oscillators counts: the same events for schedules, plans and circuits."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from oscsim.circuits.array import OscillatorArray
from oscsim.circuits.circuit import Circuit
from oscsim.circuits.timing import predicted_cycles
from oscsim.counts import Counts

Array = NDArray[np.float64]

# What a simulation with continuous couplers and exact read-outs is counted as: a stand-in, so that it has a
# price at all, not a property of the layer; options that quantise (coupling_bits, ...) replace it.
UNQUANTISED_BITS = 8

# Mean distance of two random places on a square of unit side, walked along the axes: 1/3 for each axis.
MEAN_WALK = 2.0 / 3.0


@dataclass(frozen=True)
class Events:
    """What is built, how long it runs, and how it is set and read.

    Parameters
    ----------
    oscillators, couplers : built. oscillator_cycles, coupling_cycles : carrier periods summed over them.
    spans, span_cycles : cell pitches of wire, and carrier periods summed over these.
    starts : phases that have to be set before a run. reads : phases that are read after it.
    tuned : oscillators with a tuning code; None: all of them.
    """

    oscillators: float
    oscillator_cycles: float
    couplers: float
    coupling_cycles: float
    spans: float
    span_cycles: float
    starts: float
    reads: float
    tuned: float | None = None

    def counts(self, carrier_hz: float, coupling_bits: int, tuning_bits: int, readout_bits: int) -> Counts:
        """As counts, with a tuning code for every tuned oscillator and a coupling code for every coupler.

        ``array_seconds`` is the mean time that an oscillator runs; set phases are conversions of the
        resolution of the read-out.

        >>> Events(2, 20, 1, 10, 1, 10, 0, 1).counts(1e9, 7, 7, 9)["programming_writes.7"]
        3.0
        """
        numbers = {
            "oscillators": self.oscillators,
            "oscillator_cycles": self.oscillator_cycles,
            f"couplers.{coupling_bits}": self.couplers,
            f"coupling_cycles.{coupling_bits}": self.coupling_cycles,
            "wire_spans": self.spans,
            "wire_span_cycles": self.span_cycles,
            "array_seconds": self.oscillator_cycles / max(self.oscillators, 1.0) / carrier_hz,
            f"phase_conversions.{readout_bits}": self.reads,
            f"dac_conversions.{readout_bits}": self.starts,
        }
        written = Counts({f"programming_writes.{coupling_bits}": self.couplers})
        tuned = self.oscillators if self.tuned is None else self.tuned
        if tuned > 0.0:
            written = written + Counts({f"programming_writes.{tuning_bits}": tuned})
        return Counts(numbers) + written


def circuit_counts(circuit: Circuit, carrier_hz: float, end: float) -> Counts:
    """Counts of the chip that a circuit describes; equal cells, simulated once, are built as often as asked.

    Every batch runs for the carrier cycles its phase reduction predicts (``predicted_cycles``, at most the
    layer's duration and ``max_cycles``). A resistor is one coupler for both directions. Oscillators lie row
    by row on a near-square grid, a held one beside the driven one of its token; couplers of a network or
    clamped layer are as long as the walk between their ends, at least one cell pitch, those of a pair cell
    one pitch.

    Parameters
    ----------
    carrier_hz : of the layer. end : duration of a clamped layer, carrier cycles, else infinity.
    """
    array, design = circuit.array, circuit.design
    cycles = np.minimum(np.minimum(predicted_cycles(circuit), end), design.max_cycles)
    copies = _copies(array)
    cycles = np.maximum(cycles, 1.0) * copies
    wired = _couplers(array, circuit.oscillator.reciprocal)
    couplers = wired.sum(axis=(1, 2))[array.matrix].astype(float)
    spans = (wired * _walks(array)).sum(axis=(1, 2))[array.matrix]
    events = Events(
        oscillators=float(array.size * copies.sum()),
        oscillator_cycles=float(array.size * cycles.sum()),
        couplers=float(couplers @ copies),
        coupling_cycles=float(couplers @ cycles),
        spans=float(spans @ copies),
        span_cycles=float(spans @ cycles),
        starts=_starts(array, copies),
        reads=float(copies.sum() * {"pair": 1, "network": array.size}.get(array.dynamics, array.size // 2)),
    )
    return events.counts(
        carrier_hz,
        design.coupling_bits or UNQUANTISED_BITS,
        design.frequency_bits or UNQUANTISED_BITS,
        design.readout_bits or UNQUANTISED_BITS,
    )


def _copies(array: OscillatorArray) -> Array:
    """(B,) circuits of the chip that each batch stands for."""
    if array.dynamics != "pair":
        return np.ones(array.batches)
    return np.bincount(array.cell[array.cell >= 0], minlength=array.batches).astype(float)


def _couplers(array: OscillatorArray, reciprocal: bool) -> NDArray[np.bool_]:
    """(M, n, n) couplers that are built; of a reciprocal one, one direction."""
    wired = array.pull != 0.0
    return np.triu(wired | np.swapaxes(wired, 1, 2), 1) if reciprocal else wired


def _walks(array: OscillatorArray) -> Array:
    """(n, n) cell pitches between two oscillators of a batch."""
    if array.dynamics == "pair":
        return np.ones((array.size, array.size))
    places = array.size // 2 if array.dynamics == "clamped" else array.size
    row, column = np.divmod(np.arange(array.size) % places, int(np.ceil(np.sqrt(places))))
    return np.maximum(np.abs(row[:, None] - row) + np.abs(column[:, None] - column), 1).astype(float)


def _starts(array: OscillatorArray, copies: Array) -> float:
    """Phases to be set: all of an array, and of pair cells those that start neither in phase nor opposed."""
    if array.dynamics != "pair":
        return float(array.size * copies.sum())
    psi = array.start[:, 0] - array.start[:, 1]
    return float((np.abs(np.sin(psi)) > 1e-12) @ copies)
