"""Where a circuit may be described by its phases at all: refused or warned, with the nearest valid choice."""

import warnings

import numpy as np

from oscsim.circuits.array import OscillatorArray
from oscsim.circuits.design import CircuitDesign
from oscsim.errors import LoweringError
from oscsim.oscillators.oscillator import Oscillator
from oscsim.phase_reduction.reduction import Reduction
from oscsim.spec import PhaseLayerSpec

# Coupling relative to the contraction of amplitudes, per radian. Measured on pairs: those that settle keep
# their promise up to 0.9, but there LC amplitudes collapse as soon as a pair does not lock (not yet at 0.7).
# What is coupled to many promises nothing above 0.35: its terms of first order exceed the largest promise.
LARGEST_SAFE, LARGEST = 0.35, 1.0
# A fast amplitude does not help for ever: above this the averaging over a turn is itself in doubt.
LARGEST_STRENGTH = 0.3
# A first-order all-pass of a delay turns the carrier by 2 atan(w delay/2): 7 % less than a delay at 1 rad,
# and never more than half a turn.
LARGEST_DELAY = 1.0


class CircuitWarning(UserWarning):
    """A circuit is run outside of where it is known to behave; the text says what helps."""


def announce(target: str, doubts: tuple[str, ...]) -> None:
    """Warn of what a plan holds doubtful, before it is run."""
    for doubt in doubts:
        warnings.warn(f"target '{target}': {doubt}", CircuitWarning, stacklevel=3)


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


def check_delay(design: CircuitDesign, carrier_hz: float) -> None:
    """Couplers delay by an all-pass, which is a delay only for short ones.

    Raises
    ------
    LoweringError
        the carrier would turn by more than LARGEST_DELAY within ``coupling_delay_s``.
    """
    turned = 2.0 * np.pi * carrier_hz * design.coupling_delay_s
    if turned > LARGEST_DELAY:
        raise LoweringError(
            f"coupling_delay_s: given {design.coupling_delay_s:g}, in which a carrier of {carrier_hz:g} Hz "
            f"turns by {turned:.3g} rad; expected at most {LARGEST_DELAY:g} rad "
            f"({LARGEST_DELAY / (2.0 * np.pi * carrier_hz):.3g} s): a first-order all-pass is a delay only "
            "up to there; choose a shorter delay, or take whole turns of the carrier off it"
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
    nearest = f"nearest valid: {in_words(slower)}{_larger_mu(design, strength)}"
    given = (
        f"family {design.family}: locking strength {strength:.3g} of the carrier given, amplitudes recover "
        f"at {limit:.3g} per radian: a ratio of {strength / limit:.3g}, advised up to {LARGEST_SAFE}, "
        f"refused from {LARGEST:g} on, where amplitudes collapse"
    )
    if strength >= LARGEST * limit:
        raise LoweringError(f"{given}; {nearest}")
    if detuning > design.tuning_range:
        raise LoweringError(
            f"family {design.family}: frequencies up to {detuning:.3g} of the carrier away given, tuning "
            f"reaches {design.tuning_range:g}; {nearest}"
        )
    if strength > LARGEST_SAFE * limit:
        promised = "pairs that do not lock may lose their amplitude, and then end without a verdict"
        if spec.dynamics != "pair":
            promised = "agreement with the phase description is not promised"
        return (f"{given}; {promised}; {nearest}",)
    return ()


def in_words(time_unit_s: float) -> str:
    """A time unit, rounded up, as the option of a spec and of the command that exports one.

    >>> in_words(2.813e-7)
    'time_unit_s=2.9e-07 (oscsim export ... --time-unit 2.9e-07)'
    """
    unit = f"{rounded_up(time_unit_s):g}"
    return f"time_unit_s={unit} (oscsim export ... --time-unit {unit})"


def rounded_up(value: float) -> float:
    """Two digits of a positive number, not below it.

    >>> rounded_up(2.813e-7), rounded_up(0.25), rounded_up(0.0)
    (2.9e-07, 0.25, 0.0)
    """
    if value == 0.0:
        return 0.0
    digit = 10.0 ** (np.floor(np.log10(value)) - 1)
    return float(f"{np.ceil(value / digit * (1.0 - 1e-9)) * digit:.3g}")


def _larger_mu(design: CircuitDesign, strength: float) -> str:
    """For families with a free contraction there is a second way out; mu is that to 2 %."""
    if design.family in ("lc", "stuart_landau") and strength < LARGEST_SAFE * LARGEST_STRENGTH:
        return f", or mu={rounded_up(1.02 * strength / LARGEST_SAFE):g}"
    return ""
