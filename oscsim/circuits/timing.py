"""How finely and how long a circuit has to be simulated for the wanted phase accuracy: for plans only."""

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from oscsim.circuits.circuit import Circuit
from oscsim.circuits.lowering import loading_shift
from oscsim.circuits.rates import drift_rates
from oscsim.circuits.validity import LARGEST_SAFE, LARGEST_STRENGTH, rounded_up
from oscsim.errors import LoweringError
from oscsim.oscillators.stuart_landau import StuartLandau
from oscsim.phase_reduction.reduction import Reduction

Array = NDArray[np.float64]
Indices = NDArray[np.int64]

# Phases are read that many times per cycle: averages over a cycle are then free of the first seven harmonics.
SAMPLES_PER_CYCLE = 8
# A relative frequency error e(h) ~ h^4 common to all oscillators cancels; what a pair sees is its change with
# frequency, d ln(w^5)/d ln w = 5 times the relative detuning.
_DETUNING_FACTOR = 5.0
# A first-order all-pass of time constant tau/2 follows RK4 steps up to this many time constants accurately.
_DELAY_STEP = 0.5
_MOST_STEPS = 8192
# Read-outs of a beat need this many samples per turn, and frames may not slip between two samples.
SAMPLES_PER_BEAT = 48
_TURN_PER_SAMPLE = 0.2
# Whole beats for an average and for its later half, and a little for the amplitudes.
BEATS = 3.0


@lru_cache(maxsize=256)
def step_error(reduction: Reduction, steps: float) -> tuple[float, float]:
    """Relative frequency error of fourth-order Runge-Kutta at ``steps`` per cycle, and its mean modulus.

    One step from every point of the limit cycle, minus the exact point, seen by the phase response: to first
    order in the error per step this is the frequency error, ``(w h)^4/120`` for a linear oscillator.

    Parameters
    ----------
    steps : 1024/m with a whole m (the limit cycle has 1024 points).

    >>> from oscsim.oscillators import LC
    >>> from oscsim.phase_reduction import reduce
    >>> error, _ = step_error(reduce(LC(mu=0.1)), 32.0)
    >>> round(error / ((2 * np.pi / 32) ** 4 / 120), 2)
    -0.97
    """
    cycle, flow = reduction.cycle, reduction.oscillator.flow
    x, shift = cycle.states.T, round(len(cycle.states) / steps)
    h = shift * cycle.period / x.shape[1]
    a = flow(x)
    b = flow(x + 0.5 * h * a)
    c = flow(x + 0.5 * h * b)
    end = x + h / 6.0 * (a + 2.0 * b + 2.0 * c + flow(x + h * c))
    off = end - np.roll(x, -shift, axis=1)
    seen = (np.roll(cycle.response.T, -shift, axis=1) * off).sum(axis=0) / (cycle.frequency * h)
    return float(seen.mean()), float(np.abs(seen).mean())


def steps_per_cycle(circuit: Circuit) -> int:
    """Steps per carrier cycle, a multiple of SAMPLES_PER_CYCLE, at which RK4 keeps ``phase_accuracy``.

    Raises
    ------
    LoweringError
        more than 8192 steps would be needed (a very short delay, or an accuracy out of reach).
    """
    accuracy, needed = circuit.design.phase_accuracy, _by_error(circuit)
    delay = circuit.design.coupling_delay_s / circuit.natural_s
    if delay > 0.0:
        needed = max(needed, circuit.reduction.cycle.period / (_DELAY_STEP * 0.5 * delay))
    if needed > _MOST_STEPS:
        raise LoweringError(
            f"family {circuit.design.family}: phase_accuracy {accuracy:g} and coupling_delay_s "
            f"{circuit.design.coupling_delay_s:g} given, they need {needed:.3g} steps per cycle, expected at "
            f"most {_MOST_STEPS}; a delay that short may be left out, or accept a larger phase_accuracy"
        )
    return SAMPLES_PER_CYCLE * int(np.ceil(needed / SAMPLES_PER_CYCLE - 1e-9))


def _by_error(circuit: Circuit) -> float:
    """Search from coarse to fine; beyond 1024 points per cycle the fourth order is extrapolated."""
    accuracy, steps = circuit.design.phase_accuracy, 0.0
    with np.errstate(all="ignore"):
        for shift in range(64, 0, -1):
            steps = 1024.0 / shift
            mean, size = step_error(circuit.reduction, steps)
            error = max(_DETUNING_FACTOR * abs(mean), size)
            if error <= accuracy:
                return steps
    return steps * (error / accuracy) ** 0.25 if np.isfinite(error) else np.inf


