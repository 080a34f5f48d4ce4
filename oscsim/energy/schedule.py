"""What a physical oscillator array does to compute one layer: how long it runs, and everything it counts."""

from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from oscsim.counts import Counts
from oscsim.energy.array_counts import array_counts
from oscsim.energy.clamped_settling import clamped_settling
from oscsim.energy.clock import check_clock, clock
from oscsim.energy.hardware import OscillatorHardware
from oscsim.energy.network_settling import network_settling
from oscsim.energy.once import once
from oscsim.energy.pair_settling import pair_settling
from oscsim.energy.resolution import resolution
from oscsim.energy.settling import Settling
from oscsim.energy.units import quantity
from oscsim.spec import PhaseLayerSpec

Array = NDArray[np.float64]

_SETTLING = {"pair": pair_settling, "clamped": clamped_settling, "network": once(network_settling)}
_READ = {"pair": "pairs", "network": "channels", "clamped": "oscillators"}


@dataclass(frozen=True, eq=False)
class Schedule:
    """Counts of an oscillator array for one layer, and where its duration comes from.

    Parameters
    ----------
    counts : events of one evaluation of the layer, all heads together.
    cycles, seconds : carrier cycles and time until the slowest compared cell is read.
    epsilon : ``a_max/(2 pi carrier_hz time_unit_s)``, the strongest coupling relative to the carrier.
    dynamics : of the array; cells : pair cells, free oscillators, or oscillators of a network, as built.
    locked_share, left_out_share : of those that are compared, and of all (pair: off the diagonal); None where
        there are none to share in.
    settle : time of each, time units; NaN where there is none or no limit (shapes: :class:`Settling`).
    slowest_rate : slowest relaxation among the compared that come to rest, 1/s; 0 where nothing does.
    noise_rate : of the noisiest compared that comes to rest, 1/s: one oscillator's noise kappa^2 makes
        ``kappa^2/(2 noise_rate)`` of phase variance by the time it is read (:meth:`Settling.noise_rate`).
    sine : largest |sin psi*| of what is compared and comes to rest (pair: up to the edge band).
    basin : variance when read, rad^2, beyond which noise on the way may send a start the other way round;
        infinite where no start is that near to its unstable point.
    accuracy : wanted error of S, by each of these alone: time, coupling_bits, tuning_bits, readout_bits.
    largest_coupling : max |J| of what is read.
    carrier_hz, time_unit_s : the clock that was used.
    lower_bound : whether the duration is one, because some average of the ODE had not converged.
    notes : what is not exact about this, in words.
    """

    counts: Counts
    cycles: float
    seconds: float
    epsilon: float
    dynamics: Literal["pair", "network", "clamped"]
    cells: int
    locked_share: float | None
    left_out_share: float
    settle: Array
    slowest_rate: float
    noise_rate: float
    sine: float
    basin: float
    accuracy: float
    coupling_bits: int
    tuning_bits: int
    readout_bits: int
    largest_coupling: float
    carrier_hz: float
    time_unit_s: float
    lower_bound: bool
    notes: tuple[str, ...]

    @property
    def promised(self) -> float | None:
        """Error of S that the array stands for: None where everything that counts was left out."""
        return None if self.left_out_share == 1.0 else self.accuracy

    @property
    def sentence(self) -> str:
        """How long it runs, what was left out, and what codes it takes, for people."""
        time, epsilon = f"{quantity(self.seconds, 's').to_compact():.3g~}", f"{self.epsilon:.3g}"
        tuning = f", tuning {self.tuning_bits}" if self.tuning_bits else ""
        return (
            f"runs {self.cycles:.4g} cycles ({time}) at epsilon {epsilon}; {self._left_out} left out; "
            f"bits: couplers {self.coupling_bits}{tuning}, read-out {self.readout_bits}"
        )

    @property
    def _left_out(self) -> str:
        if self.left_out_share == 0.0:
            return "nothing"
        near = " near the edge" if self.dynamics == "pair" else ""
        return f"{100.0 * self.left_out_share:.3g} % of {_READ[self.dynamics]}{near}"

    def of_plan(self, counts: Counts, spec: PhaseLayerSpec, hardware: OscillatorHardware) -> "Schedule":
        """The same array with the counts of a plan: on the layer's clock, and for as long as that takes.

        What runs to rest may do so for longer than here: it is as noisy as at rest.

        Parameters
        ----------
        spec, hardware : of the array; a plan knows no clock of single cells.
        """
        plan = replace(self, counts=counts)
        if self.dynamics == "network" or (self.dynamics == "clamped" and np.isfinite(spec.duration)):
            return plan
        found = _SETTLING[self.dynamics](
            spec.replace(dynamics=self.dynamics), hardware.model_copy(update={"cell_clock": "layer"})
        )
        rate = _smallest(found.rate[found.compared]) / self.time_unit_s
        return replace(plan, slowest_rate=rate, noise_rate=rate, basin=float("inf"))

    def to_json(self) -> dict[str, Any]:
        """Everything but the times of single cells as plain JSON."""
        fields = {name: getattr(self, name) for name in self.__dataclass_fields__ if name != "settle"}
        fields["basin"] = self.basin if np.isfinite(self.basin) else None
        return fields | {"counts": self.counts.entry, "notes": list(self.notes)}


