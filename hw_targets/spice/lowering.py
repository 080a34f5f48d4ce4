"""A layer as netlists to run: circuit, how long each batch takes, which batches share a netlist."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from hw_targets.spice.config import SpiceConfig
from hw_targets.spice.netlist import Window
from oscsim.circuits import Circuit, lower_circuit, timing
from oscsim.circuits.promise import circuit_accuracy
from oscsim.errors import LoweringError
from oscsim.spec import PhaseLayerSpec
from oscsim.tolerance import Accuracy

Array = NDArray[np.float64]
Indices = NDArray[np.int64]

# Runs last this many cycles, or twice that, four times, ...; a first run takes a little more than predicted.
SHORTEST, MARGIN = 16.0, 1.2
# Numbers one netlist may save (8 bytes each); a longer run saves its end only.
_SAVED = 4e7
# Seconds per step of ngspice 39, measured on one core of 2.5 GHz (docs/targets/spice.md), good to a factor of
# three: per state variable, and per cubed number of mutually coupled oscillators (the matrix fills up).
_PER_STATE_S, _PER_CUBE_S = 1.5e-6, 2.5e-9


@dataclass(frozen=True, eq=False)
class Lowered:
    """Everything a run needs.

    Parameters
    ----------
    end : finite duration of a clamped layer in carrier cycles, else infinity. skip : cycles amplitudes take.
    wanted : (B,) carrier cycles of a first run. accuracy : what is promised against the closed form.
    """

    circuit: Circuit
    config: SpiceConfig
    carrier_hz: float
    end: float
    skip: float
    wanted: Array
    accuracy: Accuracy

    def predicted_s(self, job: "Job") -> float:
        """Seconds a netlist is expected to take."""
        circuit, window = self.circuit, job.window
        states = len(circuit.start) * circuit.array.size * len(job.batches)
        connected = (circuit.kappa != 0.0).any()
        cubes = len(job.batches) * circuit.array.size**3 if connected else 0
        steps = window.cycles * self.config.steps
        return steps * (states * _PER_STATE_S + cubes * _PER_CUBE_S)

    def jobs(self, batches: Indices, cycles: Array) -> list["Job"]:
        """Netlists for some batches that are to run for ``cycles`` (B,): equally long ones share one."""
        made = []
        for length in np.unique(cycles[batches]):
            together = batches[cycles[batches] == length]
            numbers = self.config.steps * length * len(self.circuit.start) * self.circuit.array.size
            room = max(1, int(_SAVED / numbers))
            saved_from = max(0.0, length * (1.0 - _SAVED / numbers)) if not self.held else 0.0
            for first in range(0, len(together), room):
                made.append(Job(together[first : first + room], Window(float(length), saved_from)))
        return made

    @property
    def held(self) -> int:
        """Held oscillators of a batch: the later half of a clamped one, whose phases count from the start."""
        array = self.circuit.array
        return array.size // 2 if array.dynamics == "clamped" else 0


@dataclass(frozen=True, eq=False)
class Job:
    """One netlist: batches and cycles."""

    batches: Indices
    window: Window


def lower(spec: PhaseLayerSpec, config: SpiceConfig) -> Lowered:
    """Lower one layer; pure, runs no program.

    Raises
    ------
    LoweringError
        a coupling or detuning out of the family's range, a coupler that cannot represent the layer, noise, or
        more oscillators than ``largest``.
    """
    _check_noise(config)
    circuit = lower_circuit(spec, config)
    _check_transistors(circuit, config)
    end = spec.duration * spec.time_unit_s * spec.carrier_hz if spec.dynamics == "clamped" else np.inf
    if end > config.max_cycles:  # as good as for ever: such a run has to come to rest
        end = np.inf
    circuit = replace(circuit, warnings=(*circuit.warnings, *timing.late(circuit, float(end))))
    lowered = Lowered(
        circuit=circuit,
        config=config,
        carrier_hz=spec.carrier_hz,
        end=float(end),
        skip=timing.transient_cycles(circuit),
        wanted=_first_cycles(circuit, config, float(end)),
        accuracy=circuit_accuracy(circuit),
    )
    _check_size(lowered)
    return lowered


def _first_cycles(circuit: Circuit, config: SpiceConfig, end: float) -> Array:
    predicted = MARGIN * timing.predicted_cycles(circuit) + SHORTEST
    if circuit.array.dynamics != "pair":
        predicted = np.full(len(predicted), predicted.max(initial=SHORTEST))
    doublings = np.ceil(np.log2(np.minimum(predicted, config.max_cycles) / SHORTEST))
    cycles = SHORTEST * 2.0 ** np.maximum(doublings, 0.0)
    return np.minimum(cycles, longest(config, end))


def longest(config: SpiceConfig, end: float) -> float:
    """Carrier cycles at which a run ends: half a cycle after a finite duration, to be averaged over."""
    return end + max(min(0.5, end), 0.05) if np.isfinite(end) else config.max_cycles


def _check_noise(config: SpiceConfig) -> None:
    if config.noise_a_per_sqrt_hz > 0.0:
        raise LoweringError(
            f"noise_a_per_sqrt_hz: given {config.noise_a_per_sqrt_hz:g}, but ngspice's transient noise is "
            "a sequence of straight lines, which is not white to an oscillator; use target circuit"
        )


def _check_transistors(circuit: Circuit, config: SpiceConfig) -> None:
    if config.model != "mos":
        return
    if config.coupling_delay_s > 0.0:
        raise LoweringError(
            f"coupling_delay_s: given {config.coupling_delay_s:g} with model=mos, whose couplers are plain "
            "resistors; choose model=behavioural"
        )
    if config.family == "ring" and (circuit.kappa < 0.0).any():
        raise LoweringError(
            "family ring, model mos: a negative coupling given, but a single-ended ring has no second node "
            "to cross to; choose family=lc, or model=behavioural"
        )


def _check_size(lowered: Lowered) -> None:
    circuit, largest = lowered.circuit, lowered.config.largest
    count = circuit.capacitance.size
    if count > largest:
        every = np.arange(circuit.array.batches)
        seconds = sum(lowered.predicted_s(job) for job in lowered.jobs(every, lowered.wanted))
        raise LoweringError(
            f"target 'spice': {count} oscillators given ({circuit.array.batches} batches of "
            f"{circuit.array.size}), expected at most largest={largest}: ngspice would take about "
            f"{seconds:.0f} s; take a smaller layer, target circuit, or set largest={count}"
        )