def rotating_step(circuit: Circuit) -> float:
    """Step in carrier cycles for equations that turn with the carrier (Stuart-Landau).

    ``(r h)^4/120 = phase_accuracy`` for the fastest rate r left there: detuning, relaxation or coupling.

    Raises
    ------
    LoweringError
        another family: its equations are not the same in a turning frame.
    """
    oscillator = circuit.oscillator
    if not isinstance(oscillator, StuartLandau):
        raise LoweringError(f"family {oscillator.name}: has no turning frame, expected stuart_landau")
    coupling = 2.0 * np.abs(circuit.kappa).sum(axis=2).max(initial=0.0)
    growth = oscillator.mu * np.hypot(1.0, oscillator.shear)
    drive = 1.0 if circuit.drive is None else float(circuit.drive.max())
    rate = max(float(np.abs(circuit.detuning).max()), growth * drive, float(coupling))
    step = (120.0 * circuit.design.phase_accuracy) ** 0.25 / rate
    delay = circuit.design.coupling_delay_s / circuit.natural_s
    if delay > 0.0:
        step = min(step, _DELAY_STEP * 0.5 * delay)
    return step / circuit.reduction.cycle.period


def predicted_cycles(circuit: Circuit) -> Array:
    """(B,) carrier cycles a batch is expected to need from its own phase reduction.

    pair: ``ln(distance/accuracy)/lambda`` with ``lambda = sqrt(a^2 - d^2)`` (locked; a = the peak of the own
    coupling function), or BEATS beats ``2 pi/sqrt(d^2 - a^2)``. Others: the duration, or the same logarithm
    over the weakest row of couplers; parts of a network that no coupler joins take BEATS beats. Amplitudes
    take ``ln(1/accuracy)/contraction`` before that.
    """
    reduction, period = circuit.reduction, circuit.reduction.cycle.period
    decay = np.log(2.0 * np.pi / circuit.design.phase_accuracy)
    transient = transient_cycles(circuit)
    if circuit.array.dynamics == "pair":
        rate, locked = pair_rates(circuit)
        turn = np.where(locked, decay, 2.0 * np.pi * BEATS)
        with np.errstate(divide="ignore"):
            return transient + np.where(rate > 0.0, turn / np.maximum(rate, 1e-300), 0.0) / period
    rows = np.abs(circuit.kappa).sum(axis=2)[circuit.matrix] * reduction.coupling.strength
    weakest = np.where(rows > 0.0, rows, np.inf).min(axis=1)
    longest = np.where(np.isfinite(weakest), decay / weakest, 0.0)
    if circuit.array.dynamics == "network":
        longest = np.maximum(longest, 2.0 * np.pi * BEATS / drift_rates(circuit))
    return transient + longest / period


def late(circuit: Circuit, end: float) -> tuple[str, ...]:
    """Whether a run is expected to stop at ``max_cycles`` before everything has settled, and what helps.

    Parameters
    ----------
    end : finite duration of a clamped layer, carrier cycles, else infinity.
    """
    design, needed = circuit.design, np.minimum(predicted_cycles(circuit), end)
    slow = int((needed > design.max_cycles).sum())
    if not slow:
        return ()
    ways = [f"max_cycles={rounded_up(float(needed.max())):g}"]
    room = LARGEST_SAFE * min(circuit.reduction.contraction, LARGEST_STRENGTH) / max(circuit.strength, 1e-300)
    if room > 1.1 and circuit.strength > 0.0:
        ways.append(f"a time unit up to {room:.2g} times shorter")
    if circuit.array.dynamics == "pair" and design.cell_clock == "layer":
        ways.append("cell_clock=own, which lets weak cells settle as soon as strong ones")
    return (
        f"{slow} of {circuit.array.batches} batches are expected to settle after up to {needed.max():.3g} "
        f"carrier cycles, later than max_cycles={design.max_cycles:g}, and to end without a verdict; what "
        f"helps: {', or '.join(ways)}",
    )


def transient_cycles(circuit: Circuit) -> float:
    """Carrier cycles after which amplitudes have settled to ``phase_accuracy``."""
    return float(-np.log(circuit.design.phase_accuracy) / (circuit.reduction.contraction * 2.0 * np.pi))


def pair_rates(circuit: Circuit) -> tuple[Array, NDArray[np.bool_]]:
    """(B,) relaxation or beat rate of every pair, rad per natural unit, and whether it should lock."""
    coupling, couplers = circuit.coupling, circuit.kappa[circuit.matrix]
    grid = np.linspace(0.0, 2.0 * np.pi, 721)
    a = np.abs(couplers[:, 0, 1] + couplers[:, 1, 0]) * float(np.abs(coupling.odd(grid)).max())
    free = circuit.detuning + loading_shift(circuit.reduction, couplers)
    d = np.abs(free[:, 0] - free[:, 1])
    return np.sqrt(np.abs((a - d) * (a + d))), a >= d


def sample_spacing(circuit: Circuit, batches: Indices, beat_cycles: float) -> float:
    """Carrier cycles from one phase reading to the next: often enough for a beat and for every frame."""
    coupling = circuit.coupling
    couplers = np.abs(circuit.kappa).sum(axis=2)[circuit.matrix[batches]].max(initial=0.0)
    pulled = couplers * (abs(coupling.shift) + 2.0 * np.abs(coupling.coefficients).sum())
    fastest = float(np.abs(circuit.detuning[batches]).max(initial=0.0)) + pulled
    apart = _TURN_PER_SAMPLE * circuit.reduction.cycle.frequency / max(fastest, 1e-30)
    return float(min(apart, beat_cycles / SAMPLES_PER_BEAT))
