"""Fabricated ring oscillators with their supply currents and phase noise [HAJIMIRI]."""

import os
from dataclasses import dataclass
from importlib import resources

from oscsim.energy.table_file import Record, read_table

RING_COLUMNS = (
    "idx", "n_stage", "wn_um", "ln_um", "wp_um", "lp_um", "vdd_v", "isup_ma", "f0_hz", "meas_L1MHz_dbc",
    "pred_eq23_dbc", "note",
)  # fmt: skip


@dataclass(frozen=True)
class PublishedRing:
    """One fabricated ring: what it is and what it draws.

    ``width_um`` is that of both transistors of a stage together; ``measured_dbc`` its phase noise at 1 MHz
    offset, dBc/Hz, and ``theory_dbc`` what its authors' formula says; ``note`` what it is.
    """

    index: int
    stages: int
    width_um: float
    length_um: float
    gate_area_um2: float
    vdd_v: float
    supply_a: float
    frequency_hz: float
    measured_dbc: float
    theory_dbc: float
    note: str

    @property
    def cycle_energy_j(self) -> float:
        """``I V / f``, from the measured supply current, J."""
        return self.supply_a * self.vdd_v / self.frequency_hz

    @property
    def stage_capacitance_f(self) -> float:
        """``kappa C = E_cycle / (N V^2)``: only the product can be told from a supply current."""
        return self.cycle_energy_j / (self.stages * self.vdd_v**2)


def load_rings(path: str | os.PathLike[str] | None = None) -> list[PublishedRing]:
    """Ring oscillators of a table, every cell checked; without a path those of this project [HAJIMIRI].

    >>> ring = load_rings()[2]
    >>> ring.index, ring.stages, f"{ring.cycle_energy_j:.3g} J"
    (3, 19, '1.88e-11 J')
    """
    if path is not None:
        return [_ring(record) for record in read_table(path, RING_COLUMNS, key="idx")]
    with resources.as_file(resources.files("oscsim.energy") / "rings.csv") as shipped:
        return load_rings(shipped)


def _ring(record: Record) -> PublishedRing:
    index, stages = record.whole("idx"), record.whole("n_stage")
    if index is None or stages is None or stages % 2 == 0 or stages < 3:
        raise record.fail("n_stage", "an odd number of stages, 3 or more")
    wn, ln, wp, lp, vdd, current, frequency = (
        record.required(name) for name in ("wn_um", "ln_um", "wp_um", "lp_um", "vdd_v", "isup_ma", "f0_hz")
    )
    measured, theory = (record.required(name, signed=True) for name in ("meas_L1MHz_dbc", "pred_eq23_dbc"))
    return PublishedRing(
        index, stages, wn + wp, ln, wn * ln + wp * lp, vdd, current * 1e-3, frequency,
        measured, theory, record.cells["note"],
    )  # fmt: skip
