"""What a cell remembers for its read-out, and the read-out: whole beats, or the resting phase.

A cell sums cos psi and sin psi at every step and keeps a snapshot of the steps around its first and its last
crossing of psi = pi/2, where cos psi = 0: a step that is only partly inside the window then costs the mean
of cos psi nothing to first order (docs/spec.md section 3).
"""

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from hw_targets.lava.fixed_point import FixedPoint
from hw_targets.lava.floating_point import FloatingPoint
from hw_targets.lava.program import ROWS

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]


class CellFormat(Protocol):
    """What reading a cell needs of a number format: its arithmetic, and the rate below which it rests."""

    @property
    def arithmetic(self) -> FixedPoint | FloatingPoint:
        """What the cell computed with."""
        ...

    @property
    def residual(self) -> float:
        """Own-clock rate below which nothing moves any more."""
        ...


@dataclass(frozen=True, eq=False)
class CellReadout:
    """Read-out of cells, in program order.

    Parameters
    ----------
    phase : final phases, rad.
    mean : complex <exp(i psi)>; over whole beats where ``beating``, else over the whole run.
    beating : bool, at least one whole beat was seen.
    resting : bool, the last step moved less than the format's residual, and no beat was seen before.
    """

    phase: Array
    mean: NDArray[np.complex128]
    beating: Mask
    resting: Mask

    @property
    def decided(self) -> Mask:
        """Where the read-out has converged: at rest, or averaged over whole beats."""
        return self.beating | self.resting


def read_cells(record: Array, steps: NDArray[np.int64], number_format: CellFormat) -> CellReadout:
    """Turn records (rows, cells) into means; ``steps`` is how many steps each cell ran."""
    rows = dict(zip(ROWS, record, strict=True))
    arithmetic = number_format.arithmetic
    phase = np.asarray(arithmetic.to_radians(rows["phase"]))
    rate = np.abs(rows["increment"]) / arithmetic.step_lsb
    first, last = (_crossing(rows, name, number_format) for name in ("first", "last"))
    beating = last.step > first.step + 0.5
    span = np.where(beating, last.time - first.time, 1.0)
    whole = _whole_run(rows, phase, steps, number_format)
    mean = np.where(beating, (last.integral - first.integral) / span, whole)
    # a rotating cell may end where it is slowest
    return CellReadout(phase, mean, beating, (rate <= number_format.residual) & ~beating)


@dataclass(frozen=True, eq=False)
class _Crossing:
    """Time in steps, and the integral of exp(i psi) over time in steps, of a crossing of pi/2."""

    step: Array
    time: Array
    integral: NDArray[np.complex128]


def _crossing(rows: dict[str, Array], name: str, number_format: CellFormat) -> _Crossing:
    """Trapezoids up to the crossing, the last one cut off where a straight line meets pi/2."""
    arithmetic = number_format.arithmetic
    before = np.asarray(arithmetic.to_radians(rows[f"{name}_before"]))
    moved = rows[f"{name}_after"] - rows[f"{name}_before"]
    moved = np.asarray(arithmetic.to_radians(moved))
    missing = np.mod(np.pi / 2 - before, 2 * np.pi)  # to the quarter turn, small where it is crossed
    advance = np.mod(moved, 2 * np.pi)
    share = np.where(advance > 0, missing / np.where(advance > 0, advance, 1.0), 0.0)
    total = (rows[f"{name}_cosine_sum"] + 1j * rows[f"{name}_sine_sum"]) / arithmetic.amplitude
    here = np.exp(1j * before)
    integral = total - here / 2 + share * (here + 1j) / 2
    step = rows[f"{name}_step"]
    return _Crossing(step, step + share, integral)


def _whole_run(
    rows: dict[str, Array], phase: Array, steps: NDArray[np.int64], number_format: CellFormat
) -> NDArray[np.complex128]:
    """Mean over the whole run; the phase itself where no step was made."""
    total = (rows["cosine_sum"] + 1j * rows["sine_sum"]) / number_format.arithmetic.amplitude
    here = np.exp(1j * phase)
    return np.where(steps > 0, total / (steps + 1), here)
