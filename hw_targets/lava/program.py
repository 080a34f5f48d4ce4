"""What the processes get: integers (or floats), and what they report back. Nothing but numpy is needed here.

docs/targets/lava_arithmetic.md says what a process does with these numbers, to the last bit.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.int64]
Integrator = Literal["runge_kutta", "euler"]

# Exchanges of spikes, one Lava time step each, of one integration step.
STAGES = {"runge_kutta": 4, "euler": 1}

# Rows of a cell's record. "increment" is the last step; the sums run from psi(0) to the last step; a crossing
# keeps the step before it, the phases on both sides, and the sums up to the phase before it.
CROSSING = ("step", "before", "after", "cosine_sum", "sine_sum")
ROWS = ("phase", "increment", "cosine_sum", "sine_sum")
ROWS += tuple(f"first_{name}" for name in CROSSING) + tuple(f"last_{name}" for name in CROSSING)

# Rows of a network's trace, after every Lava time step: the accumulator, the spikes that it sent, the
# synaptic sums that it received and the slope that it made of them (0 in a step that uses none).
NETWORK_ROWS = ("theta", "cosine", "sine", "cosine_sum", "sine_sum", "slope")

# What a process counts while it runs. A payload of zero is no spike.
COUNTERS = ("neuron_updates", "sine_lookups", "spikes", "synaptic_operations", "payload_bits", "lava_steps")


def counted(values: NDArray[np.generic]) -> dict[str, int]:
    """What a process counted, by name.

    >>> counted(np.arange(6.0))["spikes"]
    2
    """
    return {name: int(value) for name, value in zip(COUNTERS, values, strict=True)}


@dataclass(frozen=True, eq=False)
class CellProgram:
    """Cells in a number format, the longest-running first.

    Parameters
    ----------
    phase, mismatch, coupling : per cell, in the format.
    steps : integration steps of each cell.
    order : for each place in the program, the cell of the layer it holds.
    integrator : "runge_kutta" or "euler".
    """

    phase: NDArray[np.generic]
    mismatch: NDArray[np.generic]
    coupling: NDArray[np.generic]
    steps: Integers
    order: Integers
    integrator: Integrator

    @property
    def lava_steps(self) -> int:
        """Lava time steps of the run: one more than needed never, one at least."""
        return max(1, int(self.steps.max(initial=0)))


@dataclass(frozen=True, eq=False)
class NetworkProgram:
    """Oscillators and synapses in a number format.

    Parameters
    ----------
    theta, drift, gain : (M,) phase, phase per step, and mantissa of the synaptic sums.
    gain_shift : right shift after the gain.
    weights : (M, M) of the synapses, as Dense and Sparse keep them.
    weight_bits, payload_bits : width of synapses and graded spikes.
    fan_out : (M,) stored synapses through which each oscillator sends; one with none sends no spike.
    chunk : integration steps per record.
    integrator : "runge_kutta" or "euler".
    delay_steps : integration steps by which a spike arrives late, 0 or 1.
    synapses : which process holds the weights, "dense" or "sparse".
    """

    theta: NDArray[np.generic]
    drift: NDArray[np.generic]
    gain: NDArray[np.generic]
    gain_shift: int
    weights: NDArray[np.generic]
    weight_bits: int
    payload_bits: int
    fan_out: Integers
    chunk: int
    integrator: Integrator
    delay_steps: int
    synapses: Literal["dense", "sparse"]

    def lava_steps(self, steps: int) -> int:
        """Lava time steps of so many integration steps from the start.

        Without a delay the very first one only sends the initial spikes.
        """
        return STAGES[self.integrator] * steps + (0 if self.delay_steps else 1)
