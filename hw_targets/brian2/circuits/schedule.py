"""When a circuit is stepped, read and judged: a clock of steps, classes of batches, moments to look."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hw_targets.brian2.circuits.config import CircuitConfig
from oscsim.circuits import timing
from oscsim.circuits.circuit import Circuit

Array = NDArray[np.float64]
Indices = NDArray[np.int64]

# A class of batches needs this many cycles, or twice that, four times, ...
_FIRST_CLASS = 16.0
# A clamped layer that ends before these carrier cycles is read at that moment, one reading per step: averages
# over three cycles around the end would need some from before the start.
_MOMENT = 4.0
# Readings a decision needs at least (two stretches of an eighth, a smooth window), and moments, relative to
# the predicted duration, at which a run looks at its data.
_FEWEST_READINGS = 24
_LOOKS = (0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.15, 1.3, 1.5, 1.75, 2.0, 2.5, 3.0, 4.0, 6.0, 8.0, 12.0, 16.0)


@dataclass(frozen=True)
class Clock:
    """Steps and averaged cycles ("blocks").

    Parameters
    ----------
    steps : integration steps per block. cycles : carrier cycles per block. samples : readings per block.
    """

    steps: int
    cycles: float
    samples: int

    @property
    def dt_cycles(self) -> float:
        """One integration step in carrier cycles."""
        return self.cycles / self.steps

    def blocks(self, cycles: float) -> int:
        """Whole blocks that cover so many carrier cycles."""
        return int(np.ceil(cycles / self.cycles - 1e-9))


@dataclass(frozen=True, eq=False)
class BatchClass:
    """Batches that need about equally long and run together.

    Parameters
    ----------
    number : of the class. batches : of the circuit. predicted : longest predicted duration, carrier cycles.
    spacing : blocks from one reading to the next. looks : blocks after which the data are judged; the last
    one ends the run.
    """

    number: int
    batches: Indices
    predicted: float
    spacing: int
    looks: tuple[int, ...]


def clock(circuit: Circuit, config: CircuitConfig, end: float) -> Clock:
    """Steps from the wanted accuracy, or the given ones.

    ``end`` is the layer's duration in carrier cycles; in a turning frame, and where it is a few cycles only,
    a finite one ends on a step.
    """
    given = config.steps_per_cycle
    if config.family != "stuart_landau":
        steps = int(given) if given is not None else timing.steps_per_cycle(circuit)
        if not 0.0 < end < _MOMENT:
            return Clock(steps, 1.0, timing.SAMPLES_PER_CYCLE)
        return Clock(1, float(end / np.ceil(end * steps - 1e-9)), 1)
    step = 1.0 / given if given is not None else timing.rotating_step(circuit)
    if np.isfinite(end) and 0.0 < end <= config.max_cycles:
        step = end / np.ceil(end / step - 1e-9)
    return Clock(1, float(step), 1)


def classes(circuit: Circuit, config: CircuitConfig, ticks: Clock) -> tuple[BatchClass, ...]:
    """Pairs by predicted duration; networks and clamped layers run as one class."""
    predicted = timing.predicted_cycles(circuit)
    if circuit.array.dynamics != "pair":
        numbers, beat = np.zeros(len(predicted), int), np.full(len(predicted), np.inf)
    else:
        capped = np.clip(predicted, _FIRST_CLASS, config.max_cycles)
        numbers = np.floor(np.log2(capped / _FIRST_CLASS)).astype(int)
        rate, locked = timing.pair_rates(circuit)
        with np.errstate(divide="ignore"):
            beat = np.where(locked, np.inf, 2.0 * np.pi / rate / circuit.reduction.cycle.period)
    made = []
    for number in np.unique(numbers):
        batches = np.flatnonzero(numbers == number)
        longest = float(predicted[batches].max())
        spacing = _spacing(
            circuit, ticks, batches, float(beat[batches].min()), min(longest, config.max_cycles)
        )
        looks = _looks(ticks, longest, spacing, config.max_cycles)
        made.append(BatchClass(int(number), batches, longest, spacing, looks))
    return tuple(made)


def _spacing(circuit: Circuit, ticks: Clock, batches: Indices, beat: float, longest: float) -> int:
    apart = min(timing.sample_spacing(circuit, batches, beat), longest / (2 * _FEWEST_READINGS))
    return max(1, int(apart / ticks.cycles))


def _looks(ticks: Clock, predicted: float, spacing: int, most: float) -> tuple[int, ...]:
    last = max(ticks.blocks(most), 1)
    fewest = spacing * _FEWEST_READINGS
    moments = [ticks.blocks(min(predicted * share, most)) for share in _LOOKS] + [last]
    while moments[-2] * 2 < last:
        moments.insert(-1, moments[-2] * 2)
    return tuple(sorted({min(max(moment, fewest), last) for moment in moments}))
