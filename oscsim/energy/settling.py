"""What a layer needs to settle, cell by cell, and how noisy it is when it is read."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from oscsim.energy.flow_noise import Flow

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class Tuning:
    """What a tuning code has to tell apart: ``span/(accuracy step)`` levels.

    Parameters
    ----------
    span : of the values that are tuned. step : spacing at which they may be set, per unit of accuracy;
        infinite where it does not matter. Frequencies in rad / time unit (clamped: rates).
    """

    span: float
    step: float


@dataclass(frozen=True, eq=False)
class Settling:
    """What a layer needs, one entry per cell (pair), free oscillator (clamped) or channel (network).

    Parameters
    ----------
    time : (H, N, N), (H, N, D) or (H, D), time units; NaN where nothing is built or no limit is known.
    built, left_out, locked : masks of the same shape: is there one; has it no time limit (within the edge
        band, or started on an unstable point); does it come to rest.
    rate : relaxation rate of what comes to rest and is read, 1 / time unit; NaN elsewhere.
    shares_of : mask of those that count in shares (pair: not the diagonal).
    notes : what is not exact about this, in words.
    lower_bound : whether some run of the ODE ended before it converged.
    tuning : of the oscillators; None where none is tuned.
    variance : network: largest variance of a difference that is read, per kappa^2, time units.
    flow : of cells that lock one by one, with ``rate``; None in a network.
    sine : largest |sin psi*| of what is read and locks; None: up to the edge band.
    """

    time: Array
    built: Mask
    left_out: Mask
    locked: Mask
    rate: Array
    shares_of: Mask
    notes: tuple[str, ...] = ()
    lower_bound: bool = False
    tuning: Tuning | None = None
    variance: Array | None = None
    flow: Flow | None = None
    sine: float | None = None

    @property
    def compared(self) -> Mask:
        """What is built and has a time limit."""
        return self.built & ~self.left_out

    def noise_rate(self, ran: Array) -> Array:
        """As much noise as at rest with this rate: one oscillator's kappa^2 makes ``kappa^2/(2 rate)``.

        After a time T from a start that is exact, ``1/(2 V(T))`` (:mod:`oscsim.energy.flow_noise`; from a
        start at rest ``lambda/(1 - exp(-2 lambda T))``); of a network, at rest and of two oscillators a
        difference, ``1/variance``.

        Parameters
        ----------
        ran : time units that each runs.
        """
        with np.errstate(invalid="ignore", divide="ignore"):
            if self.variance is not None:
                return np.divide(1.0, self.variance)
            variance = np.full(self.time.shape, np.nan) if self.flow is None else self.flow.variance(ran)
            return np.divide(0.5, variance)

    def basin(self, ran: Array) -> Array:
        """Variance when read, rad^2, at which noise may send a start the other way round; infinite: none."""
        return np.full(self.time.shape, np.inf) if self.flow is None else self.flow.basin(ran)


def stuck_note(stuck: Mask) -> tuple[str, ...]:
    """A sentence on starts from which nothing moves, as a tuple for notes."""
    count = int(stuck.sum())
    return (f"{count} start on their unstable point, have no time limit and are left out",) if count else ()
