"""Replay of fabricated ring oscillators: energy of a cycle by the fit to the others."""

from collections.abc import Sequence

from oscsim.energy.ring_fit import RingFit, fit_rings
from oscsim.energy.rings import PublishedRing
from oscsim.energy.validation.row import Range, Role, Row


def cycle_energies(rings: Sequence[PublishedRing]) -> list[Row]:
    """Energy of one cycle of every ring, J: calibration rows by the fit to the other rings of their process.

    The interval is the prediction, its middle, times and over the worst leave-one-out ratio *of the fit that
    predicts*, so a ring tells nothing about its own interval.
    """
    whole = fit_rings(rings)
    fitted = {residual.index for residual in whole.leave_one_out}
    rows = []
    for ring in rings:
        if ring.index in fitted:
            others = fit_rings([other for other in rings if other.index != ring.index])
            rows.append(_row(ring, others, "calibration", "by the fit to the other rings of its process"))
    rows += [
        _row(ring, whole, "extrapolation", f"another process: {ring.length_um:g} um, {ring.vdd_v:g} V")
        for ring in rings
        if ring.index not in fitted
    ]
    return rows


def _row(ring: PublishedRing, fit: RingFit, role: Role, note: str) -> Row:
    capacitance = fit.per_width_f_per_um * ring.width_um + fit.fixed_f
    energy = capacitance * ring.stages * ring.vdd_v**2
    low, high = fit.factor_range
    name = f"ring {ring.index}"
    return Row(
        name, "ring_cycle_energy", Range(energy * low, energy, energy * high), ring.cycle_energy_j, role,
        notes=(note,), citation="HAJIMIRI",
    )  # fmt: skip
