"""Where a circuit may be described by its phases at all: refused or warned, with the nearest valid choice."""

import numpy as np

from oscsim.circuits.array import OscillatorArray
from oscsim.circuits.design import CircuitDesign
from oscsim.errors import LoweringError
from oscsim.oscillators.oscillator import Oscillator
from oscsim.phase_reduction.reduction import Reduction
from oscsim.spec import PhaseLayerSpec

# Coupling relative to the contraction of amplitudes, per radian. Measured on LC pairs: up to 0.35 the errors
# of docs/circuits.md hold; at 1 amplitudes collapse as soon as a pair does not lock.
LARGEST_SAFE, LARGEST = 0.35, 1.0
# A fast amplitude does not help for ever: above this the averaging over a turn is itself in doubt.
LARGEST_STRENGTH = 0.3


def safe_strength(reduction: Reduction) -> float:
    """Largest locking strength, relative to the carrier, up to which agreement is promised."""
    return LARGEST_SAFE * min(reduction.contraction, LARGEST_STRENGTH)


def check_clock(spec: PhaseLayerSpec, design: CircuitDesign) -> None:
    """Only the cells of a pair layer can have clocks of their own: the others act on each other.

    Raises
    ------
    LoweringError
        cell_clock=own for network or clamped dynamics.
    """
    if design.cell_clock == "own" and spec.dynamics != "pair":
        raise LoweringError(
            f"cell_clock: given own for {spec.dynamics} dynamics, whose oscillators share one time; expected "
            "layer; leave it out"
        )


def check_reciprocal(oscillator: Oscillator, array: OscillatorArray) -> None:
    """A resistor acts both ways, so it needs a symmetric coupling.

    Raises
    ------
    LoweringError
        the layer's coupling is not symmetric (causal, clamped, or an asymmetric matrix).
    """
    if not oscillator.reciprocal:
        return
    pull = array.pull
    if np.abs(pull - pull.transpose(0, 2, 1)).max(initial=0.0) > 1e-12 * np.abs(pull).max(initial=0.0):
        one_way = "inverter" if oscillator.name == "ring" else "transconductance"
        raise LoweringError(
            f"family {oscillator.name}: given a coupling that is not symmetric ({array.dynamics} dynamics), "
            f"but a resistor acts both ways; choose coupler={one_way}"
        )


def check_validity(
    spec: PhaseLayerSpec, design: CircuitDesign, reduction: Reduction, array: OscillatorArray, strength: float
) -> tuple[str, ...]:
    """Refuse what cannot work and say what is doubtful.

    Raises
    ------
    LoweringError
        coupling above the contraction of amplitudes (they collapse), or detuning beyond ``tuning_range``.
    """
    carrier = 2.0 * np.pi * spec.carrier_hz * spec.time_unit_s
    detuning = float(np.abs(array.detuning).max(initial=0.0)) / carrier
    limit = min(reduction.contraction, LARGEST_STRENGTH)
    slower = spec.time_unit_s * max(strength / (LARGEST_SAFE * limit), detuning / design.tuning_range)
    nearest = f"nearest valid: time_unit_s={slower:.3g}{_larger_mu(design, strength)}"
    if strength >= LARGEST * limit:
        raise LoweringError(
            f"family {design.family}: locking strength {strength:.3g} of the carrier given, amplitudes "
            f"recover at {reduction.contraction:.3g} per radian; at a ratio of {strength / limit:.3g} they "
            f"collapse, expected at most {LARGEST_SAFE}; {nearest}"
        )
    if detuning > design.tuning_range:
        raise LoweringError(
            f"family {design.family}: frequencies up to {detuning:.3g} of the carrier away given, tuning "
            f"reaches {design.tuning_range:g}; {nearest}"
        )
    if strength > LARGEST_SAFE * limit:
        return (
            f"locking strength is {strength / limit:.3g} of what amplitudes tolerate (at most {LARGEST_SAFE} "
            f"advised): agreement with the phase description is not promised; {nearest}",
        )
    return ()


def _larger_mu(design: CircuitDesign, strength: float) -> str:
    """For families with a free contraction there is a second way out."""
    wanted = strength / LARGEST_SAFE
    if design.family in ("lc", "stuart_landau") and strength < LARGEST_SAFE * LARGEST_STRENGTH:
        return f", or mu={wanted:.3g}"
    return ""
