"""Run the cells of a pair or clamped layer and read S out."""

from functools import partial

import numpy as np
from numpy.typing import NDArray

from hw_targets.lava.cell_record import CellReadout, read_cells
from hw_targets.lava.outcome import Outcome
from hw_targets.lava.plan import LoweredCells
from hw_targets.lava.program import counted
from hw_targets.lava.runtime import lava_session
from oscsim.pair_terms import coupling, initial_phase, spec_order_parameter, unmasked
from oscsim.phase import wrap
from oscsim.readout import phase_sync
from oscsim.result import SyncStatus

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]


def run_pair(lowered: LoweredCells) -> Outcome:
    """``S_ij = |J_ij <cos psi_ij>|``: over whole beats of a beating cell, else the phase it came to.

    A cell that has completed a beat is not locked, however slow it is. One that neither rests nor has
    completed a beat is undecided. Inside the edge band it has no read-out: it counts as not locked with
    S = 0 (where it stopped would be chance). Outside the band it means that the run did not converge.
    """
    spec, cells = lowered.spec, lowered.cells
    readout, counters = _run(lowered)
    # a quarter turn of the frame changes no magnitude: cells turned by pi need no turning back
    cosine = np.where(readout.beating, readout.mean.real, np.cos(readout.phase))
    undecided = ~readout.decided
    unread = undecided & (np.abs(cells.ratio - 1.0) <= lowered.accuracy.band)
    sync, locked = np.zeros(cells.where.shape), np.zeros(cells.where.shape, dtype=bool)
    sync[cells.where] = np.where(unread, 0.0, np.abs(coupling(spec)[cells.where] * cosine))
    locked[cells.where] = readout.resting & ~unread
    status, notes = _status(undecided & ~unread, lowered)
    if unread.any():
        notes += (f"{int(unread.sum())} cells inside the edge band are undecided: S = 0, not locked",)
    order = spec_order_parameter(spec)
    return Outcome(sync, locked, order, None, status, notes, counters=counters)


def run_clamped(lowered: LoweredCells) -> Outcome:
    """``S_ij = J_ij (1/D) sum_l cos(phi_i^l - theta_j^l)`` at the end of the duration, or at rest."""
    spec, cells = lowered.spec, lowered.cells
    readout, counters = _run(lowered)
    phase_0 = initial_phase(spec)
    back = readout.phase - np.where(cells.turned, np.pi, 0.0)
    phase = phase_0.copy()
    # continuous from the initial phase; what did not move is returned as it was given
    moved = wrap(lowered.held[cells.where] + back - phase_0[cells.where])
    phase[cells.where] += np.where(cells.steps > 0, moved, 0.0)
    allowed = np.broadcast_to(unmasked(spec), (spec.n_heads, *unmasked(spec).shape))
    sync = np.where(allowed, phase_sync(coupling(spec), phase, spec.theta), 0.0)
    status, notes = _status(~cells.complete & ~readout.resting, lowered)
    order = spec_order_parameter(spec)
    return Outcome(sync, allowed.copy(), order, phase, status, notes, counters=counters)


def _run(lowered: LoweredCells) -> tuple[CellReadout, dict[str, int]]:
    """Run the process and return the read-out in layer order, and what the process counted."""
    from hw_targets.lava.processes.pair_cells import PairCells

    program, form = lowered.program, lowered.number_format
    build = partial(PairCells, program=program, arithmetic=form.arithmetic)
    with lava_session(build, form.tag, lowered.config.timeout_s, lowered.config.stall_s) as session:
        (record,) = session.run(program.lava_steps, session.process.record, messages=1)
        counters = session.read(session.process.counters)
    readout = read_cells(record, program.steps, form)
    place = np.argsort(program.order)
    ordered = CellReadout(
        readout.phase[place], readout.mean[place], readout.beating[place], readout.resting[place]
    )
    return ordered, counted(counters)


def _status(unfinished: Mask, lowered: LoweredCells) -> tuple[SyncStatus, tuple[str, ...]]:
    cells = lowered.cells
    updates = int(cells.steps.sum())
    notes = (f"{len(cells.steps)} cells made {updates} updates in {lowered.program.lava_steps} Lava steps",)
    stuck = _unstable(lowered)
    if stuck:
        notes += (f"{stuck} cells start on their unstable point and do not leave it",)
    if not unfinished.any():
        return SyncStatus.SETTLED, notes
    count = int(unfinished.sum())
    short = f"{count} cells had not settled after max_steps={lowered.config.max_steps} steps; raise max_steps"
    return SyncStatus.NOT_CONVERGED, (*notes, short)


def _unstable(lowered: LoweredCells) -> int:
    """Cells without mismatch that start closer to psi = pi than the number format can move."""
    cells = lowered.cells
    distance = np.abs(wrap(cells.start - np.pi))
    still = (cells.mismatch == 0) & (cells.coupling > 0) & (distance <= lowered.number_format.nearest)
    return int(still.sum())
