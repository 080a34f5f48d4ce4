"""Run a network, decide from its own record whether it rests, and read S out."""

from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from hw_targets.lava.duration import START_UP_SHARE
from hw_targets.lava.fixed_point import FixedPoint
from hw_targets.lava.outcome import Outcome
from hw_targets.lava.plan import LoweredNetwork
from hw_targets.lava.program import counted
from hw_targets.lava.runtime import lava_session
from hw_targets.lava.session import Session
from oscsim.beat_average import pair_averages
from oscsim.pair_terms import coupling, unmasked
from oscsim.phase import order_parameter, wrap
from oscsim.result import SyncStatus
from oscsim.tolerance import AVERAGING_CAP, LARGEST_AVERAGING_ERROR, LOCK_THRESHOLD, lost_bits

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]
Phasors = NDArray[np.complex128]

# Rates are taken over this share of a turn at the end of a record: relative phases turn at most four times
# as fast as the own clock, so they cannot be mistaken for slower ones.
RATE_SHARE = 1 / 16
# Creeping is measured over this part of a record.
CREEP_SHARE = 8
# Two means of numbers on the unit circle differ by no more.
LARGEST_MEAN_ERROR = 2.0


def run_network(lowered: LoweredNetwork) -> Outcome:
    """``S_ij = J_ij (1/D) sum_l Re <exp(i(theta_i - theta_j))>``, from the network's own record.

    A channel that rests (all its oscillators turn at one rate) is read out from its last phases, any other
    from an average over whole beats of the record without its start. The run ends when every channel rests,
    or when every average agrees with that of its later half, or after max_steps.
    """
    trace, look, counters = _record(lowered)
    steps = len(trace) - 1
    rest = f"{int(look.rest.sum())} of {look.rest.size} channels at rest"
    notes = (f"{steps} steps, {lowered.program.lava_steps(steps)} Lava steps; {rest}",)
    if not look.rest.all():
        notes += (_averages(look.error),)
    if look.status is SyncStatus.NOT_CONVERGED:
        notes += (f"not converged after max_steps={lowered.config.max_steps}; raise max_steps",)
    return replace(_outcome(lowered, trace, look, notes), counters=counters)


def _averages(error: float) -> str:
    """What is known of averages over channels that do not rest; infinite: nothing yet."""
    if np.isfinite(error):
        return f"averages change by {error:.3g} when only the later half of the record is used"
    return "some channels neither rest nor have turned through whole beats, over which they could be averaged"


def _outcome(lowered: LoweredNetwork, trace: Array, look: "_Look", notes: tuple[str, ...]) -> Outcome:
    """Put valid tokens back into the layer."""
    spec, valid = lowered.spec, lowered.network.valid
    full: Phasors = np.zeros((spec.n_heads, spec.n_oscillators, spec.n_oscillators, spec.n_channels), complex)
    full[:, valid[:, None], valid[None, :]] = look.mean
    allowed = unmasked(spec)
    sync = np.where(allowed, coupling(spec) * full.real.mean(axis=3), 0.0)
    locked = allowed & (np.abs(full) >= LOCK_THRESHOLD).all(axis=3)
    phase = spec.theta.copy()
    phase[:, valid] = wrap(_laboratory(lowered, trace[-1:], np.array([len(trace) - 1.0]))[0])
    order = order_parameter(phase, spec.valid, spec.mask == "causal")
    trajectory, times = _trajectory(lowered, trace)
    error = min(look.error, LARGEST_MEAN_ERROR)
    return Outcome(sync, locked, order, phase, look.status, notes, error, trajectory, times)


@dataclass(frozen=True, eq=False)
class _Look:
    """What a record says: resting channels (H, D), pair means (H, N_valid, N_valid, D), their error."""

    rest: Mask
    mean: Phasors
    error: float
    status: SyncStatus


