"""Lowering of ``clamped``: free oscillators, each driven by the summed current of held sources."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hw_targets.brian2 import timing
from hw_targets.brian2.config import Brian2Config
from hw_targets.brian2.scale import RateScale
from oscsim import pair_terms
from oscsim.io import jsonable_float
from oscsim.phase import wrap
from oscsim.spec import PhaseLayerSpec
from oscsim.tolerance import Accuracy, rk4_epsilon

Array = NDArray[np.float64]

# The held sources add up to one static current with two quadratures, Re G and Im G, times the signed
# rate of the free oscillator: phi' = rate Im(G exp(-i phi)).
EQUATIONS = """
dphi/dt = stretch*(quadrature*cos(phi) - in_phase*sin(phi)) : 1
in_phase : hertz (constant)
quadrature : hertz (constant)
stretch : 1 (constant)
"""


@dataclass(frozen=True, eq=False)
class ClampedLowering:
    """All free oscillators of a layer; arrays are (H, N, D) unless said otherwise.

    Parameters
    ----------
    coupling : (H, N, N) J, zero where masked.
    drive : complex, rate * G, rad / time unit; 0 on padded rows.
    speed : |drive|, the own-clock rate. start : phi(0) wrapped, rad.
    own_duration : own-clock duration each oscillator runs for.
    to_rest : bool, True where the run goes on until rest rather than to the spec's duration.
    stretch : clock relative to the common one, at most 1: what rests early is slowed down.
    steps : integration steps. end : the run's length on the common clock, time units.
    """

    scale: RateScale
    coupling: Array
    drive: NDArray[np.complex128]
    speed: Array
    start: Array
    own_duration: Array
    to_rest: NDArray[np.bool_]
    stretch: Array
    steps: int
    end: float
    duration: float
    trajectory_samples: int
    accuracy: Accuracy

    def sections(self) -> tuple[tuple[str, dict[str, Any]], ...]:
        """Plan sections: circuit, clock, arrays."""
        moving = int((self.own_duration > 0).sum())
        circuit = {
            "kind": "free oscillator driven by held sources",
            "equations": EQUATIONS.strip().splitlines(),
            "oscillators": self.speed.size,
            "moving_oscillators": moving,
            "running_to_rest": int(self.to_rest.sum()),
            "planned_cell_steps": self.speed.size * self.steps,
            "planned_stage_evaluations": 4 * self.speed.size * self.steps,
        }
        clock = self.scale.section() | {
            "duration_s": jsonable_float(self.duration * self.scale.time_unit_s),
            "simulated_s": self.end * self.scale.time_unit_s,
            "time_axis": "common clock; an oscillator at rest before the end runs its own clock slower",
            "steps": self.steps,
            "dt_s": self.end / self.steps * self.scale.time_unit_s if self.steps else 0.0,
            "longest_own_duration": float(self.own_duration.max()),
            "largest_own_step": float(self.own_duration.max() / self.steps) if self.steps else 0.0,
        }
        arrays = {
            name: getattr(self, name) for name in ("coupling", "drive", "start", "own_duration", "stretch")
        }
        return ("circuit", circuit), ("clock", clock), ("arrays", arrays)


def lower_clamped(spec: PhaseLayerSpec, config: Brian2Config) -> ClampedLowering:
    """Static drives, own-clock durations and the common number of steps that ends them all together."""
    j = pair_terms.coupling(spec)
    drive = pair_terms.free_rate(spec) * pair_terms.held_phasor(spec, j)
    speed = np.abs(drive)
    scale = RateScale.of(spec, speed)
    start = wrap(pair_terms.initial_phase(spec))
    own, to_rest = _own_durations(spec.duration, speed, wrap(start - np.angle(drive)), config)
    steps = math.ceil(own.max() / config.step)
    end = _common_end(spec.duration, own, speed, to_rest)
    stretch = np.divide(own, speed * end, out=np.zeros_like(own), where=own > 0)
    return ClampedLowering(
        scale=scale,
        coupling=np.where(pair_terms.unmasked(spec), j, 0.0),
        drive=drive,
        speed=speed,
        start=start,
        own_duration=own,
        to_rest=to_rest,
        stretch=stretch,
        steps=steps,
        end=end,
        duration=spec.duration,
        trajectory_samples=config.trajectory_samples,
        accuracy=Accuracy(rk4_epsilon(config.step)),
    )


def _own_durations(
    duration: float, speed: Array, offset: Array, config: Brian2Config
) -> tuple[Array, NDArray[np.bool_]]:
    """Own-clock durations: ``speed * duration``, or until rest where that comes first.

    The drive itself is a pair cell with d = 0: it rests where phi meets the phase of the drive.
    """
    rest = timing.settling_duration(np.zeros_like(offset), offset) * timing.MARGIN
    with np.errstate(over="ignore", invalid="ignore"):
        asked = np.where(speed > 0, speed * duration, 0.0)  # inf * 0 never starts
    own = np.minimum(asked, np.minimum(rest, config.max_duration))
    own[own < np.finfo(np.float64).eps] = 0.0  # would not change a phase by one bit
    return own, asked > np.maximum(own, np.finfo(np.float64).eps)


def _common_end(duration: float, own: Array, speed: Array, to_rest: NDArray[np.bool_]) -> float:
    """The spec's duration, or the moment at which the slowest oscillator is at rest if that is earlier."""
    moving = own > 0
    if (moving & ~to_rest).any():
        return duration
    if not moving.any():
        return duration if math.isfinite(duration) else 0.0
    return min(duration, float((own[moving] / speed[moving]).max()))
