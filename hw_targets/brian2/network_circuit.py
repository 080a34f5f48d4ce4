"""The network circuit on Brian2: coupling as a matrix product on the stage vector of the integrator."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from brian2 import Function, Network, NetworkOperation, NeuronGroup, hertz, second
from numpy.typing import NDArray

from hw_targets.brian2.network_lowering import EQUATIONS, NetworkLowering
from hw_targets.brian2.outcome import Outcome, Trajectory
from oscsim.beat_average import Phasor, pair_averages, rest_mean
from oscsim.phase import order_parameter
from oscsim.result import SyncStatus
from oscsim.spec import PhaseLayerSpec
from oscsim.tolerance import AVERAGING_CAP, LOCK_THRESHOLD, SETTLE_RESIDUAL, with_average

Array = NDArray[np.float64]

# Slower growth than this (own clock) is rounding: a network at rest has one eigenvalue zero.
SLOWEST_GROWTH = 1e-6


def pull(matrix: Array, theta: Array) -> Array:
    """``sum_j M_ij sin(theta_j - theta_i)`` for (H, N, N) and (H, N, D), in the unit of the matrix."""
    sine, cosine = np.sin(theta), np.cos(theta)
    summed = matrix @ np.concatenate([sine, cosine], axis=2)
    channels = theta.shape[2]
    return cosine * summed[:, :, :channels] - sine * summed[:, :, channels:]


class NetworkRun:
    """One Brian2 network that looks at its own data at planned moments and stops when it has an answer.

    ``mean`` (H, D, N, N) are the averages of ``exp(i(theta_i - theta_j))``, zero on padded oscillators.
    """

    def __init__(self, lowering: NetworkLowering) -> None:
        self.lowering = lowering
        self.film = Trajectory(lowering.trajectory_samples)
        self.film.offer(0.0, lowering.start.ravel())
        heads, count, channels = lowering.start.shape
        self.mean: Phasor = np.zeros((heads, channels, count, count), complex)
        self.steps, self.status, self.change = 0, SyncStatus.NOT_CONVERGED, float("inf")
        self._samples: list[Array] = []
        self._dt = lowering.scale.dt_s(lowering.step) * second
        group = self._group()
        self._theta = group.variables["theta"]
        watch = NetworkOperation(self._after_step, clock=group.clock, when="end")
        self._network = Network(group, watch)

    def _group(self) -> NeuronGroup:
        lowering, scale, shape = self.lowering, self.lowering.scale, self.lowering.start.shape
        matrix = scale.per_second(lowering.matrix)

        def coupling_rate(theta: Array) -> Array:
            return pull(matrix, theta.reshape(shape)).ravel()

        coupling = Function(coupling_rate, arg_units=[1], return_unit=hertz)
        coupling.implementations.add_numpy_implementation(coupling_rate, discard_units=True)
        namespace = {"coupling": coupling}
        size = lowering.start.size
        group = NeuronGroup(size, EQUATIONS, method="rk4", dt=self._dt, namespace=namespace)
        group.theta = lowering.start.ravel()
        group.detuning = scale.per_second(lowering.detuning.ravel()) * hertz
        group.stretch = np.broadcast_to(scale.stretch(lowering.rate)[:, None], shape).ravel()
        return group

    def run(self, most_steps: int) -> Array:
        """Integrate until an answer is found, at most ``most_steps``; returns theta (H, N, D)."""
        self._network.run(most_steps * self._dt, namespace={})
        return self.theta()

    def theta(self) -> Array:
        """(H, N, D) phases now, in the turning frame."""
        return self._theta.get_value().reshape(self.lowering.start.shape).copy()

    def time(self) -> float:
        """Time units of the fastest channel's clock."""
        return self.steps * self.lowering.step / self.lowering.scale.fastest

    def _after_step(self) -> None:
        self.steps += 1
        if self.steps % self.lowering.stride == 0:
            self._samples.append(self._theta.get_value().copy())
            self.film.offer(self.time(), self._samples[-1])
        if self.steps in self.lowering.looks and self._look():
            self._network.stop()

    def _look(self) -> bool:
        """Read the averages over everything since the last look; True when they are an answer."""
        if self.at_rest(self.theta()):
            self.change = self._average(self.theta()[None], lambda theta: (rest_mean(theta), 0.0))
        else:
            samples = np.stack(self._samples).reshape(-1, *self.lowering.start.shape)
            self.change = self._average(samples, pair_averages)
        self._samples = []
        last = self.steps >= self.lowering.looks[-1]
        if self.change <= (AVERAGING_CAP if last else self.lowering.drift_tolerance):
            all_locked = self.locked()[:, self.lowering.allowed].all()
            self.status = SyncStatus.SETTLED if all_locked else SyncStatus.DRIFTING
        return self.status is not SyncStatus.NOT_CONVERGED

    def _average(self, samples: Array, average: Callable[[Array], tuple[Phasor, float]]) -> float:
        """Fill ``mean`` channel by channel; the largest change reported."""
        valid, changes = self.lowering.valid, []
        for h, channel in np.ndindex(self.mean.shape[:2]):
            mean, change = average(samples[:, h, valid, channel])
            self.mean[h, channel][np.ix_(valid, valid)] = mean
            changes.append(change)
        return max(changes)

    def at_rest(self, theta: Array) -> bool:
        """All oscillators of every channel turn at one common speed, to SETTLE_RESIDUAL of their pull."""
        speed = self.lowering.detuning + pull(self.lowering.matrix, theta)
        spread = np.ptp(speed[:, self.lowering.valid], axis=1)
        weakest = np.minimum(self.lowering.pull[:, None], self.lowering.rate)
        return bool((spread <= SETTLE_RESIDUAL * weakest).all())

    def locked(self) -> NDArray[np.bool_]:
        """(H, N, N) bool: locked on every channel."""
        return np.all(np.abs(self.mean) >= LOCK_THRESHOLD, axis=1)

    def held_on_unstable_state(self, theta: Array) -> bool:
        """Whether a small push would grow: a positive eigenvalue of the linearised coupling."""
        for h, channel in np.ndindex(self.mean.shape[:2]):
            phase = theta[h, :, channel]
            slope = self.lowering.matrix[h] * np.cos(phase[None, :] - phase[:, None])
            growth = np.linalg.eigvals(slope - np.diag(slope.sum(axis=1))).real.max()
            if growth > SLOWEST_GROWTH * self.lowering.rate[h, channel]:
                return True
        return False


