"""The noise floor of a layer in joules, the verdict on an estimate, and the replay of fabricated rings."""

from dataclasses import dataclass, replace

import numpy as np
import pytest
from relative import relative

from oscsim.counts import Counts
from oscsim.energy import (
    EnergyError,
    Interval,
    OscillatorHardware,
    Scope,
    Term,
    estimate,
    load_constants,
)
from oscsim.energy.noise import noise_floor, replay_phase_noise, verdict
from oscsim.energy.noise.locked import LARGEST_CORRECTION, linear_error
from oscsim.energy.noise.verdict import at_floor
from oscsim.energy.units import quantity

BOOK = load_constants()


@dataclass(frozen=True)
class Planned:
    """What the floor asks of a schedule."""

    counts: Counts
    noise_rate: float = 1e7
    carrier_hz: float = 1e9
    accuracy: float = 0.01
    dynamics: str = "pair"
    locked_share: float = 1.0
    largest_coupling: float = 1.0
    sine: float = 0.99
    basin: float = np.inf


PLAN = Planned(Counts({"oscillator_cycles": 1e4}))


def floor_j(plan=PLAN, **hardware):
    floor = noise_floor(OscillatorHardware(**{"family": "ring", **hardware}), plan, BOOK)
    assert floor.energy is not None and floor.valid
    return floor.energy.value_j


@pytest.mark.parametrize("family", ["ring", "lc", "relaxation"])
@pytest.mark.parametrize(
    ("change", "factor"),
    [
        ({"counts": Counts({"oscillator_cycles": 3e4})}, 3.0),
        ({"carrier_hz": 2e9}, 2.0),
        ({"noise_rate": 4e7}, 0.25),
        ({"accuracy": 0.005}, 4.0),
        ({"largest_coupling": 3.0}, 9.0),
        ({"dynamics": "network"}, 2.0),
        ({"dynamics": "clamped"}, 1.0),
    ],
)
def test_powers_of_the_schedule(family, change, factor):
    assert floor_j(replace(PLAN, **change), family=family) / floor_j(family=family) == relative(factor)


def test_powers_of_the_hardware():
    assert floor_j(temperature_k=600.0) / floor_j() == relative(2.0)
    assert floor_j(cell="mutual") / floor_j() == relative(2.0)
    assert floor_j(family="lc", quality_factor=20.0) / floor_j(family="lc") == relative(0.25)
    assert floor_j(family="lc") < floor_j(family="relaxation") < floor_j(family="ring")


def test_by_hand():
    """8 pi^2 kT f0/kappa^2 a cycle, kappa^2 = 2 lambda accuracy^2."""
    floor = noise_floor(OscillatorHardware(family="relaxation"), PLAN, BOOK)
    cycle = 8.0 * np.pi**2 * 1.380649e-23 * 300.0 * 1e9 / (2.0 * 1e7 * 1e-4)
    assert floor.cycle_energy == Interval(*[relative(cycle)] * 4)  # type: ignore[arg-type]
    assert floor.energy is not None and floor.energy.value_j == relative(1e4 * cycle)
    assert floor.deviation(cycle / 100.0) == relative(0.1)
    assert [c.name for c in floor.constants] == ["boltzmann", "temperature"]
    assert floor.constants[0].citation == "SI" and floor.to_json()["valid"]
    assert any("thermodynamic bound" in note for note in floor.notes)
    assert floor.bound_only and "proves no accuracy" in verdict(estimated(1.0), floor)
    assert "proves no accuracy" not in verdict(estimated(1.0), noise_floor(OscillatorHardware(), PLAN, BOOK))


def test_a_ring_has_a_range():
    floor = noise_floor(OscillatorHardware(family="ring"), PLAN, BOOK)
    assert floor.energy is not None
    assert 2.0 < floor.energy.width < 30.0
    assert floor.energy.low_j < floor.energy.value_j < floor.energy.high_j


def test_cells_near_the_edge_must_not_slip():
    """A loose accuracy does not lower the floor for ever: the variance stays where its formula holds."""
    plan = replace(PLAN, accuracy=0.2)
    floors = [noise_floor(OscillatorHardware(), replace(plan, sine=sine), BOOK) for sine in (0.7, 0.99)]
    assert floors[0].variance == relative(0.04)
    assert floors[1].variance == relative(LARGEST_CORRECTION / linear_error(1.0, 0.99))
    assert any("would let cells slip" in note for note in floors[1].notes)
    assert not any("would let cells slip" in note for note in floors[0].notes)


@pytest.mark.parametrize("rate", [0.0, np.inf, np.nan])
def test_no_locked_cell_no_floor(rate):
    floor = noise_floor(OscillatorHardware(), replace(PLAN, noise_rate=rate), BOOK)
    assert floor.energy is None and not floor.valid
    assert floor.to_json()["energy"] is None
    with pytest.raises(EnergyError, match="no locked cell"):
        floor.deviation(1e-15)
    assert "no noise floor (no locked cell" in verdict(estimated(1.0), floor)


def estimated(energy_j, *others_j):
    terms = [
        Term(name, "given", lambda v, e=e: quantity(e, "J"), ("oscillator_cycles",))
        for name, e in zip(("oscillators", "couplers"), (energy_j, *others_j), strict=False)
    ]
    return estimate(Scope("rings", "estimate", "array"), PLAN.counts, terms, BOOK)


def test_verdicts():
    floor = noise_floor(OscillatorHardware(), PLAN, BOOK)
    assert floor.energy is not None
    below, between, above = 0.01 * floor.energy.low_j, floor.energy.median_j, 2.0 * floor.energy.high_j
    assert "NOT ATTAINABLE" in verdict(estimated(below), floor)
    assert f"{(floor.energy.value_j / below) ** 0.5:.2g} times less certain" in verdict(
        estimated(below), floor
    )
    assert "straddles the noise floor" in verdict(estimated(between), floor)
    assert "above the noise floor" in verdict(estimated(above), floor)
    assert "noise needs at least" in verdict(estimated(below), floor)
    raised = at_floor(estimated(below, above), floor)
    assert raised.value_j == relative(above + floor.energy.value_j)
    assert f"with oscillators at the floor: {raised}" in verdict(estimated(below, above), floor)
    assert at_floor(estimated(above), floor) is None
    # couplers do not make an oscillator quiet
    assert "NOT ATTAINABLE" in verdict(estimated(below, above), floor)


def test_replay_of_fabricated_rings():
    """Within 2.5 dB all; a bound from below, so the two of 2 um may lie above their interval."""
    rows = {row.index: row for row in replay_phase_noise(BOOK)}
    assert list(rows) == [1, 2, 3, 5, 6, 8, 10]
    assert max(abs(row.predicted - row.measured) for row in rows.values()) < 2.5
    assert {index for index, row in rows.items() if row.covered} == {3, 5, 6, 8, 10}
    assert all(row.low < row.predicted < row.high for row in rows.values())
    # at the published eta the formula is the published theory: V_char is what the authors used
    theirs = {row.index: row for row in replay_phase_noise(BOOK.chosen("ring_eta", 0.75, "", "x"))}
    assert all(abs(theirs[i].predicted - theirs[i].published_theory) < 0.3 for i in (3, 5, 6, 8, 10))
    assert all(abs(theirs[i].predicted - theirs[i].published_theory) < 1.1 for i in (1, 2))
