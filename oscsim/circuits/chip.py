"""From wanted to built: tuning codes, mismatch and parasitics of one chip instance, and the record of it."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from oscsim.circuits.couplers import BuiltCouplers, largest_code
from oscsim.circuits.design import CircuitDesign
from oscsim.errors import LoweringError
from oscsim.phase_reduction.reduction import Reduction

Array = NDArray[np.float64]
Indices = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class BuiltTuning:
    """Wanted free frequencies as programmed.

    Parameters
    ----------
    frequency : (B, n) rad per natural unit of time; codes : (B, n) or None for continuous tuning.
    saturated : oscillators beyond the tuning range.
    """

    frequency: Array
    codes: Indices | None
    saturated: int


@dataclass(frozen=True, eq=False)
class ChipReport:
    """What was built, for plans and netlists.

    Parameters
    ----------
    design : options of the chip; couplers, tuning : of it; dropped : couplers (pair: cells) that its topology
        lacks.
    """

    design: CircuitDesign
    couplers: BuiltCouplers
    tuning: BuiltTuning
    dropped: int

    def entries(self) -> dict[str, Any]:
        """Plain JSON: counts, resolutions relative to the largest coupling and to the carrier, seeds."""
        design, couplers = self.design, self.couplers
        entries: dict[str, Any] = {"imperfections": list(design.imperfect), "couplers": couplers.total}
        if design.topology != "all":
            entries["dropped_couplers"] = self.dropped
        if design.coupling_bits is not None:
            entries["coupling_codes"] = largest_code(design.coupling_bits)
            entries["coupling_lsb"] = design.coupling_range / largest_code(design.coupling_bits)
            entries["saturated_couplers"] = couplers.saturated
        if design.crossbar_size is not None:
            entries["crossbar_tiles"] = couplers.tiles
            entries["finest_tile_lsb"] = entries["coupling_lsb"] * couplers.finest
        if design.missing_couplers:
            entries["missing_couplers"] = couplers.missing
        if design.frequency_bits is not None:
            entries["frequency_codes"] = largest_code(design.frequency_bits)
            entries["frequency_lsb"] = design.tuning_range / largest_code(design.frequency_bits)
            entries["saturated_frequencies"] = self.tuning.saturated
        return {**entries, **design.seeds}


def built_tuning(design: CircuitDesign, carrier: float, wanted: Array) -> BuiltTuning:
    """Free frequencies (B, n) as a frequency code says them, steps of ``tuning_range/(2^(bits-1) - 1)``."""
    if design.frequency_bits is None:
        return BuiltTuning(wanted, None, 0)
    last = largest_code(design.frequency_bits)
    step = float(carrier * design.tuning_range / last)
    steps = (wanted - carrier) / step
    codes = np.clip(np.rint(steps), -last, last).astype(np.int64)
    beyond = int((np.abs(steps) > last * (1.0 + 1e-12)).sum())
    return BuiltTuning(np.asarray(carrier + codes * step, np.float64), codes, beyond)


def built_capacitance(design: CircuitDesign, reduction: Reduction, capacitance: Array, kappa: Array) -> Array:
    """Tuning capacitances (B, n) of one chip; kappa (B, n, n) are the couplers it has.

    Connected couplers add ``parasitic_ratio`` of the nominal capacitor each; then mismatch moves the free
    frequency by a factor ``1 + frequency_mismatch x``, x standard normal.

    Raises
    ------
    LoweringError
        an oscillator so far off that its frequency is not known any more.
    """
    built = capacitance + design.parasitic_ratio * (kappa != 0).sum(axis=2)
    factor = np.ones(built.shape)
    if design.frequency_mismatch:
        drawn = design.drawn("frequency_mismatch").standard_normal(built.shape)
        factor += design.frequency_mismatch * drawn
    elif not design.parasitic_ratio:
        return built
    try:
        frequency = reduction.frequency(built)
        return reduction.tuned(frequency * factor) if design.frequency_mismatch else built
    except LoweringError as error:
        raise LoweringError(
            f"options 'frequency_mismatch' and 'parasitic_ratio': given {design.frequency_mismatch:g} and "
            f"{design.parasitic_ratio:g}, which move an oscillator out of reach; choose smaller ones. {error}"
        ) from None


def built_drive(design: CircuitDesign, devices: int, shape: tuple[int, int]) -> Array | None:
    """Device strengths (devices, B, n) of one chip, ``1 + device_mismatch x``; None where all are nominal."""
    if not design.device_mismatch:
        return None
    drawn = design.drawn("device_mismatch").standard_normal((devices, *shape))
    return np.maximum(1.0 + design.device_mismatch * drawn, 0.0)
