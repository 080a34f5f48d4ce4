"""What a physical oscillator array does to compute one layer: how long it runs, and everything it counts."""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from oscsim import pair_terms
from oscsim.circuits.lowering import largest_pull
from oscsim.circuits.validity import LARGEST_SAFE, in_words, rounded_up
from oscsim.counts import Counts
from oscsim.energy.array_counts import array_counts
from oscsim.energy.estimate import EnergyError
from oscsim.energy.hardware import OscillatorHardware
from oscsim.energy.network_settling import network_settling
from oscsim.energy.settling import Settling, clamped_settling, pair_settling
from oscsim.spec import PhaseLayerSpec

Array = NDArray[np.float64]

_SETTLING = {"pair": pair_settling, "clamped": clamped_settling, "network": network_settling}
# Farther from the carrier than this (relative) no circuit of this project tunes (CircuitDesign.tuning_range).
_TUNING = 0.2


@dataclass(frozen=True, eq=False)
class Schedule:
    """Counts of an oscillator array for one layer, and where its duration comes from.

    Parameters
    ----------
    counts : events of one evaluation of the layer, all heads together.
    cycles, seconds : carrier cycles and time until the slowest compared cell is read.
    epsilon : ``a_max/(2 pi carrier_hz time_unit_s)``, the strongest coupling relative to the carrier.
    dynamics : of the array; cells : pair cells, free oscillators, or oscillators of a network, as built.
    locked_share, left_out_share : of those that are compared, and of all (pair: off the diagonal).
    settle : time of each, time units; NaN where there is none or no limit (shapes: :class:`Settling`).
    slowest_rate : slowest relaxation among the compared that come to rest, 1/s; 0 where nothing does.
    accuracy : wanted error of S; coupling_bits, readout_bits : what resolves it.
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
    locked_share: float
    left_out_share: float
    settle: Array
    slowest_rate: float
    accuracy: float
    coupling_bits: int
    readout_bits: int
    carrier_hz: float
    time_unit_s: float
    lower_bound: bool
    notes: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        """Everything but the times of single cells as plain JSON."""
        fields = {name: getattr(self, name) for name in self.__dataclass_fields__ if name != "settle"}
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
        ``epsilon`` above 0.35: a coupling that strong is no phase description any more; or nothing is coupled
        and a time unit was to be chosen from epsilon.

    >>> from oscsim import FixedOrder, FrequencyCoupling
    >>> spec = PhaseLayerSpec(omega=[[[0.0], [0.6]]], theta=[[[0.0], [0.0]]], gain=[1.0],
    ...     coupling=FrequencyCoupling(alpha=[0.0]), order_parameter=FixedOrder(r=[1.0]))
    >>> plan = schedule(spec, OscillatorHardware(accuracy=0.01))
    >>> plan.cells, round(plan.cycles, 3), plan.coupling_bits, plan.counts["oscillators"]
    (4, 4.326, 7, 4.0)
    """
    if dynamics is not None and dynamics != spec.dynamics:
        spec = spec.replace(dynamics=dynamics)
    carrier_hz, time_unit_s, epsilon = clock(spec, hardware)
    found = _SETTLING[spec.dynamics](spec, hardware)
    cycles_each = np.maximum(carrier_hz * time_unit_s * found.time, 1.0)
    longest = float(cycles_each[found.compared].max(initial=1.0))
    coupling_bits = hardware.coupling_bits or bits_for(1.0 / hardware.accuracy)
    readout_bits = hardware.readout_bits or bits_for(np.pi / hardware.accuracy)
    running = np.where(found.compared & (hardware.stop == "each"), cycles_each, longest)
    running, bits = np.where(found.built, running, 0.0), (coupling_bits, readout_bits)
    counts = array_counts(spec, hardware.cell, found, running, bits, carrier_hz)
    shared, resting = found.shares_of & found.compared, found.rate[found.compared]
    slowest = float(np.min(resting[np.isfinite(resting)], initial=np.inf))
    return Schedule(
        counts, longest, longest / carrier_hz, epsilon, spec.dynamics, _cells(spec, found),
        _share(found.locked, shared), _share(found.left_out, found.shares_of), found.time,
        slowest / time_unit_s if np.isfinite(slowest) else 0.0,
        hardware.accuracy, coupling_bits, readout_bits, carrier_hz, time_unit_s, found.lower_bound,
        (*found.notes, *_notes(spec, hardware, carrier_hz * time_unit_s)),
    )  # fmt: skip


