"""Energy against accuracy: a smaller error of S takes longer to settle and finer couplers and read-outs."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal

from oscsim.energy.constants import Book
from oscsim.energy.estimate import EnergyError, Refusal
from oscsim.energy.hardware import OscillatorHardware
from oscsim.energy.interval import Interval
from oscsim.energy.report_rows import array_row
from oscsim.energy.schedule import schedule
from oscsim.spec import PhaseLayerSpec

# Two decades; the finest ask for more bits than any constant of a read-out is valid for.
ACCURACIES = (0.1, 0.07, 0.05, 0.03, 0.02, 0.015, 0.01, 0.007, 0.005, 0.003, 0.002, 0.001)


@dataclass(frozen=True)
class CurvePoint:
    """A layer to one accuracy.

    Parameters
    ----------
    accuracy : wanted error of S. cycles, seconds : until the slowest compared cell is read.
    coupling_bits, tuning_bits, readout_bits : what resolves it.
    energy : of the estimate; floor : of the noise; oscillators : their part of the energy, where it has a
        floor. None where there is none.
    why : why there is no energy, or "".
    """

    accuracy: float
    cycles: float | None
    seconds: float | None
    coupling_bits: int | None
    tuning_bits: int | None
    readout_bits: int | None
    energy: Interval | None
    floor: Interval | None
    why: str = ""
    oscillators: Interval | None = None

    def to_json(self) -> dict[str, Any]:
        """Everything above as plain JSON."""
        numbers = {name: getattr(self, name) for name in self.__dataclass_fields__}
        for name in ("energy", "floor", "oscillators"):
            interval = numbers[name]
            numbers[name] = None if interval is None else interval.to_json()
        return numbers


def accuracy_curve(
    spec: PhaseLayerSpec,
    hardware: OscillatorHardware,
    book: Book,
    dynamics: Literal["pair", "network", "clamped"] | None = None,
    accuracies: Iterable[float] = ACCURACIES,
) -> tuple[CurvePoint, ...]:
    """What a layer costs on an array of oscillators to every accuracy, coarse to fine.

    Bits follow the accuracy unless the hardware gives them; where that is more than a constant is valid for,
    the point has no energy and says why.

    Parameters
    ----------
    book : constants, options of the hardware included (:func:`hardware_book`).
    dynamics : as which array; None is the layer's own.

    Raises
    ------
    EnergyError
        an event without a price.
    """
    return tuple(_point(spec, hardware, book, dynamics or spec.dynamics, wanted) for wanted in accuracies)


def _point(
    spec: PhaseLayerSpec,
    hardware: OscillatorHardware,
    book: Book,
    dynamics: Literal["pair", "network", "clamped"],
    accuracy: float,
) -> CurvePoint:
    hardware = hardware.model_copy(update={"accuracy": accuracy})
    row = array_row(spec, hardware, book, dynamics)
    energy, why = (None, row.answer.reason) if isinstance(row.answer, Refusal) else (row.answer.total, "")
    try:
        plan = row.schedule or schedule(spec, hardware, dynamics)
    except EnergyError:  # no such clock: what the row says, too
        return CurvePoint(accuracy, None, None, None, None, None, energy, row.floor_interval, why)
    return CurvePoint(
        accuracy, plan.cycles, plan.seconds, plan.coupling_bits, plan.tuning_bits, plan.readout_bits,
        energy, row.floor_interval, why, row.oscillators,
    )  # fmt: skip
