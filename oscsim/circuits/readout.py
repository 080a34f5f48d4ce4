"""From readings of pairs to what a run says about a layer: every decision is made from the data."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from oscsim import pair_terms
from oscsim.circuits.cell_readings import COLLAPSED, CellReadings, noisy
from oscsim.circuits.circuit import Circuit
from oscsim.result import SyncStatus
from oscsim.spec import PhaseLayerSpec
from oscsim.tolerance import AVERAGING_CAP

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Reading:
    """Read-out of a layer; shapes as in SyncResult, masked cells zero.

    Parameters
    ----------
    change : largest change of an average over its later half, 0 where nothing was averaged.
    """

    sync: Array
    locked: Mask
    order_parameter: Array
    status: SyncStatus
    notes: tuple[str, ...]
    phase: Array | None = None
    change: float = 0.0

    @property
    def done(self) -> bool:
        """Whether more time would change nothing."""
        return self.status is not SyncStatus.NOT_CONVERGED


def pair_reading(spec: PhaseLayerSpec, circuit: Circuit, cells: CellReadings, band: float) -> Reading:
    """``S = |J <cos psi>|`` of every cell, from the readings of all batches."""
    array = circuit.array
    d = np.abs(array.detuning[:, 0] - array.detuning[:, 1])
    a = np.abs(array.pull[:, 0, 1] + array.pull[:, 1, 0])
    edge = np.abs(d - a) <= band * a
    undecided = ~cells.done
    outside = undecided & ~edge
    cosine = np.where(cells.done & ~cells.collapsed, cells.cosine, 0.0)
    there = array.cell >= 0
    sync, locked = np.zeros(array.cell.shape), np.zeros(array.cell.shape, bool)
    sync[there] = np.abs(pair_terms.coupling(spec)[there] * cosine[array.cell[there]])
    locked[there] = cells.settled[array.cell[there]]
    turns = f"{cells.slips[cells.turning].sum():.0f} whole turns seen"
    notes = [f"{cells.settled.sum()} circuits settled, {cells.turning.sum()} drifting ({turns})"]
    if noisy(circuit):
        notes = [
            f"{cells.settled.sum()} circuits stay within a small range of psi, {cells.turning.sum()} wander "
            f"or slip ({turns}); averages are good to {cells.change.max(initial=0.0):.2g}"
        ]
    if undecided.any():
        notes.append(
            f"{undecided.sum()} circuits neither at rest nor averaged at the end, {outside.sum()} of them "
            f"outside the edge band {band:.3g}: S = 0, not locked"
        )
    if cells.collapsed.any():
        notes.append(collapse_note(int(cells.collapsed.sum()), "pairs"))
    change = float(cells.change[cells.done & ~cells.collapsed].max(initial=0.0))
    broken = outside.any() or cells.collapsed.any() or change > AVERAGING_CAP
    return Reading(
        sync=sync,
        locked=locked,
        order_parameter=pair_terms.spec_order_parameter(spec),
        status=SyncStatus.NOT_CONVERGED if broken else SyncStatus.SETTLED,
        notes=tuple(notes),
        change=change if np.isfinite(change) else 0.0,
    )


def collapse_note(count: int, what: str) -> str:
    """Why there is no decision where amplitudes have collapsed."""
    return (
        f"amplitude collapsed below {COLLAPSED:g} of the free limit cycle in {count} {what}: no lock "
        "decision exists there (S = 0, not locked); the coupling is too strong for the family"
    )
