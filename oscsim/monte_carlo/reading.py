"""What a chip reads out, and the phase equations a circuit reduces to."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from oscsim.circuits.circuit import Circuit
from oscsim.phase_reduction.coupling_function import CouplingFunction

Array = NDArray[np.float64]
Indices = NDArray[np.int64]
Mask = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Reading:
    """Read-out of one chip.

    Parameters
    ----------
    sync : (H, N, N) ``J_ij <cos(theta_i - theta_j)>`` with the layer's own J; locked : (H, N, N).
    weight : (H, N, N) pull of the built couplers relative to the wanted one, for a read-out that multiplies
        with the coupling it has, or None where cells share couplers (networks).
    settled : whether the read-out had converged.
    """

    sync: Array
    locked: Mask
    weight: Array | None
    settled: bool


def pulls(circuit: Circuit) -> tuple[Array, Indices]:
    """Couplers (M, n, n) and which of them each batch uses (B,), as they act on the capacitors as built.

    A current into a capacitor that is larger than its trimmed value moves the phase by so much less:
    ``kappa c_trimmed / c``.
    """
    trimmed = circuit.reduction.tuned(circuit.chip.tuning.frequency)
    share = trimmed / circuit.capacitance
    if np.all(share == 1.0):
        return circuit.kappa, circuit.matrix
    return circuit.kappa[circuit.matrix] * share[:, :, None], np.arange(len(share))


def transmitted(circuit: Circuit, sine: bool) -> CouplingFunction:
    """Coupling function through this chip's couplers: delayed, and only its fundamental sine for ``sine``."""
    if not sine:
        return circuit.coupling
    return circuit.delayed(
        CouplingFunction(np.array([0.0, -0.5j * circuit.reduction.coupling.strength]), 0.0)
    )