def clock(spec: PhaseLayerSpec, hardware: OscillatorHardware) -> tuple[float, float, float]:
    """carrier_hz, time_unit_s and epsilon of a layer as an array of its own dynamics.

    Raises
    ------
    EnergyError
        as for :func:`schedule`.
    """
    carrier_hz = hardware.carrier_hz or spec.carrier_hz
    return (carrier_hz, *_time_unit(spec, hardware, carrier_hz))


def bits_for(levels: float) -> int:
    """Bits that tell so many levels apart.

    >>> bits_for(100.0), bits_for(8.0), bits_for(1.1)
    (7, 3, 1)
    """
    return max(1, int(np.ceil(np.log2(levels) - 1e-9)))


def strongest_coupling(spec: PhaseLayerSpec) -> float:
    """a_max, rad / time unit: of one cell (pair), or everything that pulls two oscillators of an array."""
    j = pair_terms.coupling(spec)
    if spec.dynamics == "pair":
        a = np.abs(pair_terms.locking_strength(spec, j))
        return float(np.where(pair_terms.unmasked(spec), a, 0.0).max())
    if spec.dynamics == "network":
        return largest_pull(pair_terms.network_matrix(spec, j) * ~np.eye(spec.n_oscillators, dtype=bool))
    rows = np.where(pair_terms.unmasked(spec), spec.gain[:, None, None] * np.abs(j), 0.0).sum(axis=2)
    return float((np.abs(pair_terms.free_rate(spec)) * rows[:, :, None]).max())


def _time_unit(spec: PhaseLayerSpec, hardware: OscillatorHardware, carrier_hz: float) -> tuple[float, float]:
    a_max = strongest_coupling(spec)
    if hardware.epsilon is not None:
        if a_max == 0.0:
            raise EnergyError(
                f"option 'epsilon': given {hardware.epsilon:g}, but nothing in this layer is coupled, so it "
                "sets no time unit; give time_unit_s instead"
            )
        return a_max / (2.0 * np.pi * carrier_hz * hardware.epsilon), hardware.epsilon
    time_unit_s = hardware.time_unit_s or spec.time_unit_s
    epsilon = a_max / (2.0 * np.pi * carrier_hz * time_unit_s)
    if epsilon > LARGEST_SAFE:
        enough = a_max / (2.0 * np.pi * carrier_hz * LARGEST_SAFE)
        raise EnergyError(
            f"epsilon: the strongest coupling is {epsilon:.3g} of the carrier ({carrier_hz:g} Hz, time unit "
            f"{time_unit_s:g} s), expected at most {LARGEST_SAFE}, where oscillators still are phases; set "
            f"{in_words(enough)}, or --epsilon {LARGEST_SAFE}, or a carrier of "
            f"{rounded_up(carrier_hz * epsilon / LARGEST_SAFE):g} Hz"
        )
    return time_unit_s, epsilon


def _cells(spec: PhaseLayerSpec, found: Settling) -> int:
    channels = int(spec.valid.sum()) if spec.dynamics == "network" else 1
    return int(found.built.sum()) * channels


def _share(part: NDArray[np.bool_], of: NDArray[np.bool_]) -> float:
    return float((part & of).sum() / max(int(of.sum()), 1))


def _notes(spec: PhaseLayerSpec, hardware: OscillatorHardware, cycles_per_unit: float) -> tuple[str, ...]:
    notes = ["oscillators run at full amplitude from the first cycle on: start-up is not counted"]
    if spec.dynamics == "pair":
        d = np.where(pair_terms.unmasked(spec), pair_terms.mismatch(spec), 0.0)
        away = float(d.max()) / (2.0 * np.pi * cycles_per_unit)
        if hardware.cell == "injection":
            notes.append("the clean reference of an injection-locked cell is made elsewhere and not counted")
    else:
        away = float(np.abs(spec.omega[:, spec.valid]).max()) / (2.0 * np.pi * cycles_per_unit)
        away = away if spec.dynamics == "network" else 0.0
        notes += [
            f"option '{name}' concerns pair cells only and changes nothing here"
            for name, default in (("cell", "injection"), ("cell_clock", "layer"), ("read_out", "window"))
            if getattr(hardware, name) != default
        ]
    if away > _TUNING:
        notes.append(
            f"frequencies up to {away:.2g} of the carrier away from it: tuning reaches {_TUNING} in the "
            "circuits of this project; a longer time unit or a smaller epsilon helps"
        )
    return tuple(notes)
