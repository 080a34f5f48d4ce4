"""The clamped circuit on Brian2: every free oscillator relaxes towards (or away from) its held drive."""

import numpy as np
from brian2 import Network, NetworkOperation, NeuronGroup, hertz, second
from numpy.typing import NDArray

from hw_targets.brian2.clamped_lowering import EQUATIONS, ClampedLowering
from hw_targets.brian2.outcome import Outcome, Trajectory
from oscsim.pair_terms import initial_phase, spec_order_parameter, unmasked
from oscsim.readout import phase_sync
from oscsim.result import SyncStatus
from oscsim.spec import PhaseLayerSpec
from oscsim.tolerance import SETTLE_RESIDUAL

Array = NDArray[np.float64]


def integrate(lowering: ClampedLowering, film: Trajectory) -> Array:
    """Final phi (H, N, D), starting from the wrapped initial phase; snapshots go to ``film``."""
    film.offer(0.0, lowering.start.ravel())
    if lowering.steps == 0:
        return lowering.start.copy()
    dt = lowering.end / lowering.steps * lowering.scale.time_unit_s * second
    group = NeuronGroup(lowering.start.size, EQUATIONS, method="rk4", dt=dt, namespace={})
    group.phi = lowering.start.ravel()
    group.in_phase = lowering.scale.per_second(lowering.drive.real.ravel()) * hertz
    group.quadrature = lowering.scale.per_second(lowering.drive.imag.ravel()) * hertz
    group.stretch = lowering.stretch.ravel()
    phi, taken = group.variables["phi"], 0

    def snapshot() -> None:
        nonlocal taken
        taken += 1
        if taken < lowering.steps:  # the end itself is added by the caller
            film.offer(taken / lowering.steps * lowering.end, phi.get_value())

    network = Network(group, NetworkOperation(snapshot, clock=group.clock, when="end"))
    network.run(lowering.steps * dt, namespace={})
    return phi.get_value().reshape(lowering.start.shape).copy()


def run_clamped(spec: PhaseLayerSpec, lowering: ClampedLowering) -> Outcome:
    """Final phases, continuous from the initial ones, and ``S = J <cos(phi_i - theta_j)>`` over channels."""
    film = Trajectory(lowering.trajectory_samples)
    final = integrate(lowering, film)
    times, states = film.finish(lowering.end, final.ravel())
    initial = initial_phase(spec)
    # the simulation starts from the wrapped phase; what has not moved keeps its phase to the last bit
    phase = initial + (final - lowering.start)
    # what is asked to stand still is moving, or stands where it would not stay
    pull = lowering.drive * np.exp(-1j * final)
    moving = lowering.to_rest & (np.abs(pull.imag) > SETTLE_RESIDUAL * lowering.speed)
    unstable = lowering.to_rest & ~moving & (pull.real < 0)
    notes = []
    if moving.any():
        notes.append(f"{moving.sum()} oscillators were still moving when max_duration ended their run")
    if unstable.any():
        notes.append(f"{unstable.sum()} oscillators started on their unstable point and never moved")
    allowed = np.broadcast_to(unmasked(spec), lowering.coupling.shape)
    keep = lowering.trajectory_samples > 0
    return Outcome(
        sync=np.where(allowed, phase_sync(lowering.coupling, final, spec.theta), 0.0),
        locked=allowed.copy(),
        order_parameter=spec_order_parameter(spec),
        status=SyncStatus.NOT_CONVERGED if moving.any() else SyncStatus.SETTLED,
        notes=tuple(notes),
        accuracy=lowering.accuracy,
        phase=phase,
        trajectory=initial + (states.reshape(-1, *final.shape) - lowering.start) if keep else None,
        times=times if keep else None,
    )
