"""A GPU at its best: no layer is faster than the vendor's peaks allow, at the power of a whole board."""

from dataclasses import dataclass

import numpy as np

from oscsim.counts import Counts
from oscsim.energy.baselines.boundary import BOARD
from oscsim.energy.baselines.pricing import accuracy_note, estimate_or_list, unusable
from oscsim.energy.constants import Book
from oscsim.energy.estimate import EnergyError, Estimate, Refusal, Scope, Term
from oscsim.energy.units import Quantity, magnitude, quantity
from oscsim.energy.valuation import Nominal, Valuation

DEVICES = ("h200", "a100")
# A product and an addition.
FLOPS_OF_A_MULTIPLY_ACCUMULATE = 2.0
# Which unit works on a precision, and how many operations of one count it does there.
_TENSOR = {"bfloat16", "float16"}
_VECTOR = {"float32"}
_ARITHMETIC = {
    "multiply_accumulates": FLOPS_OF_A_MULTIPLY_ACCUMULATE,
    "additions": 1.0,
    "multiplications": 1.0,
    "special_functions": 1.0,
}
_MEMORY = "hbm"
_FORMULA = "TDP share max(tensor flop / peak, float32 flop / peak, bytes / bandwidth)"


@dataclass(frozen=True)
class Roofline:
    """What each unit of a GPU has to do for a layer: operations and bytes, which overlap at best."""

    device: str
    tensor_flop: float
    vector_flop: float
    bytes: float

    @classmethod
    def of(cls, counts: Counts, device: str) -> "Roofline":
        """Sort counts by the unit that executes them.

        Raises
        ------
        EnergyError
            an unknown device, or a precision that none of its units has.
        """
        if device not in DEVICES:
            raise EnergyError(f"device: given {device!r}, expected one of {', '.join(DEVICES)}")
        return cls(
            device,
            _flop(counts, _TENSOR),
            _flop(counts, _VECTOR),
            counts.get(f"bytes.{_MEMORY}", 0.0),
        )

    @property
    def constants(self) -> tuple[str, ...]:
        """Names of the constants that its energy needs."""
        names = ("bf16_peak", "fp32_peak", "hbm_bandwidth", "tdp")
        return (*(f"{self.device}_{name}" for name in names), "gpu_power_share")

    def times(self, v: Valuation) -> dict[str, Quantity]:
        """Seconds of each unit at its peak."""
        work = {
            "tensor cores": quantity(self.tensor_flop, "flop") / v(f"{self.device}_bf16_peak"),
            "float32 units": quantity(self.vector_flop, "flop") / v(f"{self.device}_fp32_peak"),
            "memory": quantity(self.bytes, "byte") / v(f"{self.device}_hbm_bandwidth"),
        }
        return {unit: quantity(magnitude(time, "s"), "s") for unit, time in work.items()}

    def energy(self, v: Valuation) -> Quantity:
        """Board power times the time of the busiest unit, the others work meanwhile."""
        longest = np.maximum.reduce([magnitude(time, "s") for time in self.times(v).values()])
        power = v(f"{self.device}_tdp") * quantity(1.0, "chip") * v("gpu_power_share")
        return power * quantity(longest, "s")


def gpu_estimate(
    counts: Counts,
    book: Book,
    device: str = "h200",
    accuracy: float | None = None,
    asked: float | None = None,
) -> Estimate | Refusal:
    """Least energy of a layer's kernels on a GPU: ``E = P_board max_u (work_u / peak_u)``.

    The units u are tensor cores (bfloat16 and float16), float32 units and memory; all of them are busy at
    once at best, so the longest time counts, not the sum. A multiply-accumulate is two operations.

    Parameters
    ----------
    counts : of a triton plan; bytes of levels other than ``hbm`` cost no time of their own.
    device : "h200" or "a100".
    accuracy : what the plan promises of S. asked : what was wanted of every row of the comparison.

    Raises
    ------
    EnergyError
        an unknown device, or counts that are not those of a GPU.
    """
    roofline = Roofline.of(counts, device)
    scope = Scope(
        name=f"triton on {device.upper()} at its best",
        kind="best case",
        boundary=BOARD,
        accuracy=accuracy,
        left_out=_on_chip(counts),
        notes=(*_notes(roofline, book), *accuracy_note(accuracy, asked)),
    )
    events = tuple(name for event in _ARITHMETIC for name in _names(counts, event, _TENSOR | _VECTOR))
    term = Term("board at the roofline", _FORMULA, roofline.energy, (*events, f"bytes.{_MEMORY}"))
    return estimate_or_list(scope, counts, [term], roofline.constants, book)


def _names(counts: Counts, event: str, precisions: set[str]) -> list[str]:
    return [f"{event}.{detail}" for detail in counts.details(event) if detail in precisions]


def _flop(counts: Counts, precisions: set[str]) -> float:
    return sum(
        each * counts[name]
        for event, each in _ARITHMETIC.items()
        for name in _names(counts, event, precisions)
    )


def _on_chip(counts: Counts) -> tuple[tuple[str, str], ...]:
    why = "on the chip: part of the board's power, and never what bounds a best case"
    return tuple((f"bytes.{level}", why) for level in counts.details("bytes") if level != _MEMORY)


def _notes(roofline: Roofline, book: Book) -> tuple[str, ...]:
    notes = [
        "the best case of this kernel at vendor peaks, which no kernel reaches; not measured",
        "no bound of every kernel: this one pads tiles of 128 tokens and writes S out, which can be many "
        "times the bytes that the layer needs at least",
        "left out: launch of kernels, idle board before and after, host",
    ]
    if not unusable(roofline.constants, book):
        times = {unit: magnitude(time, "s") for unit, time in roofline.times(Nominal(book)).items()}
        unit = max(times, key=lambda name: times[name])
        notes.append(f"bound by {unit}: {times[unit]:.3g} s")
    return tuple(notes)
