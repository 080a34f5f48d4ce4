"""What a chip reads out, and the phase equations a circuit reduces to."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from oscsim.circuits.circuit import Circuit
from oscsim.phase_reduction.coupling_function import CouplingFunction
from oscsim.phase_reduction.reduction import Reduction

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


def detuning(circuit: Circuit) -> Array:
    """(B, n) free frequencies as built minus the carrier, device mismatch included, rad per natural unit."""
    if circuit.drive is None:
        return circuit.detuning
    return circuit.detuning + np.tensordot(device_shift(circuit.reduction), circuit.drive - 1.0, axes=1)


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


def device_shift(reduction: Reduction) -> Array:
    """(devices,) d frequency / d ln(strength) of each active device, rad per natural unit, first order.

    The average over a turn of the phase response times dF/d(strength): what a perturbation of the right-hand
    side does to the frequency ([KURAMOTO84] section 5.2). LC: ``-mu^2/8``.
    """
    cycle, oscillator, step = reduction.cycle, reduction.oscillator, 1e-4
    shift = np.zeros(oscillator.devices)
    for device in range(oscillator.devices):
        drive = np.ones((oscillator.devices, len(cycle.states)))
        drive[device] = 1.0 + step
        more = oscillator.flow(cycle.states.T, 1.0, drive)
        drive[device] = 1.0 - step
        less = oscillator.flow(cycle.states.T, 1.0, drive)
        shift[device] = ((more - less).T * cycle.response).sum(axis=1).mean() / (2.0 * step)
    return shift


def transmitted(circuit: Circuit, sine: bool) -> CouplingFunction:
    """Coupling function through this chip's couplers: delayed, and only its fundamental sine for ``sine``."""
    coupling, delay = circuit.reduction.coupling, circuit.design.coupling_delay_s
    if sine:
        coupling = CouplingFunction(np.array([0.0, -0.5j * coupling.strength]), 0.0)
    if not delay:
        return coupling
    # the couplers' first-order all-pass delays harmonic n by 2 atan(n w tau/2) (docs/circuits.md)
    turn = circuit.reduction.cycle.frequency * delay / circuit.natural_s
    return coupling.delayed(2.0 * np.arctan(0.5 * turn * np.arange(len(coupling.coefficients))))