def _record(lowered: LoweredNetwork) -> tuple[Array, _Look, dict[str, int]]:
    """Run until the data say that it is enough; the trace is (T, H, N_valid, D). Also what was counted."""
    from hw_targets.lava.processes.phase_oscillators import network_processes

    program, form = lowered.program, lowered.number_format
    trace = _shaped(lowered, program.theta[None].astype(np.float64))
    build = partial(network_processes, program, form.arithmetic)
    with lava_session(build, form.tag, lowered.config.timeout_s, lowered.config.stall_s) as session:
        chunks, wanted = 0, 1
        while True:
            new = _advance(session, lowered, wanted - chunks, first=chunks == 0)
            trace = np.concatenate([trace, new])
            chunks = wanted
            look = _look(lowered, trace)
            if look.error <= lowered.averaging_residual or chunks == lowered.most_chunks:
                counters = session.read(session.process.counters)
                return trace, look, counted(counters)
            wanted = min(max(chunks + 1, 3 * chunks // 2), lowered.most_chunks)


def _advance(session: Session, lowered: LoweredNetwork, chunks: int, first: bool) -> Array:
    """Run some chunks."""
    program = lowered.program
    steps = program.lava_steps(program.chunk * chunks) - (0 if first else program.lava_steps(0))
    records = session.run(steps, session.process.record, messages=chunks)
    return _shaped(lowered, np.concatenate(records))


def _shaped(lowered: LoweredNetwork, flat: Array) -> Array:
    """(T, M) phases of the format -> (T, H, N_valid, D) rad in the rotating frame."""
    spec = lowered.spec
    radians = np.asarray(lowered.number_format.arithmetic.to_radians(flat))
    count = len(lowered.network.valid)
    return radians.reshape(-1, spec.n_heads, spec.n_channels, count).transpose(0, 1, 3, 2)


def resting(lowered: LoweredNetwork, states: Array) -> Mask:
    """(H, D) channels that rest at the end of recorded phases (steps + 1, M) of the format."""
    return _look(lowered, _shaped(lowered, states)).rest


def _look(lowered: LoweredNetwork, trace: Array) -> _Look:
    """Which channels rest, the pair means, and the estimated error of the averages of the others."""
    form = lowered.number_format
    # against the first oscillator of each head and channel: a common rotation is rest
    relative = trace - trace[:, :, :1]
    steps = max(1, int(RATE_SHARE * lowered.config.steps_per_turn))
    moved = wrap(relative[-1] - relative[-1 - steps]) / (steps * form.step)
    rest = (np.ptp(moved, axis=1) <= form.residual) & _slow_ones_rest(lowered, relative)
    last: Phasors = np.exp(1j * trace[-1])
    mean: Phasors = last[:, :, None, :] * last[:, None, :, :].conj()
    error = 0.0
    kept = trace[int(START_UP_SHARE * len(trace)) :]
    for h, c in np.argwhere(~rest):
        path: Array = np.unwrap(kept[:, h, :, c], axis=0).astype(np.float64)
        average, change = pair_averages(path)
        mean[h, :, :, c] = average
        # what moves without ever turning may still be on its way to rest
        error = max(error, change if np.ptp(path[-1] - path[0]) > np.pi else np.inf)
    if rest.all():
        return _Look(rest, mean, error, SyncStatus.SETTLED)
    # what a step adds to an average counts too: nobody could compare with more
    most = min(AVERAGING_CAP, LARGEST_AVERAGING_ERROR - lowered.accuracy.averaging_error)
    drifting = error <= most
    return _Look(rest, mean, error, SyncStatus.DRIFTING if drifting else SyncStatus.NOT_CONVERGED)


def _slow_ones_rest(lowered: LoweredNetwork, relative: Array) -> Mask:
    """Channels (H, D) in which no oscillator creeps: residuals of its sines are relative to its own rates.

    Rates are means over a later part of the record, which grows with the run as creeping does.
    """
    net, form = lowered.network, lowered.number_format
    shape = (*net.frame.shape, len(net.valid))
    scale = (np.abs(net.matrix).sum(axis=1) + np.abs(net.drift)).reshape(shape).transpose(0, 2, 1)
    window = max(1, len(relative) // CREEP_SHARE)
    path = np.unwrap(relative[-1 - window :], axis=0)
    rate = (path[-1] - path[0]) / (window * form.step)
    fastest = np.take_along_axis(rate, scale.argmax(axis=1)[:, None, :], axis=1)
    lost = 0.0
    if isinstance(form.arithmetic, FixedPoint):
        lost = lost_bits(form.arithmetic.rounding == "nearest") / form.arithmetic.step_lsb
    return (np.abs(rate - fastest) <= lost + (form.residual - lost) * scale).all(axis=1)


def _laboratory(lowered: LoweredNetwork, trace: Array, steps: Array) -> Array:
    """Phases in the laboratory frame after so many steps of each head's own clock."""
    net, step = lowered.network, lowered.number_format.step
    clock = np.where(net.clock > 0, net.clock, np.inf)
    time = steps[:, None] * step / clock
    return trace + (net.frame[None] * time[:, :, None])[:, :, None, :]


def _trajectory(lowered: LoweredNetwork, trace: Array) -> tuple[Array | None, Array | None]:
    """Phases at evenly spaced times up to where the fastest head's record ends."""
    spec, net, samples = lowered.spec, lowered.network, lowered.config.trajectory_samples
    moving = net.clock > 0
    if samples == 0 or not moving.any():
        return None, None
    step = lowered.number_format.step
    times = np.linspace(0.0, (len(trace) - 1) * step / net.clock.max(), samples)
    paths = np.broadcast_to(spec.theta, (samples, *spec.theta.shape)).copy()
    unwrapped = np.unwrap(trace, axis=0)
    for h in range(spec.n_heads):
        at = times * net.clock[h] / step
        left = np.minimum(at.astype(np.int64), len(trace) - 2)
        share = (at - left)[:, None, None]
        path = unwrapped[left, h] * (1 - share) + unwrapped[left + 1, h] * share
        paths[:, h, net.valid] = path + (net.frame[h] * times[:, None])[:, None, :]
    return paths, times