def run_network(spec: PhaseLayerSpec, lowering: NetworkLowering) -> Outcome:
    """``S = J (1/D) sum_l Re <exp(i(theta_i - theta_j))>``, at rest or averaged (docs/spec.md section 4)."""
    circuit = NetworkRun(lowering)
    theta = circuit.run(lowering.looks[-1])
    times, states = circuit.film.finish(circuit.time(), theta.ravel())
    notes = [f"{circuit.steps} steps taken; phases are given in the frame of each channel's mean frequency"]
    if circuit.status is SyncStatus.SETTLED and circuit.held_on_unstable_state(theta):
        notes.append("the network started on an unstable state and never left it")
    if circuit.change > lowering.drift_tolerance:
        notes.append(
            f"at max_duration the average still changed by {circuit.change:.3g} over its later half "
            f"(drift_tolerance {lowering.drift_tolerance:.3g}; inf: a beat was not seen often enough)"
        )
    promise = replace(lowering.accuracy, averaging_error=0.0)
    keep = lowering.trajectory_samples > 0
    return Outcome(
        sync=lowering.coupling * np.real(circuit.mean).mean(axis=1),
        locked=circuit.locked() & lowering.allowed,
        order_parameter=order_parameter(theta, spec.valid, spec.mask == "causal"),
        status=circuit.status,
        notes=tuple(notes),
        accuracy=with_average(promise, circuit.change) if np.isfinite(circuit.change) else promise,
        phase=theta,
        trajectory=states.reshape(-1, *theta.shape) if keep else None,
        times=times if keep else None,
    )
