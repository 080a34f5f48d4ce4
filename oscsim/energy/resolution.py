"""How finely couplings, frequencies and phases have to be set or read for S to be as accurate as asked."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from oscsim import pair_terms
from oscsim.circuits.validity import rounded_up
from oscsim.energy.hardware import OscillatorHardware
from oscsim.energy.interval import EnergyError
from oscsim.energy.settling import Settling
from oscsim.spec import PhaseLayerSpec

Array = NDArray[np.float64]

# Of a tuning code; option coupling_bits ends there too.
MOST_TUNING_BITS = 16


@dataclass(frozen=True)
class Resolution:
    """Bits of each code of a layer.

    Parameters
    ----------
    coupling : of a coupler, sign included where couplings of both signs are built.
    tuning : of what an oscillator is tuned by; 0 where nothing is tuned (clamped, no rates).
    readout : of a phase, over a full turn; half a step is what it may be off by.
    largest_coupling : max |J| of what is read; 1 where nothing is coupled, since phases may still be read.
    """

    coupling: int
    tuning: int
    readout: int
    largest_coupling: float


def resolution(spec: PhaseLayerSpec, hardware: OscillatorHardware, found: Settling) -> Resolution:
    """Bits such that each code alone changes S by at most the accuracy A (tuning: A per unit of condition).

    couplers: ``max |J|/A`` levels, one bit more where J has both signs (couplings that are all negative are
    wired crosswise, which takes no bit); tuning: ``span/(A step)`` levels (:class:`Tuning`); read-out:
    ``pi max |J|/A`` levels. ``hardware.coupling_bits`` and ``readout_bits`` replace what they name.
    """
    j = built_couplings(spec)
    largest, accuracy = float(np.abs(j).max()) or 1.0, hardware.accuracy
    signed = int((j > 0.0).any() and (j < 0.0).any())
    return Resolution(
        hardware.coupling_bits or bits_for(largest / accuracy) + signed,
        0 if found.tuning is None else bits_for(found.tuning.span / (accuracy * found.tuning.step)),
        hardware.readout_bits or bits_for(np.pi * largest / accuracy),
        largest,
    )


def check_tuning(accuracy: float, bits: int) -> None:
    """Refuse tuning codes finer than the finest coupler codes.

    Raises
    ------
    EnergyError
        more than MOST_TUNING_BITS.

    >>> check_tuning(0.01, 18)
    Traceback (most recent call last):
        ...
    oscsim.energy.interval.EnergyError: accuracy 0.01 needs 18 tuning bits, expected at most 16: \
--accuracy 0.04 or coarser, or frequencies that lie nearer to each other, or no cells that weak
    """
    if bits > MOST_TUNING_BITS:
        coarser = rounded_up(accuracy * 2.0 ** (bits - MOST_TUNING_BITS))
        nearest = f"--accuracy {coarser:g} or coarser, or " if coarser < 1.0 else ""
        raise EnergyError(
            f"accuracy {accuracy:g} needs {bits} tuning bits, expected at most {MOST_TUNING_BITS}: {nearest}"
            "frequencies that lie nearer to each other, or no cells that weak"
        )


def built_couplings(spec: PhaseLayerSpec) -> Array:
    """(H, N, N) J where it is built, else 0."""
    built = pair_terms.unmasked(spec)
    if spec.dynamics == "network":
        built = built & ~np.eye(spec.n_oscillators, dtype=bool)
    return np.where(built, pair_terms.coupling(spec), 0.0)


def bits_for(levels: float) -> int:
    """Bits that tell so many levels apart, at least one.

    >>> bits_for(100.0), bits_for(8.0), bits_for(1.1), bits_for(0.0)
    (7, 3, 1, 1)
    """
    return max(1, int(np.ceil(np.log2(max(levels, 1.0)) - 1e-9)))
