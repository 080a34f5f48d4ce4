"""Energy: counts of what a plan does times constants with a source, as intervals (docs/energy.md)."""

from oscsim.energy.constants import Book, Constant, ConstantError
from oscsim.energy.constants_file import load_constants
from oscsim.energy.estimate import EnergyError, Estimate, Refusal, Scope, Term, estimate, try_estimate
from oscsim.energy.hardware import OscillatorHardware
from oscsim.energy.interval import Interval

__all__ = [
    "Book", "Constant", "ConstantError", "EnergyError", "Estimate", "Interval",
    "OscillatorHardware", "Refusal", "Scope", "Term", "estimate", "load_constants", "try_estimate",
]  # fmt: skip
