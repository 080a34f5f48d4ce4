"""What a layer adds to recorded states so that S can be read from them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from hw_targets.lava.duration import START_UP_SHARE
from hw_targets.lava.export import read_out
from hw_targets.lava.plan import Lowered, LoweredCells, LoweredHeld, LoweredNetwork
from hw_targets.lava.run_network import resting
from oscsim.pair_terms import coupling, initial_phase, unmasked


@dataclass(frozen=True, eq=False)
class Given:
    """A reader of hw_targets.lava.export.read_out, how it is called, and its arrays.

    Parameters
    ----------
    first : the array of the program that comes before the recorded states; None for a record of cells.
    """

    reader: Callable[..., Any]
    reading: str
    arrays: dict[str, np.ndarray]
    first: str | None = None


_CELLS = "{}(states, program, ReadOutFormat(arithmetic, RESIDUAL), given)"
_OSCILLATORS = "{}(states, ReadOutFormat(arithmetic, RESIDUAL), given)"


def given_of(lowered: Lowered, messages: Sequence[np.ndarray]) -> Given:
    """Reader and arrays of a lowered layer; which channels of a network rest is what its run decided."""
    spec = lowered.spec
    masked = np.where(unmasked(spec), coupling(spec), 0.0)
    if isinstance(lowered, LoweredNetwork):
        return _network(lowered, masked, messages)
    if isinstance(lowered, LoweredHeld):
        arrays = {
            "coupling": masked,
            "valid": lowered.held.valid,
            "moving": lowered.schedule.pace > 0,
            "phase_0": initial_phase(spec),
            "theta": spec.theta,
        }
        return Given(read_out.read_held, _OSCILLATORS.format("read_held"), arrays, first="theta")
    if not isinstance(lowered, LoweredCells):
        raise TypeError(f"given {type(lowered).__name__}, expected the result of lowering a layer")
    cells = lowered.cells
    if lowered.held is None:
        band = np.abs(cells.ratio - 1.0) <= lowered.accuracy.band
        arrays = {"coupling": masked, "where": cells.where, "band": band}
        return Given(read_out.read_pair, _CELLS.format("read_pair"), arrays)
    frame = lowered.held[cells.where] - np.where(cells.turned, np.pi, 0.0)
    arrays = {
        "coupling": masked,
        "where": cells.where,
        "frame": frame,
        "phase_0": initial_phase(spec),
        "theta": spec.theta,
    }
    return Given(read_out.read_clamped, _CELLS.format("read_clamped"), arrays)


def _network(lowered: LoweredNetwork, masked: np.ndarray, messages: Sequence[np.ndarray]) -> Given:
    states = np.concatenate([lowered.program.theta[None].astype(np.float64), *messages])
    arrays = {
        "coupling": masked,
        "rest": resting(lowered, states),
        "valid": lowered.network.valid,
        "share": np.array(START_UP_SHARE),
    }
    return Given(read_out.read_network, _OSCILLATORS.format("read_network"), arrays, first="theta")
