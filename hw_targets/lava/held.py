"""Lowering of clamped layers whose held sources are oscillators that send spikes through synapses.

    phi_i' = rho_i sum_j C_ij sin(theta_j - phi_i)          C = mask K J, theta held

First come the free oscillators, head by head, channel by channel, token by token (padding left out), then the
sources in the same order. A source has no drift and an empty row, so it stands still. The weights of a row
carry C and the gain its signed rate. Every free oscillator has its own clock, ``|rho_i| sum_j |C_ij| t``, and
all make the same number of equal steps.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hw_targets.lava.duration import Timing, cell_steps
from hw_targets.lava.formats import NumberFormat
from hw_targets.lava.network import check_size
from hw_targets.lava.picks import Picked
from hw_targets.lava.program import NetworkProgram
from hw_targets.lava.synapses import Oscillators, oscillator_program
from oscsim.pair_terms import coupling, free_rate, initial_phase, unmasked
from oscsim.phase import wrap
from oscsim.spec import PhaseLayerSpec
from oscsim.tolerance import CONDITION_CAP

Array = NDArray[np.float64]
Integers = NDArray[np.int64]
Mask = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Held:
    """Free oscillators and their held sources as numbers, F = H D N_valid of each.

    Parameters
    ----------
    valid : (N_valid,) tokens that take part.
    free, sources : (F,) phases, rad.
    matrix : (2F, 2F) coupling, every row divided by the sum of its magnitudes.
    rate : (F,) signed own-clock units per time unit.
    time : (F,) own-clock duration, infinite for a layer that runs to rest; 0 where nothing moves.
    """

    valid: Integers
    free: Array
    sources: Array
    matrix: Array
    rate: Array
    time: Array

    @property
    def drive(self) -> NDArray[np.complex128]:
        """(F,) sum of the held phasors over the sum of the coupling magnitudes; at most 1 in size."""
        count = len(self.free)
        held: NDArray[np.complex128] = np.exp(1j * self.sources)
        return np.asarray(self.matrix[:count, count:] @ held, dtype=complex)

    @property
    def resolved(self) -> Mask:
        """(F,) where sources do not cancel beyond what a comparison can tell (oscsim/tolerance.py)."""
        return np.abs(self.drive) * CONDITION_CAP >= 1.0

    @property
    def start(self) -> Array:
        """(F,) initial distance to the resting point, rad, in (-pi, pi]."""
        return wrap(self.free - np.angle(self.drive) + np.where(self.rate < 0, np.pi, 0.0))


@dataclass(frozen=True, eq=False)
class Schedule:
    """Equal steps that end at the duration, or at rest.

    Parameters
    ----------
    steps : of every oscillator. chunk : steps per record, a divisor of steps.
    pace : (F,) own-clock step over that of the format, at most 1.
    to_rest : (F,) the duration is longer than the run, so it has to rest at its end.
    """

    steps: int
    chunk: int
    pace: Array
    to_rest: Mask


def held(spec: PhaseLayerSpec) -> Held:
    """The oscillators of a clamped layer.

    Raises
    ------
    LoweringError
        more oscillators than one process of synapses holds.
    """
    check_size(spec, 2)
    valid = np.flatnonzero(spec.valid)
    heads, channels, count = spec.n_heads, spec.n_channels, len(valid)
    matrix = np.where(unmasked(spec), spec.gain[:, None, None] * coupling(spec), 0.0)
    matrix = matrix[:, valid][:, :, valid]
    total = np.abs(matrix).sum(axis=2)
    rows = matrix / np.where(total > 0, total, 1.0)[:, :, None]
    size = heads * channels * count
    blocks = np.zeros((2, heads, channels, count, 2, heads, channels, count))
    for h in range(heads):
        for c in range(channels):
            blocks[0, h, c, :, 1, h, c, :] = rows[h]

    def flat(phases: Array) -> Array:
        return phases[:, valid].transpose(0, 2, 1).reshape(size)

    rate = flat(free_rate(spec)) * np.repeat(total, channels, axis=0).reshape(size)
    with np.errstate(invalid="ignore", over="ignore"):
        time = np.where(rate != 0, np.abs(rate) * spec.duration, 0.0)
    free, sources = flat(initial_phase(spec)), flat(spec.theta)
    return Held(valid.astype(np.int64), free, sources, blocks.reshape(2 * size, 2 * size), rate, time)


def schedule(these: Held, timing: Timing, chunk: int) -> Schedule:
    """How many steps, and how long ones.

    An oscillator that reaches its rest before the duration need not go on; whether it has is read from its
    data (see run_held.py). Sources that cancel are not waited for.
    """
    strength = np.abs(these.drive)
    at_unit_pull = cell_steps(np.zeros_like(strength), these.start, timing)
    rest = np.minimum(at_unit_pull / np.maximum(strength, 1.0 / CONDITION_CAP), 2.0**40)
    # nine digits: the last bit of a product of sums depends on the processor, the plan must not
    needed = np.ceil(np.round(np.minimum(these.time / timing.step, 2.0**40), 9))
    wanted = np.minimum(needed, np.ceil(np.round(rest, 9)))
    steps = int(min(max(wanted[these.resolved].max(initial=0), 1), timing.max_steps))
    chunk = min(chunk, steps)
    most = timing.max_steps // chunk * chunk
    steps = min(-(-steps // chunk) * chunk, most)
    pace = np.minimum(these.time / (timing.step * steps), 1.0)
    return Schedule(steps, chunk, pace, needed > steps)


def held_program(these: Held, plan: Schedule, config: Picked, number_format: NumberFormat) -> NetworkProgram:
    """Free oscillators and sources in a number format; raises as oscillator_program."""
    still = np.zeros_like(these.free)
    pace = np.concatenate([plan.pace * np.sign(these.rate), still])
    theta = np.concatenate([these.free, these.sources])
    # only sources send to anyone
    wired = np.concatenate([still, np.full_like(still, len(these.valid))]).astype(np.int64)
    drift = np.zeros_like(theta)
    oscillators = Oscillators(theta, drift, these.matrix, pace, wired)
    return oscillator_program(oscillators, config, number_format, plan.chunk)
