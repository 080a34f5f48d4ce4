"""What pairs of oscillators showed: at rest, turning, collapsed, or nothing yet; from the data only."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from oscsim.beat_average import FEWEST_TURNS, WOBBLE_TURNS
from oscsim.circuits.averages import beat_means, rest_distance, turns
from oscsim.circuits.circuit import Circuit
from oscsim.circuits.rates import RELAXATIONS
from oscsim.circuits.recorder import PhaseRecord
from oscsim.circuits.timing import pair_rates
from oscsim.tolerance import AVERAGING_CAP, LOCK_THRESHOLD

Array = NDArray[np.float64]
Indices = NDArray[np.int64]
Mask = NDArray[np.bool_]

# An oscillator whose swing is below this share of its free limit cycle's has collapsed: what is left of its
# phase is that of the signals driven into it, and whether it "locks" means nothing.
COLLAPSED = 0.5
# Agreement of two averages that ends a run, in units of phase_accuracy (the later half sees half the beats
# and is the coarser of the two); an average under noise is good to this at best.
_AVERAGE_FACTOR, _NOISY_AVERAGE = 10.0, 0.02


@dataclass(eq=False)
class CellReadings:
    """One entry per pair.

    cosine : cos psi at rest, or its mean over whole turns. settled : came to rest (under noise: stays within
    a small range). turning : makes whole turns, or under noise wanders. collapsed : amplitude too small for
    any decision. slips : whole turns seen while averaging. change : of the average over its later half.
    """

    cosine: Array
    settled: Mask
    turning: Mask
    collapsed: Mask
    slips: Array
    change: Array

    @classmethod
    def unread(cls, count: int) -> "CellReadings":
        """Nothing read yet; NaN so that a cell nobody wrote cannot pass for a reading."""
        no = np.zeros(count, bool)
        return cls(np.full(count, np.nan), no, no.copy(), no.copy(), np.zeros(count), np.full(count, np.inf))

    @property
    def done(self) -> Mask:
        """Cells that need no more time."""
        return self.settled | self.turning | self.collapsed

    def put(self, cells: Indices | Mask, part: "CellReadings") -> None:
        """Write the readings of some cells."""
        for name in self.__dataclass_fields__:
            getattr(self, name)[cells] = getattr(part, name)

    def take(self, cells: Indices | Mask) -> "CellReadings":
        """The readings of some cells."""
        return CellReadings(**{name: getattr(self, name)[cells] for name in self.__dataclass_fields__})


def noisy(circuit: Circuit) -> bool:
    """Whether nothing ever rests."""
    return circuit.design.noise_a_per_sqrt_hz > 0.0


def average_tolerance(circuit: Circuit, last: bool) -> float:
    """Change of an average that ends a run; when time is up (``last``) the cap of every target."""
    if last:
        return AVERAGING_CAP
    return max(_AVERAGE_FACTOR * circuit.design.phase_accuracy, _NOISY_AVERAGE if noisy(circuit) else 0.0)


def long_enough(circuit: Circuit, batches: Indices, cycles: float) -> Mask:
    """(b,) whether pairs have run for several times 1/rate: before that rest and slow motion look the same.

    A pair without coupler whose oscillators are equal as built has no rate and rests at its start.
    """
    rate, _ = pair_rates(circuit)
    idle = ~circuit.kappa[circuit.matrix].any(axis=(1, 2)) & (np.ptp(circuit.capacitance, axis=1) == 0.0)
    if circuit.drive is not None:
        idle &= (np.ptp(circuit.drive, axis=2) == 0.0).all(axis=0)
    if circuit.design.frequency_bits is None:  # otherwise the codes decide which frequencies are equal
        idle &= np.ptp(circuit.array.detuning, axis=1) == 0.0
    enough = cycles * circuit.reduction.cycle.period * rate >= RELAXATIONS
    return (idle | enough)[batches]


def read_cells(
    circuit: Circuit, batches: Indices, record: PhaseRecord, skip: float, last: bool
) -> CellReadings:
    """Rest, turns and amplitudes of pairs.

    Parameters
    ----------
    batches : which of the circuit's the record is of.
    skip : carrier cycles that amplitudes take and that no average may contain.
    last : whether time is up.
    """
    accuracy = circuit.design.phase_accuracy
    psi = record.phase[..., 0] - record.phase[..., 1]
    late = record.since(skip)
    seen = late.quantised(circuit.design.readout_bits)
    phasor = np.exp(1j * (seen.phase[..., 0] - seen.phase[..., 1])) if seen.phasor is None else seen.phasor
    moving = late.phase[..., 0] - late.phase[..., 1]
    mean, change = beat_means(moving, phasor, noisy(circuit))
    made, averaged = np.abs(turns(moving)), change <= average_tolerance(circuit, last)
    enough = long_enough(circuit, batches, float(record.cycles[-1]))
    if noisy(circuit):
        settled = averaged & enough & (made < WOBBLE_TURNS) & (np.abs(mean) >= LOCK_THRESHOLD)
        # when time is up an average under noise is what there is, however good; its change says how good
        turning = (averaged | last) & ~settled & (enough | (made >= FEWEST_TURNS))
        cosine = mean.real
    else:
        settled = enough & (rest_distance(psi, accuracy) <= accuracy)
        turning = averaged & ~settled & (made > WOBBLE_TURNS)
        cosine = np.where(settled, np.cos(seen.phase[-1, :, 0] - seen.phase[-1, :, 1]), mean.real)
    collapsed = record.amplitude.min(axis=1) < COLLAPSED
    return CellReadings(
        cosine,
        settled & ~collapsed,
        turning & ~collapsed,
        collapsed,
        np.floor(made),
        change if noisy(circuit) else np.where(settled, 0.0, change),
    )
