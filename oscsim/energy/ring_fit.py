"""The energy of a ring's stage and cycle, fitted on fabricated 0.25 um rings [HAJIMIRI]."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from oscsim.energy.rings import PublishedRing, load_rings

Array = NDArray[np.float64]
_FITTED_VDD_V = 2.5  # supply of the 0.25 um process; the 2 um process, of 5 V, is extrapolated to
_FEMTO = 1e-15


@dataclass(frozen=True)
class Residual:
    """Calculated over measured energy, minus 1, of one ring."""

    index: int
    error: float


@dataclass(frozen=True)
class RingFit:
    """``kappa C_stage = c_w W + c_0`` by relative least squares, and how far to trust it.

    Parameters
    ----------
    per_width_f_per_um, fixed_f : c_w and c_0, kappa included.
    per_width_range, fixed_range : smallest and largest of the fits that leave one ring out.
    residuals : of the fitted rings. leave_one_out : of each, by the fit to the others.
    extrapolations : of rings of another process, which the fit has not seen.
    """

    per_width_f_per_um: float
    fixed_f: float
    per_width_range: tuple[float, float]
    fixed_range: tuple[float, float]
    residuals: tuple[Residual, ...]
    leave_one_out: tuple[Residual, ...]
    extrapolations: tuple[Residual, ...]

    @property
    def leave_one_out_mean(self) -> float:
        """Mean size of the leave-one-out errors."""
        return float(np.mean([abs(r.error) for r in self.leave_one_out]))

    @property
    def leave_one_out_max(self) -> float:
        """Largest size of the leave-one-out errors."""
        return max(abs(r.error) for r in self.leave_one_out)

    @property
    def factor_range(self) -> tuple[float, float]:
        """Measured over calculated energy that a ring of the process may have: its residual spread.

        Symmetric in the ratio, as far as the worst leave-one-out error reaches on either side.
        """
        worst = max(max(1.0 + r.error, 1.0 / (1.0 + r.error)) for r in self.leave_one_out)
        return 1.0 / worst, worst


def published_rings() -> tuple[PublishedRing, ...]:
    """The rings of [HAJIMIRI], Tables I and II, with measured supply currents."""
    return tuple(load_rings())


Regressors = Callable[[PublishedRing], tuple[float, ...]]

# What kappa C of a stage may be made of, with at most 2 parameters. "width + fixed" was chosen: gate and
# drain grow with width, wiring does not, and both coefficients come out positive. The others are kept for the
# table in docs/energy_oscillators.md. The choice was made with the 2 um rings in view: "W/L" leaves smaller
# errors, but is off by a factor of 10 there; "width + gate area" has a negative coefficient. So they are no
# validation.
CANDIDATES: dict[str, Regressors] = {
    "width + fixed": lambda ring: (ring.width_um, 1.0),
    "width": lambda ring: (ring.width_um,),
    "gate area": lambda ring: (ring.gate_area_um2,),
    "gate area + fixed": lambda ring: (ring.gate_area_um2, 1.0),
    "width + gate area": lambda ring: (ring.width_um, ring.gate_area_um2),
    "W/L": lambda ring: (ring.width_um / ring.length_um,),
}


@dataclass(frozen=True)
class Candidate:
    """A fit of one form: coefficients (in fF per regressor) and errors."""

    name: str
    coefficients_ff: tuple[float, ...]
    leave_one_out_mean: float
    leave_one_out_max: float
    extrapolations: tuple[float, ...]


@lru_cache(maxsize=1)
def ring_fit() -> RingFit:
    """The fit that the ring family uses at 250 nm, from the shipped rings.

    >>> fit = ring_fit()
    >>> f"{fit.per_width_f_per_um * 1e15:.2f} fF/um, {fit.fixed_f * 1e15:.1f} fF"
    '2.89 fF/um, 38.9 fF'
    >>> f"{fit.leave_one_out_mean:.3f} {fit.leave_one_out_max:.3f}"
    '0.160 0.241'
    """
    return fit_rings(published_rings())


def fit_rings(rings: Sequence[PublishedRing]) -> RingFit:
    """Fit the rings of the 2.5 V process; those of other processes are extrapolated to.

    Relative least squares minimises the sum of ``(calculated/measured - 1)^2`` of E_cycle; N and V are exact,
    so it is that of ``kappa C = E_cycle/(N V^2)``.
    """
    form = CANDIDATES["width + fixed"]
    fitted, others = _split(rings)
    best = _least_squares(form, fitted)
    without = [_least_squares(form, _without(fitted, ring)) for ring in fitted]
    widths, fixed = ([float(parameters[k]) for parameters in without] for k in (0, 1))
    return RingFit(
        float(best[0]), float(best[1]), (min(widths), max(widths)), (min(fixed), max(fixed)),
        tuple(_residual(form, best, ring) for ring in fitted),
        tuple(_residual(form, p, ring) for p, ring in zip(without, fitted, strict=True)),
        tuple(_residual(form, best, ring) for ring in others),
    )  # fmt: skip


def candidates(rings: Sequence[PublishedRing]) -> tuple[Candidate, ...]:
    """Every form that was considered, with its errors: what the choice was made from."""
    fitted, others = _split(rings)
    rows = []
    for name, form in CANDIDATES.items():
        best = _least_squares(form, fitted)
        left = [_residual(form, _least_squares(form, _without(fitted, r)), r).error for r in fitted]
        rows.append(Candidate(
            name, tuple(float(c) / _FEMTO for c in best), float(np.abs(left).mean()),
            float(np.abs(left).max()), tuple(_residual(form, best, r).error for r in others),
        ))  # fmt: skip
    return tuple(rows)


def _split(rings: Sequence[PublishedRing]) -> tuple[list[PublishedRing], list[PublishedRing]]:
    fitted = [ring for ring in rings if ring.vdd_v == _FITTED_VDD_V]
    return fitted, [ring for ring in rings if ring.vdd_v != _FITTED_VDD_V]


def _without(rings: list[PublishedRing], left_out: PublishedRing) -> list[PublishedRing]:
    return [ring for ring in rings if ring.index != left_out.index]


def _least_squares(form: Regressors, rings: list[PublishedRing]) -> Array:
    relative = np.array([np.array(form(ring)) * _FEMTO / ring.stage_capacitance_f for ring in rings])
    found = np.linalg.lstsq(relative, np.ones(len(rings)), rcond=None)[0]
    return np.asarray(found * _FEMTO, np.float64)


def _residual(form: Regressors, parameters: Array, ring: PublishedRing) -> Residual:
    return Residual(ring.index, float(np.dot(form(ring), parameters) / ring.stage_capacitance_f) - 1.0)
