"""From a layer to coupled oscillators with physical components; no simulator in here."""

from oscsim.circuits.array import OscillatorArray, oscillator_array
from oscsim.circuits.circuit import Circuit
from oscsim.circuits.design import CircuitDesign
from oscsim.circuits.lowering import lower_circuit

__all__ = ["Circuit", "CircuitDesign", "OscillatorArray", "lower_circuit", "oscillator_array"]
