"""Run a clamped layer whose sources are synapses, and read its phases out."""

from functools import partial

import numpy as np
from numpy.typing import NDArray

from hw_targets.lava.outcome import Outcome
from hw_targets.lava.plan import LoweredHeld
from hw_targets.lava.program import counted
from hw_targets.lava.runtime import lava_session
from oscsim.pair_terms import coupling, initial_phase, spec_order_parameter, unmasked
from oscsim.phase import wrap
from oscsim.readout import phase_sync
from oscsim.result import SyncStatus

Array = NDArray[np.float64]


def run_held(lowered: LoweredHeld) -> Outcome:
    """``S_ij = J_ij (1/D) sum_l cos(phi_i^l - theta_j^l)`` at the end of the duration, or at rest."""
    spec, valid = lowered.spec, lowered.held.valid
    before, last, counters = _run(lowered)
    shape = (spec.n_heads, spec.n_channels, len(valid))
    moved = np.zeros_like(spec.theta)
    # continuous from the initial phase; what did not move is returned as it was given
    change = np.where(lowered.schedule.pace > 0, wrap(last - lowered.held.free), 0.0)
    moved[:, valid] = change.reshape(shape).transpose(0, 2, 1)
    phase = initial_phase(spec) + moved
    allowed = np.broadcast_to(unmasked(spec), (spec.n_heads, *unmasked(spec).shape))
    sync = np.where(allowed, phase_sync(coupling(spec), phase, spec.theta), 0.0)
    status, notes = _status(lowered, before, last)
    order = spec_order_parameter(spec)
    return Outcome(sync, allowed.copy(), order, phase, status, notes, counters=counters)


def _run(lowered: LoweredHeld) -> tuple[Array, Array, dict[str, int]]:
    """Phases of the free oscillators before and after the last step, rad, and what was counted."""
    from hw_targets.lava.processes.phase_oscillators import network_processes

    program, form, plan = lowered.program, lowered.number_format, lowered.schedule
    build = partial(network_processes, program, form.arithmetic)
    last = np.asarray(program.theta, dtype=np.float64)
    with lava_session(build, form.tag, lowered.config.timeout_s, lowered.config.stall_s) as session:
        for done in range(0, plan.steps, plan.chunk):
            steps = program.lava_steps(plan.chunk) - (program.lava_steps(0) if done else 0)
            (record,) = session.run(steps, session.process.record, messages=1)
            before, last = (record[-2] if plan.chunk > 1 else last), record[-1]
        counters = session.read(session.process.counters)
    count = len(lowered.held.free)
    radians = form.arithmetic.to_radians(np.stack([before, last])[:, :count])
    return radians[0], radians[1], counted(counters)


def _status(lowered: LoweredHeld, before: Array, last: Array) -> tuple[SyncStatus, tuple[str, ...]]:
    """Whether everything that had to come to rest did; sources that cancel leave no verdict."""
    plan, form = lowered.schedule, lowered.number_format
    speed = np.abs(wrap(last - before)) / np.where(plan.pace > 0, plan.pace * form.step, np.inf)
    late = plan.to_rest & (speed > form.residual)
    resolved = lowered.held.resolved
    notes = (f"{len(last)} free oscillators made {plan.steps} steps each",)
    cancelled = int((late & ~resolved).sum())
    if cancelled:
        notes += (f"the sources of {cancelled} oscillators cancel, which had not come to rest",)
    count = int((late & resolved).sum())
    if count == 0:
        return SyncStatus.SETTLED, notes
    most = lowered.config.max_steps
    short = f"{count} oscillators had not settled after max_steps={most} steps; raise max_steps"
    return SyncStatus.NOT_CONVERGED, (*notes, short)
