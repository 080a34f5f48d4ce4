"""Couplers by resolution, and the one equation of the calibration chip: never a validation."""

from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from relative import relative

from oscsim.counts import Counts
from oscsim.energy import EnergyError, OscillatorHardware, Scope, estimate, load_constants
from oscsim.energy.coupler import coupler_capacitance, coupler_energy, units_of
from oscsim.energy.coupler_split import LABEL, chip_book, feasible_split
from oscsim.energy.oscillator_terms import hardware_book, oscillator_terms
from oscsim.energy.units import magnitude
from oscsim.energy.validation.devices import load_chips
from oscsim.energy.valuation import Nominal

BOOK = load_constants()
MOY = next(chip for chip in load_chips() if chip.name == "Moy-1968-ROSC-Ising")


@dataclass(frozen=True)
class Chip:
    name: str = "made up"
    node_nm: float | None = 65.0
    vdd_v: float | None = 1.0
    n_osc: int | None = 100
    n_couplings: int | None = 300
    coupling_bits: float | None = 3.0
    f_osc_hz: float | None = 1e9
    power_w: float | None = 2e-3
    settle_s: float | None = None


def near(number, rel=1e-9):
    return relative(number, rel=rel)


def femtojoules(bits, **options):
    hardware = OscillatorHardware.of(**{"vdd_v": 1.0, **options})
    return magnitude(coupler_energy(bits)(hardware, Nominal(hardware_book(hardware, BOOK))), "fJ")


def test_a_coupler_in_joules():
    """3 bits: 7 units, each of the gate capacitance of its width times the load of a node."""
    unit, load, gate = (
        BOOK.usable(name).value
        for name in ("coupler_unit_width_65nm", "ring_node_load", "gate_cap_per_width_65nm")
    )
    assert femtojoules(3) == near(7 * unit * load * gate * 1e15)
    hardware = OscillatorHardware(vdd_v=1.0)
    farad = magnitude(coupler_capacitance(3, hardware, Nominal(hardware_book(hardware, BOOK))), "farad")
    assert femtojoules(3, activity=0.5) == near(0.5 * farad * 1e15)


def test_units_of_levels_between_whole_bits():
    """Five levels, as off and four strengths, are log2(5) bits and four units."""
    assert units_of(2.321928094887362) == relative(4.0)
    for bits in (0.0, -1.0, 17.0, float("nan")):
        with pytest.raises(EnergyError, match="bits"):
            units_of(bits)


def test_both_ends_of_the_segment_give_the_published_power():
    split = feasible_split(MOY, BOOK)
    assert split.total_j == near(0.042 / 1e9)
    for oscillator, coupler in zip(split.oscillator_j, reversed(split.coupler_j), strict=True):
        assert oscillator > 0.0 and coupler > 0.0
        assert 1968 * oscillator + 7607 * coupler == near(split.total_j)
        assert split.coupler_at(oscillator) == near(coupler)
    with pytest.raises(EnergyError, match="the segment is"):
        split.coupler_at(2.0 * split.oscillator_j[1])


def test_the_split_is_labelled_a_prior_and_its_solution_a_bound():
    split = feasible_split(MOY, BOOK)
    assert split.label == LABEL == "prior, not measured"
    assert LABEL in str(split)
    assert split.to_json()["solution_at_most_j"] == near(0.042 * 5e-8)
    # one equation for two unknowns: neither is known to better than a factor of 3
    assert split.oscillator_j[1] > 3.0 * split.oscillator_j[0]
    assert split.coupler_j[1] > 3.0 * split.coupler_j[0]


def test_calibration_replay_of_the_chip_covers_its_power():
    """Calibration, not validation: the design ranges were chosen with this chip in view.

    One second of 1968 rings and 7607 couplers of five levels, neighbours one cell pitch apart. 1 GHz is the
    highest frequency that the publication allows, so the prediction is on the high side.
    """
    counts = Counts({
        "oscillators": 1968, "oscillator_cycles": 1968e9, "couplers.2_3": 7607,
        "coupling_cycles.2_3": 7607e9, "wire_spans": 7607, "wire_span_cycles": 7607e9, "array_seconds": 1.0,
    })  # fmt: skip
    hardware = OscillatorHardware(family="ring", node_nm=65)
    book = hardware_book(hardware, chip_book(MOY, BOOK))
    total = estimate(
        Scope(MOY.name, "calibration", "array"), counts, oscillator_terms(hardware, counts), book
    ).total
    assert total.covers(0.042)
    assert not total.uninformative


def test_a_supply_that_is_published_is_used_and_an_unknown_one_is_a_range():
    row, wide = BOOK["supply_65nm"], chip_book(MOY, BOOK)["supply_65nm"]
    assert wide.value == row.value and wide.low < row.low and wide.high >= row.high
    assert chip_book(Chip(vdd_v=1.0), BOOK)["supply_65nm"] == row
    low, high = (feasible_split(Chip(vdd_v=v), BOOK).oscillator_j[0] for v in (0.9, 1.0))
    assert high / low == near((1.0 / 0.9) ** 2)


def test_power_moves_the_segment_along_its_axes():
    """Within the box only the upper ends move: they are what the total leaves for each."""
    small, large = feasible_split(Chip(power_w=2e-3), BOOK), feasible_split(Chip(power_w=2.2e-3), BOOK)
    assert large.oscillator_j[0] == near(small.oscillator_j[0])
    assert large.oscillator_j[1] - small.oscillator_j[1] == near(0.2e-3 / 1e9 / 100, 1e-6)
    assert large.coupler_j[1] - small.coupler_j[1] == near(0.2e-3 / 1e9 / 300, 1e-6)


@pytest.mark.parametrize("power_w", [1e-6, 10.0])
def test_a_power_that_no_split_gives_is_an_error(power_w):
    with pytest.raises(EnergyError, match="cannot be split: the priors reach from"):
        feasible_split(Chip(power_w=power_w), BOOK)


@pytest.mark.parametrize("name", ["node_nm", "n_osc", "n_couplings", "coupling_bits", "f_osc_hz", "power_w"])
def test_an_unknown_number_is_named(name):
    with pytest.raises(EnergyError, match=f"{name} unknown"):
        feasible_split(replace(Chip(), **{name: None}), BOOK)


def test_the_page_tells_the_segment():
    split = feasible_split(MOY, BOOK)
    page = (Path(__file__).parents[3] / "docs" / "energy_oscillators.md").read_text(encoding="utf-8")
    (low, high), (least, most) = ((1e15 * a, 1e15 * b) for a, b in (split.oscillator_j, split.coupler_j))
    assert (
        f"oscillator {low:.2f} to {high:.1f} fJ, coupler with its wire {most:.1f} to {least:.2f} fJ" in page
    )
