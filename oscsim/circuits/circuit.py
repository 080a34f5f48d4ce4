"""A layer as a circuit: the dimensionless numbers every circuit simulator runs, and their physical scale."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from oscsim.circuits.array import OscillatorArray, oscillator_array
from oscsim.circuits.chip import ChipReport, built_capacitance, built_drive, built_tuning
from oscsim.circuits.couplers import built_couplers
from oscsim.circuits.design import CircuitDesign
from oscsim.circuits.topology import wired
from oscsim.circuits.validity import check_clock, check_reciprocal, check_validity
from oscsim.oscillators.oscillator import Oscillator
from oscsim.phase_reduction.coupling_function import CouplingFunction
from oscsim.phase_reduction.reduction import Reduction, reduce
from oscsim.spec import PhaseLayerSpec

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
        coupling = self.reduction.coupling
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


def lower_circuit(spec: PhaseLayerSpec, design: CircuitDesign) -> Circuit:
    """Lower a layer to one chip: frequencies to tuning, couplings to couplers, then how the chip builds them.

    A pull ``p sin(theta_j - theta_i)`` takes the coupler ``kappa = p/b_1``, b_1 the sine harmonic of the
    family's coupling function.

    Raises
    ------
    LoweringError
        coupling too strong or detuning too large for the family, or a reciprocal coupler for a coupling that
        is not; the message says the nearest valid choice.
    """
    check_clock(spec, design)
    reduction = reduce(design.oscillator())
    wanted_array = oscillator_array(spec, design.distinct, design.cell_clock == "own")
    check_reciprocal(reduction.oscillator, wanted_array)
    array, dropped = wired(design, wanted_array, reduction.oscillator.reciprocal)
    carrier, w = 2.0 * np.pi * spec.carrier_hz, reduction.cycle.frequency
    natural_s = w / carrier
    per_natural = natural_s / spec.time_unit_s
    strength = largest_pull(array.pull) / (carrier * spec.time_unit_s)
    notes = check_validity(spec, design, reduction, array, strength)
    kappa = array.pull * per_natural / reduction.coupling.strength
    couplers = built_couplers(design, array, kappa)
    built = couplers.kappa[couplers.matrix]
    wanted = w + array.detuning * per_natural
    if design.trim == "loaded":
        # only differences: a shift that all share turns the whole batch and would cost coupling (kappa/c)
        shift = loading_shift(reduction, built, spec.dynamics == "network")
        wanted = wanted - (shift - shift.mean(axis=1, keepdims=True))
    tuning = built_tuning(design, w, wanted)
    nominal = (
        textbook(reduction.oscillator, tuning.frequency / w)
        if design.trim == "none"
        else reduction.tuned(tuning.frequency)
    )
    return Circuit(
        design=design,
        reduction=reduction,
        array=array,
        natural_s=natural_s,
        kappa=couplers.kappa,
        matrix=couplers.matrix,
        capacitance=built_capacitance(design, reduction, nominal, built),
        drive=built_drive(design, reduction.oscillator.devices, array.detuning.shape),
        chip=ChipReport(design, couplers, tuning, dropped),
        strength=strength,
        warnings=notes,
    )


def largest_pull(pull: Array) -> float:
    """Locking strength of the most strongly coupled oscillator against one other, rad / time unit.

    Everything that pulls i, and what pulls j the other way: a for a mutual pair with a/2 each, about K for a
    large network.
    """
    size = np.abs(pull)
    return float((size.sum(axis=2)[:, :, None] + size.transpose(0, 2, 1)).max(initial=0.0))


def loading_shift(reduction: Reduction, couplers: Array, network: bool = False) -> Array:
    """(B, n) first-order frequency shift by the couplers (B, n, n), rad per natural unit of time.

    Averaged over all phases; in a network at the phases that couplers pull to: in phase, or in antiphase
    where negative: there a resistor carries no current, and removing the average would detune what locks.
    """
    coupling, loaded = reduction.coupling, np.abs(couplers).sum(axis=2) * reduction.coupling.shift
    if not network:
        return loaded + couplers.sum(axis=2) * coupling.coefficients[0].real
    in_phase, anti_phase = coupling(0.0), coupling(np.pi)
    return loaded + (couplers * np.where(couplers < 0.0, anti_phase, in_phase)).sum(axis=2)


def textbook(oscillator: Oscillator, ratio: Array) -> Array:
    """Tuning capacitance by the formula of the linear circuit: ``1/ratio^2`` for LC, ``1/ratio`` for RC."""
    return 1.0 / ratio if oscillator.uniform_tuning else 1.0 / np.square(ratio)
