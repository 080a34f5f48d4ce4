"""From a layer and a design to one chip: tuning, couplers, and how the chip builds them."""

import numpy as np
from numpy.typing import NDArray

from oscsim.circuits.array import oscillator_array
from oscsim.circuits.chip import ChipReport, built_capacitance, built_drive, built_tuning
from oscsim.circuits.circuit import Circuit
from oscsim.circuits.couplers import built_couplers
from oscsim.circuits.design import CircuitDesign
from oscsim.circuits.topology import wired
from oscsim.circuits.validity import check_clock, check_delay, check_reciprocal, check_validity
from oscsim.oscillators.oscillator import Oscillator
from oscsim.phase_reduction.reduction import Reduction, reduce
from oscsim.spec import PhaseLayerSpec

Array = NDArray[np.float64]


def lower_circuit(spec: PhaseLayerSpec, design: CircuitDesign) -> Circuit:
    """Lower a layer to one chip: frequencies to tuning, couplings to couplers, then how the chip builds them.

    A pull ``p sin(theta_j - theta_i)`` takes the coupler ``kappa = p/b_1``, b_1 the sine harmonic of the
    family's coupling function.

    Raises
    ------
    LoweringError
        coupling too strong or detuning too large for the family, or a reciprocal coupler for a coupling that
        is not, or a coupling delay beyond what an all-pass delays; the message says the nearest valid choice.
    """
    check_clock(spec, design)
    check_delay(design, spec.carrier_hz)
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
