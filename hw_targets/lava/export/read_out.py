"""From recorded states to S, with what an exported folder has: numpy, the arithmetic, arrays.

The same read-out as that of a run (docs/targets/lava.md), for an array ``given`` of what the layer adds:
couplings with masked cells zero, which entries have cells, initial phases.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hw_targets.lava.cell_record import CellReadout, read_cells
from hw_targets.lava.fixed_point import FixedPoint
from hw_targets.lava.floating_point import FloatingPoint
from hw_targets.lava.program import CellProgram
from oscsim.beat_average import pair_averages

Array = NDArray[np.float64]
Arrays = dict[str, NDArray[Any]]


@dataclass(frozen=True)
class ReadOutFormat:
    """What reading a cell needs of a number format: its arithmetic, and the rate below which it rests."""

    arithmetic: FixedPoint | FloatingPoint
    residual: float


def read_pair(states: Array, program: CellProgram, form: ReadOutFormat, given: Arrays) -> Array:
    """``S_ij = |J_ij <cos psi_ij>|``: (H, N, N), cells in the edge band that were not decided are zero."""
    read = _in_layer_order(states, program, form)
    cosine = np.where(read.beating, read.mean.real, np.cos(read.phase))
    unread = ~read.decided & given["band"]
    sync, where = np.zeros(given["where"].shape), given["where"]
    sync[where] = np.where(unread, 0.0, np.abs(given["coupling"][where] * cosine))
    return sync


def read_clamped(states: Array, program: CellProgram, form: ReadOutFormat, given: Arrays) -> Array:
    """``S_ij = J_ij (1/D) sum_l cos(phi_i^l - theta_j^l)`` of the final phases."""
    read = _in_layer_order(states, program, form)
    phase, where = given["phase_0"].copy(), given["where"]
    moved = np.zeros(len(program.steps), dtype=bool)
    moved[program.order] = program.steps > 0
    phase[where] = np.where(moved, given["frame"] + read.phase, phase[where])
    return held_sync(phase, given)


def read_held(states: Array, form: ReadOutFormat, given: Arrays) -> Array:
    """The same where the sources are oscillators too; the free ones come first, head by head.

    Parameters
    ----------
    states : (steps + 1, M) phases of the format.
    given : ``moving`` (F,) free oscillators that have a rate, ``valid`` tokens, ``phase_0`` and ``theta``.
    """
    phase, valid, moving = given["phase_0"].copy(), given["valid"], given["moving"]
    shape = (phase.shape[0], phase.shape[2], len(valid))
    last = np.asarray(form.arithmetic.to_radians(states[-1]))[: len(moving)]
    last, moved = (one.reshape(shape).transpose(0, 2, 1) for one in (last, moving))
    phase[:, valid] = np.where(moved, last, phase[:, valid])
    return held_sync(phase, given)


def held_sync(phase: Array, given: Arrays) -> Array:
    """``J_ij (1/D) sum_l cos(phase_i^l - theta_j^l)``."""
    apart = phase[:, :, None, :] - given["theta"][:, None, :, :]
    return given["coupling"] * np.cos(apart).mean(axis=3)


def read_network(states: Array, form: ReadOutFormat, given: Arrays) -> Array:
    """``S_ij = J_ij (1/D) sum_l Re <exp(i(theta_i - theta_j))>``: (H, N, N).

    A channel whose oscillators turn at one rate rests and is read from its last phases; any other is averaged
    over whole beats, without its start.

    Parameters
    ----------
    states : (steps + 1, M) phases of the format, from the initial ones on; M = heads x channels x tokens.
    given : ``rest`` (H, D) channels at rest as the run found them, ``valid`` tokens, ``share`` of the start
        that averages leave out, ``coupling`` with masked cells zero.
    """
    rest, valid = given["rest"], given["valid"]
    path = np.asarray(form.arithmetic.to_radians(states)).reshape(len(states), *rest.shape, len(valid))
    mean = np.zeros((*rest.shape, len(valid), len(valid)))
    for channel in np.ndindex(*rest.shape):
        here = path[(slice(None), *channel)]
        if rest[channel]:
            mean[channel] = np.cos(here[-1][:, None] - here[-1][None, :])
        else:
            kept: Array = np.unwrap(here[int(given["share"] * len(here)) :], axis=0).astype(np.float64)
            mean[channel] = pair_averages(kept)[0].real
    sync = np.zeros(given["coupling"].shape)
    sync[:, valid[:, None], valid[None, :]] = mean.mean(axis=1)
    return given["coupling"] * sync


def _in_layer_order(states: Array, program: CellProgram, form: ReadOutFormat) -> CellReadout:
    read, place = read_cells(states, program.steps, form), np.argsort(program.order)
    return CellReadout(read.phase[place], read.mean[place], read.beating[place], read.resting[place])
