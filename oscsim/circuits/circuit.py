"""A layer as a circuit: the dimensionless numbers every circuit simulator runs, and their physical scale."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from oscsim.circuits.array import OscillatorArray
from oscsim.circuits.chip import ChipReport
from oscsim.circuits.design import CircuitDesign
from oscsim.oscillators.oscillator import Oscillator
from oscsim.phase_reduction.coupling_function import CouplingFunction
from oscsim.phase_reduction.reduction import Reduction

Array = NDArray[np.float64]
Indices = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Circuit:
    """Batches of coupled oscillators, ``c x' = F(x) + sum_j kappa_ij s(x_j) - |kappa_ij| l(x_i)``.

    Parameters
    ----------
    design : options it was made from; reduction : of one uncoupled oscillator.
    array : what the layer asks for, of the couplers (pair: cells) that the chip's topology has.
    natural_s : seconds per natural unit of time; a carrier cycle is ``2 pi/w`` of them.
    kappa : (M, n, n) couplers as built, signed, per natural unit of time; row = driven.
    matrix : (B,) which of the M matrices a batch uses.
    capacitance : (B, n) tuning capacitance as built, relative to nominal.
    drive : (devices, B, n) device strengths, or None where all are nominal.
    chip : record of what was built: codes, saturation, dropped couplers, tiles, seeds.
    strength : epsilon, the largest locking strength relative to the carrier.
    warnings : what is outside the range where the phase description is known to hold, in words.
    """

    design: CircuitDesign
    reduction: Reduction
    array: OscillatorArray
    natural_s: float
    kappa: Array
    matrix: Indices
    capacitance: Array
    drive: Array | None
    chip: ChipReport
    strength: float
    warnings: tuple[str, ...]

    @property
    def oscillator(self) -> Oscillator:
        """The family with its parameters."""
        return self.reduction.oscillator

    @property
    def delay(self) -> float:
        """Delay of the couplers, natural units of time."""
        return self.design.coupling_delay_s / self.natural_s

    @property
    def start(self) -> Array:
        """(dimension, B, n) states on the limit cycle at the layer's initial phases.

        With a delay, one more row per port follows: the all-pass of a coupler's signal, as on the cycle.
        """
        phase = self.array.start
        states = self.reduction.state(phase)
        if self.delay == 0.0:
            return states
        signal = self.oscillator.signal(self.reduction.cycle.states.T)
        n = np.fft.rfftfreq(signal.shape[1], 1.0 / signal.shape[1])
        lag = 1.0 + 0.5j * n * self.reduction.cycle.frequency * self.delay
        passed = np.fft.irfft(np.fft.rfft(signal, axis=1) / lag, signal.shape[1], axis=1)
        grid = 2.0 * np.pi * np.arange(signal.shape[1]) / signal.shape[1]
        turned = np.mod(phase, 2.0 * np.pi)
        rows = [np.interp(turned, grid, row, period=2.0 * np.pi) for row in passed]
        return np.concatenate([states, np.stack(rows)])

    @property
    def detuning(self) -> Array:
        """(B, n) free frequency as built minus the carrier, rad per natural unit of time.

        Device mismatch counts to first order, through the phase response.
        """
        free = self.reduction.frequency(self.capacitance) - self.reduction.cycle.frequency
        if self.drive is None:
            return free
        return free + np.tensordot(self.reduction.device_response, self.drive - 1.0, axes=1)

    @property
    def coupling(self) -> CouplingFunction:
        """Coupling function of the family behind the delay: harmonic n is 2 atan(n w delay/2) late."""
        return self.delayed(self.reduction.coupling)

    def delayed(self, coupling: CouplingFunction) -> CouplingFunction:
        """A coupling function behind the all-passes of this circuit's couplers."""
        if self.delay == 0.0:
            return coupling
        n = np.arange(len(coupling.coefficients))
        return coupling.delayed(2.0 * np.arctan(0.5 * n * self.reduction.cycle.frequency * self.delay))

    def injected(self, x: Array, passed: Array | None = None) -> Array:
        """Coupling currents (ports, B, n) in states (dimension, B, n); ``passed``: all-passes or None."""
        oscillator = self.oscillator
        couplers = self.kappa[self.matrix]
        signal, load = oscillator.signal(x), oscillator.load(x)
        sent = signal if passed is None else 2.0 * passed - signal
        pulled = np.matmul(couplers, sent[..., None])[..., 0]
        return pulled - np.abs(couplers).sum(axis=2) * load

    def flow(self, x: Array) -> Array:
        """``x'`` of the whole circuit, shaped like ``start``: the definition simulators are checked against.

        A delay is a first-order all-pass, ``(delay/2) y' = s - y``, which sends ``2 y - s``: exact to third
        order in w delay (Pade).
        """
        oscillator, own = self.oscillator, self.oscillator.dimension
        passed = x[own:] if self.delay > 0.0 else None
        slope = oscillator.flow(x[:own], self.capacitance, self.drive)
        current = self.injected(x[:own], passed) * oscillator.admittance(self.capacitance)
        for port, equation in enumerate(oscillator.ports):
            slope[equation] += current[port]
        if passed is None:
            return slope
        return np.concatenate([slope, (oscillator.signal(x[:own]) - passed) / (0.5 * self.delay)])
