"""What a circuit can promise against the closed form: the floor of its family, and the first order."""

import numpy as np

from oscsim.circuits.circuit import Circuit
from oscsim.circuits.timing import pair_rates
from oscsim.tolerance import (
    CIRCUIT_DRIVEN_FACTOR,
    CIRCUIT_MOMENT_FACTOR,
    CIRCUIT_PAIR_FACTOR,
    CIRCUIT_TURNING_FACTOR,
    EDGE_BAND,
    Accuracy,
    circuit_epsilon,
)


def floor(circuit: Circuit) -> float:
    """Largest deviation of the coupling function from ``b_1 sin``, relative to b_1.

    A pair sees only the odd part; in networks and clamped layers lag and even harmonics count as well.
    """
    coupling = circuit.coupling
    x = np.linspace(0.0, 2.0 * np.pi, 721)
    b_1 = circuit.reduction.coupling.strength  # what couplers were made for
    pull = (
        coupling.odd(x) if circuit.array.dynamics == "pair" else coupling(x) - coupling.coefficients[0].real
    )
    return float(np.abs(pull / b_1 - np.sin(x)).max())


def circuit_accuracy(circuit: Circuit) -> Accuracy:
    """The promise of a perfect chip; with imperfections it promises nothing (epsilon 1: no one accepts that).

    The lock band is the same number: at the edge ``|d/a - 1|`` is the relative error of the peak of H.
    """
    if circuit.design.imperfect or circuit.design.trim == "none":
        return Accuracy(1.0)
    if circuit.array.dynamics == "pair":
        factor = CIRCUIT_PAIR_FACTOR
    else:
        factor = CIRCUIT_MOMENT_FACTOR if np.isfinite(circuit.array.duration) else CIRCUIT_DRIVEN_FACTOR
    followed = circuit.strength / circuit.reduction.contraction
    error = circuit_epsilon(
        floor(circuit),
        circuit.strength,
        circuit.coupling.lag,
        followed * factor,
        circuit.design.phase_accuracy,
    )
    averaging = 0.0 if circuit.array.dynamics == "clamped" else error + _turning(circuit)
    return Accuracy(error, band=max(error, EDGE_BAND), averaging_error=averaging, excluded_share=0.1)


def _turning(circuit: Circuit) -> float:
    """What inverters add to the mean of pairs that are expected to turn."""
    if circuit.array.dynamics != "pair" or circuit.oscillator.coupler != "inverter":
        return 0.0
    _, locked = pair_rates(circuit)
    return 0.0 if locked.all() else CIRCUIT_TURNING_FACTOR * circuit.strength
