"""Error budget of a lowered layer: what each choice of bits, table and step contributes to the error of S.

Predicted, not measured: uniform roundings, exact dead bands and exact sensitivities, no fitted coefficient.
docs/targets/lava_budget.md has the formulas and holds them against measurements.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hw_targets.lava.budget.roundings import Roundings
from hw_targets.lava.fixed_point import FixedPoint
from hw_targets.lava.plan import Lowered

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class Source:
    """One source of error.

    Parameters
    ----------
    name : "phase", "table", "payload", "parameters", "weights", "step", "settling" or "delay".
    options : what decides it; which of them can still be changed, and helps, says improvement.py.
    rms : root mean square of its error of S over the predicted cells, the cells of Budget.rms.
    """

    name: str
    options: tuple[str, ...]
    rms: float


@dataclass(frozen=True, eq=False)
class Budget:
    """Predicted errors of one layer in one configuration.

    Parameters
    ----------
    sources : in a fixed order, zero ones left out. Biases have signs: together they may be less than one.
    expected : (H, N, N) root mean square error of S of each cell; 0 where none is predicted.
    where : (H, N, N) bool, predicted cells: off the diagonal, unmasked, outside the band.
    wrong_locks : cells decided wrongly, all inside the band; None where nothing is decided by a ratio.
    order_parameter : (H, N) root mean square error; None where it is not measured.
    """

    sources: tuple[Source, ...]
    expected: Array
    where: Mask
    wrong_locks: int | None = None
    order_parameter: Array | None = None

    @property
    def rms(self) -> float:
        """Root mean square error of S over the predicted cells."""
        return root_mean_square(self.expected[self.where])

    @property
    def order_rms(self) -> float | None:
        """Root mean square error of the order parameter."""
        return None if self.order_parameter is None else root_mean_square(self.order_parameter)

    @property
    def bottleneck(self) -> Source | None:
        """The largest source; None where nothing errs."""
        return max(self.sources, key=lambda source: source.rms, default=None)


def root_mean_square(values: Array) -> float:
    """0 for no values."""
    return float(np.sqrt(np.mean(np.square(values)))) if values.size else 0.0


def sources(squares: dict[str, Array], lowered: Lowered) -> tuple[Source, ...]:
    """Mean square errors by source as a list, with the options that decide them."""
    rms = {name: float(np.sqrt(np.mean(square))) if square.size else 0.0 for name, square in squares.items()}
    return tuple(Source(name, options(name, lowered), value) for name, value in rms.items() if value > 0)


def options(name: str, lowered: Lowered) -> tuple[str, ...]:
    """What decides the size of a source."""
    return {
        "phase": ("phase_bits", "steps_per_turn"),
        "table": ("sine_bits", "interpolation"),
        "payload": ("payload_bits",),
        "parameters": ("parameter_bits",),
        "weights": ("weight_bits",),
        "step": ("integrator", "steps_per_turn"),
        "settling": _settling(lowered),
        "delay": ("delay_steps", "steps_per_turn"),
    }[name]


def _settling(lowered: Lowered) -> tuple[str, ...]:
    """What makes up the residual at which a run may stop; in floating point nothing that an option sets."""
    if not isinstance(lowered.number_format.arithmetic, FixedPoint):
        return ()
    r = Roundings.of(lowered.number_format, lowered.config.integrator)
    return ("payload_bits" if 2.0 * r.sine_lsb > r.rate_lsb else "phase_bits", "max_steps")
