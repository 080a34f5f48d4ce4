"""Lowering of ``pair``: one injection-locked cell per unmasked ordered pair and head."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hw_targets.brian2 import timing
from hw_targets.brian2.config import Brian2Config
from hw_targets.brian2.scale import RateScale
from oscsim import pair_terms
from oscsim.phase import wrap
from oscsim.spec import PhaseLayerSpec
from oscsim.tolerance import Accuracy, rk4_epsilon

Array = NDArray[np.float64]
Indices = NDArray[np.int64]

# psi in rad; mismatch and locking in rad/s; stretch is the dimensionless clock of the cell, pace the
# common rate of all stretched clocks, so cosine is the integral of cos(psi) over own-clock time.
EQUATIONS = """
dpsi/dt = stretch*(mismatch - locking*sin(psi)) : 1
dcosine/dt = pace*cos(psi) : 1
mismatch : hertz (constant)
locking : hertz (constant)
stretch : 1 (constant)
pace : hertz (shared, constant)
"""


@dataclass(frozen=True, eq=False)
class CellClass:
    """Cells that need about the same own-clock duration and run together, ``cells`` indexing the layer's."""

    number: int
    cells: Indices
    step: float
    longest: float


@dataclass(frozen=True, eq=False)
class PairLowering:
    """All cells of a layer, flattened; rates in rad / time unit.

    Parameters
    ----------
    allowed : (H, N, N) bool, where there is a cell; the other arrays hold one entry per cell.
    coupling : J; mismatch : d; locking : a; start : psi(0) in rad; rate : max(|a|, d).
    predicted : own-clock duration the cell is expected to need.
    edge_distance : ``|d/|a| - 1|``, infinity where a = 0.
    classes : cells by duration; every cell is in exactly one.
    """

    scale: RateScale
    allowed: NDArray[np.bool_]
    coupling: Array
    mismatch: Array
    locking: Array
    start: Array
    rate: Array
    predicted: Array
    edge_distance: Array
    classes: tuple[CellClass, ...]
    max_duration: float
    accuracy: Accuracy

    def sections(self) -> tuple[tuple[str, dict[str, Any]], ...]:
        """Plan sections: circuit, clock, duration classes, arrays."""
        classes = {f"class_{part.number}": self._class_row(part) for part in self.classes}
        steps = sum(len(part.cells) * self.planned_steps(part) for part in self.classes)
        seconds = self.predicted[self.rate > 0] / self.rate[self.rate > 0] * self.scale.time_unit_s
        circuit = {
            "kind": "injection-locked cell per ordered pair",
            "equations": EQUATIONS.strip().splitlines(),
            "cells": len(self.mismatch),
            "state_variables_per_cell": 2,
            "planned_cell_steps": steps,
            "planned_stage_evaluations": 4 * steps,
            "slowest_predicted_settling_s": seconds.max(initial=0.0),
            "mean_predicted_settling_s": seconds.mean() if len(seconds) else 0.0,
        }
        arrays = {
            name: getattr(self, name) for name in ("coupling", "mismatch", "locking", "start", "predicted")
        }
        return ("circuit", circuit), ("clock", self.scale.section()), ("classes", classes), ("arrays", arrays)

    def planned_steps(self, part: CellClass) -> int:
        """Steps after which every cell of the class should have finished."""
        return int(np.ceil(min(part.longest, self.max_duration) / part.step))

    def _class_row(self, part: CellClass) -> dict[str, Any]:
        return {
            "cells": len(part.cells),
            "step": part.step,
            "dt_s": self.scale.dt_s(part.step),
            "longest_predicted": part.longest,
            "planned_steps": self.planned_steps(part),
            "largest_steps": int(np.ceil(self.max_duration / part.step)),
        }


def lower_pair(spec: PhaseLayerSpec, config: Brian2Config) -> PairLowering:
    """Cells, their clocks and their duration classes."""
    d, allowed = pair_terms.mismatch(spec), pair_terms.unmasked(spec)
    j = pair_terms.coupling(spec, d)
    allowed = np.broadcast_to(allowed, d.shape)
    cells = [part[allowed] for part in (j, d, pair_terms.locking_strength(spec, j))]
    coupling, mismatch, locking = cells
    start = wrap(pair_terms.initial_difference(spec, d, j)[allowed])
    rate = np.maximum(mismatch, np.abs(locking))
    ratio = _ratio(mismatch, np.abs(locking))
    predicted = _predict(ratio, np.where(locking < 0, start + np.pi, start))
    return PairLowering(
        scale=RateScale.of(spec, rate),
        allowed=allowed,
        coupling=coupling,
        mismatch=mismatch,
        locking=locking,
        start=start,
        rate=rate,
        predicted=predicted,
        edge_distance=np.abs(ratio - 1.0),
        classes=_classes(predicted, config),
        max_duration=config.max_duration,
        accuracy=Accuracy(rk4_epsilon(config.step), timing.edge_band(config.max_duration)),
    )


def _ratio(mismatch: Array, strength: Array) -> Array:
    """d/|a|; infinity where only a vanishes, 0 where d does (such a cell is at rest or locks)."""
    ratio = np.full_like(mismatch, np.inf)
    with np.errstate(over="ignore"):
        np.divide(mismatch, strength, out=ratio, where=strength > 0)
    return np.where(mismatch > 0, ratio, 0.0)


def _predict(ratio: Array, start: Array) -> Array:
    locked = ratio < 1.0
    predicted = np.full_like(ratio, np.inf)  # exactly on the edge nothing settles exponentially
    predicted[locked] = timing.settling_duration(ratio[locked], start[locked])
    predicted[ratio > 1.0] = timing.beat_duration(ratio[ratio > 1.0])
    return predicted * timing.MARGIN


def _classes(predicted: Array, config: Brian2Config) -> tuple[CellClass, ...]:
    numbers = timing.duration_class(np.minimum(predicted, config.max_duration))
    return tuple(
        CellClass(
            number=int(number),
            cells=np.flatnonzero(numbers == number),
            step=timing.class_step(config.step, int(number)),
            longest=float(predicted[numbers == number].max()),
        )
        for number in np.unique(numbers)
    )