def schedule(
    spec: PhaseLayerSpec,
    hardware: OscillatorHardware,
    dynamics: Literal["pair", "network", "clamped"] | None = None,
) -> Schedule:
    """Counts of an oscillator array that computes this layer to ``hardware.accuracy``.

    ``n_cycles = carrier_hz time_unit_s T``, T from the layer's own rates: a locked cell until its read-out is
    within the accuracy (exact flow, rate ``sqrt(a^2 - d^2)``), a turning one until its average is (read_out
    "window") or for one whole beat ("beats"); networks by their ODE from the layer's start and the slowest
    eigenvalue of their locked state; clamped ones for the layer's duration, or like locked cells where that
    is infinite. Nothing is read sooner than after one carrier cycle.
    Cells within ``edge_band`` of the locking edge have no limit: they run as long as the slowest other one.

    Parameters
    ----------
    dynamics : as which array; None is the layer's own.

    Raises
    ------
    EnergyError
        ``epsilon`` above 0.35: a coupling that strong is no phase description any more; nothing is coupled
        and a time unit was to be chosen from epsilon; a frequency is farther from the carrier than tuning
        reaches; a clamped layer ends within its first cycle.

    >>> from oscsim import FixedOrder, FrequencyCoupling
    >>> spec = PhaseLayerSpec(omega=[[[0.0], [0.6]]], theta=[[[0.0], [0.0]]], gain=[1.0],
    ...     coupling=FrequencyCoupling(alpha=[0.0]), order_parameter=FixedOrder(r=[1.0]))
    >>> plan = schedule(spec, OscillatorHardware(accuracy=0.01))
    >>> plan.cells, round(plan.cycles, 3), plan.coupling_bits, plan.counts["oscillators"]
    (4, 4.326, 7, 4.0)
    >>> plan.sentence
    'runs 4.326 cycles (4.33 ns) at epsilon 0.159; nothing left out; bits: couplers 7, \
tuning 6, read-out 9'
    """
    if dynamics is not None and dynamics != spec.dynamics:
        spec = spec.replace(dynamics=dynamics)
    carrier_hz, time_unit_s, epsilon = clock(spec, hardware)
    check_clock(spec, hardware)
    found = _SETTLING[spec.dynamics](spec, hardware)
    bits, cycles_per_unit = resolution(spec, hardware, found), carrier_hz * time_unit_s
    cycles_each = np.maximum(cycles_per_unit * found.time, 1.0)
    longest = float(cycles_each[found.compared].max(initial=1.0))
    running = np.where(found.compared & (hardware.stop == "each"), cycles_each, longest)
    running = np.where(found.built, running, 0.0)
    shared, ran = found.shares_of & found.compared, running / cycles_per_unit
    noise_rate, basin = found.noise_rate(ran), found.basin(ran)
    left_out = _share(found.left_out, found.shares_of)
    return Schedule(
        array_counts(spec, hardware.cell, found, running, bits, carrier_hz),
        longest, longest / carrier_hz, epsilon, spec.dynamics, _cells(spec, found),
        _share(found.locked, shared) if shared.any() else None, left_out, found.time,
        _smallest(found.rate[found.compared]) / time_unit_s,
        _smallest(noise_rate[found.compared]) / time_unit_s,
        1.0 - hardware.edge_band if found.sine is None else found.sine,
        float(basin[found.compared].min(initial=np.inf)),
        hardware.accuracy, bits.coupling, bits.tuning, bits.readout, bits.largest_coupling,
        carrier_hz, time_unit_s, found.lower_bound,
        (*found.notes, *_notes(spec, hardware, left_out)),
    )  # fmt: skip


def _smallest(rates: Array) -> float:
    """0 where there is none."""
    rates = rates[np.isfinite(rates)]
    return float(rates.min()) if len(rates) else 0.0


def _cells(spec: PhaseLayerSpec, found: Settling) -> int:
    channels = int(spec.valid.sum()) if spec.dynamics == "network" else 1
    return int(found.built.sum()) * channels


def _share(part: NDArray[np.bool_], of: NDArray[np.bool_]) -> float:
    return float((part & of).sum() / max(int(of.sum()), 1))


def _notes(spec: PhaseLayerSpec, hardware: OscillatorHardware, left_out: float) -> tuple[str, ...]:
    notes = [
        f"error of S {hardware.accuracy:g}: by each source alone (time, coupler, tuning and read-out codes), "
        "together up to their sum",
        "oscillators run at full amplitude from the first cycle on: start-up is not counted",
    ]
    if left_out > 0.0:
        what = "pairs are near the locking edge or" if spec.dynamics == "pair" else "oscillators"
        notes.append(
            f"{100.0 * left_out:.3g} % of {what} start on their unstable point: no time limit, no accuracy"
        )
    if spec.dynamics == "pair":
        if hardware.cell == "injection":
            notes.append("the clean reference of an injection-locked cell is made elsewhere and not counted")
        return tuple(notes)
    notes += [
        f"option '{name}' concerns pair cells only and changes nothing here"
        for name, default in (("cell", "injection"), ("cell_clock", "layer"), ("read_out", "window"))
        if getattr(hardware, name) != default
    ]
    return tuple(notes)
