"""Whether a phase read-out is as fine as published ones: their energy is known for some resolutions only."""

import math

import numpy as np

from oscsim import pair_terms
from oscsim.circuits.validity import rounded_up
from oscsim.energy.constants import Book
from oscsim.energy.estimate import EnergyError
from oscsim.energy.hardware import OscillatorHardware
from oscsim.errors import ConfigError
from oscsim.spec import PhaseLayerSpec

_STEP = "phase_readout_step"


def check_readout(spec: PhaseLayerSpec, hardware: OscillatorHardware, bits: int, book: Book) -> None:
    """Refuse a read-out without a price, with the accuracy that has one.

    Raises
    ------
    EnergyError
        ``bits`` outside what the energy of a read-out step holds for.
    """
    valid = [(low, high) for key, low, high in book[_STEP].valid if key == "bits"]
    if not valid or valid[0][0] <= bits <= valid[0][1]:
        return
    low, high = (int(end) for end in valid[0])
    nearest, known = (high, "reach") if bits > high else (low, "start at")
    if hardware.readout_bits is not None:
        raise EnergyError(
            f"option --readout-bits: given {bits}, prices {known} {nearest}; take {low} to {high}"
        )
    finest = rounded_up(math.pi * _largest(spec) / 2.0**high)
    other = f"--accuracy {finest:g} and coarser, or " if bits > high and _possible(finest) else ""
    raise EnergyError(
        f"accuracy {hardware.accuracy:g} needs {bits} read-out bits, prices {known} {nearest}: {other}"
        f"--readout-bits {nearest}"
    )


def _possible(accuracy: float) -> bool:
    """Whether the option takes it."""
    try:
        OscillatorHardware.of(accuracy=accuracy)
    except ConfigError:
        return False
    return True


def _largest(spec: PhaseLayerSpec) -> float:
    """max |J| of what may be read, as pair cells (diagonal included) or as a network."""
    return float(np.abs(np.where(pair_terms.unmasked(spec), pair_terms.coupling(spec), 0.0)).max())
