"""Lowering of ``network``: all H*N*D mutually coupled oscillators in one group."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hw_targets.brian2.config import Brian2Config
from hw_targets.brian2.scale import RateScale
from oscsim import pair_terms
from oscsim.spec import PhaseLayerSpec
from oscsim.tolerance import Accuracy, rk4_epsilon

Array = NDArray[np.float64]

# coupling() is one matrix product per head, evaluated on the stage vector inside the integrator: a
# coupling computed once per step would make every integrator first order.
EQUATIONS = """
dtheta/dt = stretch*(detuning + coupling(theta)) : 1
detuning : hertz (constant)
stretch : 1 (constant)
"""
# Phases are sampled often enough for the fastest beat: 2 pi / 0.25 = 25 samples per turn.
SAMPLE_SPACING = 0.25
# The first look at the data; every further one doubles the duration, up to max_duration.
FIRST_LOOK = 16.0


@dataclass(frozen=True, eq=False)
class NetworkLowering:
    """The network in a frame that turns with each channel's mean frequency.

    Parameters
    ----------
    coupling : (H, N, N) J, zero where masked. matrix : (H, N, N) K J / n without diagonal, rad / time unit.
    detuning : (H, N, D) omega minus its channel mean, 0 on padded oscillators, rad / time unit.
    start : theta. rate : (H, D) own-clock rate of each channel, rad / time unit.
    pull : (H,) weakest row sum of |matrix| that is not zero: what sets the slowest relaxation.
    looks : own-clock step counts at which the run looks at its data; the last one ends it.
    accuracy : the aim; a run states the error its own average turned out to have.
    """

    scale: RateScale
    coupling: Array
    allowed: NDArray[np.bool_]
    valid: NDArray[np.bool_]
    matrix: Array
    detuning: Array
    start: Array
    rate: Array
    pull: Array
    step: float
    stride: int
    looks: tuple[int, ...]
    drift_tolerance: float
    trajectory_samples: int
    accuracy: Accuracy

    def sections(self) -> tuple[tuple[str, dict[str, Any]], ...]:
        """Plan sections: circuit, clock, arrays."""
        size = self.start.size
        heads, count, channels = self.start.shape
        circuit = {
            "kind": "mutually coupled oscillators, matrix product inside the integrator's stages",
            "equations": EQUATIONS.strip().splitlines(),
            "frame": "turns with the mean frequency of each head and channel",
            "oscillators": size,
            "couplings": int(np.count_nonzero(self.matrix)) * channels,
            "largest_cell_steps": size * self.looks[-1],
            "multiplications_per_stage": 2 * heads * count * count * channels,
        }
        clock = self.scale.section() | {
            "step": self.step,
            "dt_s": self.scale.dt_s(self.step),
            "steps_per_sample": self.stride,
            "looks_at_steps": list(self.looks),
            "largest_sample_memory_bytes": 8 * size * (self.looks[-1] // self.stride),
            "time_axis": "clock of the fastest channel; slower channels are stretched",
        }
        arrays = {name: getattr(self, name) for name in ("coupling", "matrix", "detuning", "start", "rate")}
        return ("circuit", circuit), ("clock", clock), ("arrays", arrays)


def lower_network(spec: PhaseLayerSpec, config: Brian2Config) -> NetworkLowering:
    """Coupling matrix, frame, per-channel clocks and the times at which the run looks at its data."""
    j, valid = pair_terms.coupling(spec), spec.valid
    matrix = pair_terms.network_matrix(spec, j)
    matrix[:, np.arange(spec.n_oscillators), np.arange(spec.n_oscillators)] = 0.0  # sin(0) drives nothing
    detuning = spec.omega - spec.omega[:, valid].mean(axis=1, keepdims=True)
    detuning[:, ~valid] = 0.0
    row_sums = np.abs(matrix).sum(axis=2)
    # two oscillators differ by at most twice either term: max(|a|, d) for N = 2, as in a pair cell
    rate = 2.0 * np.maximum(np.abs(detuning).max(axis=1), row_sums.max(axis=1)[:, None])
    allowed = pair_terms.unmasked(spec)
    stride = max(1, round(SAMPLE_SPACING / config.step))
    return NetworkLowering(
        scale=RateScale.of(spec, rate),
        coupling=np.where(allowed, j, 0.0),
        allowed=allowed,
        valid=valid,
        matrix=matrix,
        detuning=detuning,
        start=spec.theta,
        rate=rate,
        pull=np.where(row_sums > 0, row_sums, np.inf).min(axis=1),
        step=config.step,
        stride=stride,
        looks=_looks(config, stride),
        drift_tolerance=config.drift_tolerance,
        trajectory_samples=config.trajectory_samples,
        accuracy=Accuracy(rk4_epsilon(config.step), averaging_error=config.drift_tolerance),
    )


def _looks(config: Brian2Config, stride: int) -> tuple[int, ...]:
    """max_duration halved down to FIRST_LOOK, in steps that are whole samples."""
    durations = [config.max_duration]
    while durations[-1] >= 2.0 * FIRST_LOOK:
        durations.append(durations[-1] / 2.0)
    return tuple(stride * int(np.ceil(d / config.step / stride)) for d in reversed(durations))
