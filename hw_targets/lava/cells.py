"""Lowering of pair and clamped layers: one cell ``psi' = d - a sin psi`` per ordered pair or free oscillator.

Every cell runs on its own clock: dividing by ``max(|a|, d)`` makes the larger of the two one step per
step, exact in any format, so only the other is rounded. A negative ``a`` becomes a positive one half a turn
ahead. A free oscillator against its held sources is a cell without mismatch (docs/spec.md section 5).
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hw_targets.lava.duration import Timing, cell_steps, creeping, edge_steps
from hw_targets.lava.formats import NumberFormat
from hw_targets.lava.program import CellProgram, Integrator
from oscsim.errors import LoweringError
from oscsim.pair_terms import (
    coupling,
    free_rate,
    held_phasor,
    initial_difference,
    initial_phase,
    locking_strength,
    mismatch,
    unmasked,
)
from oscsim.phase import wrap
from oscsim.spec import PhaseLayerSpec
from oscsim.tolerance import CONDITION_CAP, UNSTABLE_BAND

Array = NDArray[np.float64]
Integers = NDArray[np.int64]
Mask = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Cells:
    """Cells as numbers, before a number format: flat arrays of one entry per cell, in layer order.

    Parameters
    ----------
    where : (H, N, N) or (H, N, D) bool, the places of the cells in the layer.
    mismatch, coupling : d and a >= 0 on the own clock, both at most 1.
    start : psi(0) in rad, half a turn ahead where a was negative.
    turned : bool, where a was negative.
    ratio : d/a, infinite where a = 0 < d, 0 where nothing moves.
    steps : own-clock steps of each cell.
    complete : bool, False where the cell would need more than max_steps.
    """

    where: Mask
    mismatch: Array
    coupling: Array
    start: Array
    turned: Mask
    ratio: Array
    steps: Integers
    complete: Mask


def pair_cells(spec: PhaseLayerSpec, timing: Timing, band: float) -> Cells:
    """The cells of a pair layer, diagonal included, masked ones left out."""
    d = mismatch(spec)
    j = coupling(spec, d)
    a = locking_strength(spec, j)
    where = np.broadcast_to(unmasked(spec), j.shape)
    start = initial_difference(spec, d, j)[where]
    d, a = d[where], a[where]
    idle = (a == 0) & (d == 0)
    turned = a < 0
    fastest = np.where(idle, 1.0, np.maximum(np.abs(a), d))
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        ratio = np.where(idle, 0.0, d / np.abs(a))
    # where nothing pulls and nothing turns, S = |J| by convention (docs/spec.md section 2)
    start = np.where(idle, 0.0, start + np.where(turned, np.pi, 0.0))
    wanted = cell_steps(ratio, start, timing)
    wanted = np.where(creeping(ratio, start, timing), np.maximum(wanted, timing.max_steps), wanted)
    inside = (np.abs(ratio - 1.0) <= band) | (wanted < 0)
    limit = edge_steps(band, timing) if inside.any() else timing.max_steps
    wanted = np.where(inside, np.where(wanted < 0, limit, np.minimum(wanted, limit)), wanted)
    return Cells(
        where,
        d / fastest,
        np.abs(a) / fastest,
        start,
        turned,
        ratio,
        np.minimum(np.where(idle, 0, wanted), timing.max_steps),
        wanted <= timing.max_steps,
    )


def clamped_cells(spec: PhaseLayerSpec, timing: Timing, epsilon: float) -> tuple[Cells, Array]:
    """The free oscillators of a clamped layer, and the phase (H, N, D) of the held drive of each.

    A finite duration T is ``|rho| R T`` on the own clock, in equal steps that end exactly there; a cell
    that comes to rest earlier stops then.

    Raises
    ------
    LoweringError
        the format keeps a cell on its unstable point that would move by more than ``epsilon`` allows.
    """
    drive = held_phasor(spec, coupling(spec))
    held: Array = np.angle(drive).astype(np.float64)
    where = np.broadcast_to(spec.valid[None, :, None], held.shape)
    signed = (free_rate(spec) * np.abs(drive))[where]
    turned = signed < 0
    start = wrap((initial_phase(spec) - held)[where] + np.where(turned, np.pi, 0.0))
    pull = np.abs(signed)
    with np.errstate(over="ignore", invalid="ignore"):
        time = np.where(pull > 0, pull * spec.duration, 0.0)
    _refuse_stranded(start, time, timing, epsilon)
    rest = cell_steps(np.zeros_like(pull), start, timing)
    # nine digits: the last bit of a product of sums depends on the processor, the plan must not
    needed = np.minimum(np.ceil(np.round(np.minimum(time / timing.step, 2.0**40), 9)), 2**40).astype(np.int64)
    steps = np.minimum(needed, rest)
    with np.errstate(divide="ignore", invalid="ignore"):
        exact = np.where(steps > 0, time / (timing.step * steps), 0.0)
    speed = np.where(needed <= rest, exact, 1.0)
    limited = np.minimum(steps, timing.max_steps)
    zero = np.zeros_like(pull)
    return Cells(where, zero, speed, start, turned, zero, limited, steps <= timing.max_steps), held


def _refuse_stranded(start: Array, time: Array, timing: Timing, epsilon: float) -> None:
    """Refuse cells that the closed form decides, but that the format leaves where they start.

    The distance from the unstable point grows like ``tan(distance/2) e^time``; a start within UNSTABLE_BAND
    of it is open in every format (oscsim/tolerance.py).
    """
    distance = np.pi - np.abs(start)
    still = (time > 0) & (distance <= timing.nearest) & (distance > UNSTABLE_BAND)
    if not still.any():
        return
    tangent = np.tan(distance[still] / 2)
    grown = tangent * np.exp(np.minimum(time[still], 100.0))
    moved = 2 * np.arctan(grown) - distance[still]
    growth = np.sin(distance[still] + moved) / np.sin(distance[still])
    stranded = (growth <= CONDITION_CAP) & (moved > epsilon * np.maximum(1.0, growth))
    if stranded.any():
        raise LoweringError(
            f"number format: {int(stranded.sum())} oscillators start within {timing.nearest:.3g} rad of "
            "their unstable point, where the sine rounds to zero, and would never leave it; use more "
            "payload_bits (with interpolation='nearest': more sine_bits, or interpolation='linear')"
        )


def program(cells: Cells, number_format: NumberFormat, integrator: Integrator) -> CellProgram:
    """Cells in the number format, sorted so that the running ones are always the first ones."""
    arithmetic = number_format.arithmetic
    order = np.argsort(-cells.steps, kind="stable")
    phase = arithmetic.from_radians(cells.start[order])
    drift, pull = cells.mismatch[order], cells.coupling[order]
    rates = (arithmetic.rate(drift), arithmetic.rate(pull))
    return CellProgram(phase, *rates, cells.steps[order], order.astype(np.int64), integrator)
