"""The fit to fabricated rings: its errors, what it was chosen from, its rows in the table of constants."""

from dataclasses import replace
from pathlib import Path

import pytest
from relative import relative

from oscsim.counts import Counts
from oscsim.energy import OscillatorHardware, Scope, estimate, load_constants
from oscsim.energy.oscillator_terms import hardware_book, oscillator_terms
from oscsim.energy.ring_fit import candidates, fit_rings, published_rings, ring_fit

RINGS = published_rings()


def near(number, rel=1e-9):
    """Relative only: joules and farads are far below the absolute tolerance that approx adds."""
    return relative(number, rel=rel)


FITTED = [ring for ring in RINGS if ring.vdd_v == 2.5]


def test_the_energy_of_a_cycle_is_measured_current_times_supply_over_frequency():
    third = next(ring for ring in RINGS if ring.index == 3)
    assert third.cycle_energy_j == near(10e-3 * 2.5 / 1.33e9)
    assert third.stage_capacitance_f == near(third.cycle_energy_j / (19 * 2.5**2))
    assert (third.width_um, third.gate_area_um2) == (30.0, 7.5)


def test_leave_one_out_errors_are_within_what_was_asked():
    fit = ring_fit()
    assert [r.index for r in fit.leave_one_out] == [3, 5, 6, 8, 10]
    assert fit.leave_one_out_mean <= 0.20
    assert fit.leave_one_out_max <= 0.30


def test_the_numbers_of_the_fit_are_pinned():
    fit = ring_fit()
    assert fit.per_width_f_per_um * 1e15 == pytest.approx(2.8896, abs=1e-4)
    assert fit.fixed_f * 1e15 == pytest.approx(38.913, abs=1e-3)
    errors = [round(100.0 * r.error, 1) for r in fit.leave_one_out]
    assert errors == [-24.1, -15.5, 7.0, 24.1, -9.1]
    assert (fit.leave_one_out_mean, fit.leave_one_out_max) == pytest.approx((0.1596, 0.2414), abs=1e-4)


def test_two_parameters_and_relative_least_squares():
    fit = ring_fit()

    def loss(per_width, fixed):
        return sum(((per_width * r.width_um + fixed) / r.stage_capacitance_f - 1.0) ** 2 for r in FITTED)

    best = loss(fit.per_width_f_per_um, fit.fixed_f)
    for step in (0.99, 1.01):
        assert loss(step * fit.per_width_f_per_um, fit.fixed_f) > best
        assert loss(fit.per_width_f_per_um, step * fit.fixed_f) > best


def test_rings_of_another_process_are_extrapolations_and_move_nothing():
    fit = ring_fit()
    assert [(r.index, round(r.error, 2)) for r in fit.extrapolations] == [(1, 0.20), (2, -0.14)]
    alone = fit_rings(FITTED)
    assert alone.extrapolations == ()
    assert (alone.per_width_f_per_um, alone.fixed_f) == (fit.per_width_f_per_um, fit.fixed_f)


@pytest.mark.parametrize("index", [3, 5, 6, 8, 10])
def test_a_changed_row_moves_the_fit_but_not_its_own_leave_one_out_prediction(index):
    changed = [replace(r, supply_a=1.3 * r.supply_a) if r.index == index else r for r in RINGS]
    before, after = ring_fit(), fit_rings(changed)
    assert after.per_width_f_per_um != near(before.per_width_f_per_um, 1e-3)
    was = next(r.error for r in before.leave_one_out if r.index == index)
    now = next(r.error for r in after.leave_one_out if r.index == index)
    assert 1.0 + now == relative((1.0 + was) / 1.3)


def test_the_choice_among_the_candidates_is_told_with_all_their_errors():
    table = {c.name: c for c in candidates(RINGS)}
    assert max(len(c.coefficients_ff) for c in table.values()) == 2
    assert all(c > 0.0 for c in table["width + fixed"].coefficients_ff)
    assert table["width + gate area"].coefficients_ff[1] < 0.0
    # smaller errors inside, off by a factor of ten outside: the extrapolations were seen by the choice
    assert table["W/L"].leave_one_out_mean < table["width + fixed"].leave_one_out_mean
    assert table["W/L"].extrapolations == pytest.approx((-0.90, -0.92), abs=0.01)
    assert table["width"].leave_one_out_max == pytest.approx(0.273, abs=1e-3)


def test_the_table_of_constants_has_the_fit():
    fit, book = ring_fit(), load_constants()
    rows = {
        "ring_capacitance_per_width_250nm": (fit.per_width_f_per_um, *fit.per_width_range),
        "ring_fixed_capacitance_250nm": (fit.fixed_f, *fit.fixed_range),
        "ring_residual_250nm": (1.0, *fit.factor_range),
    }
    for name, (value, low, high) in rows.items():
        row = book.usable(name)
        assert (row.value, row.low, row.high) == near((value, low, high))
        assert (row.citation, row.how) == ("HAJIMIRI", "derived")


@pytest.mark.parametrize("ring", FITTED, ids=lambda ring: f"ring {ring.index}")
def test_an_estimate_of_a_fitted_ring_covers_its_measured_energy(ring):
    """Calibration: the residual spread is in the interval of every ring estimate at 250 nm."""
    hardware = OscillatorHardware(
        family="ring", node_nm=250, vdd_v=ring.vdd_v, stages=ring.stages, width_um=ring.width_um
    )
    counts = Counts({"oscillator_cycles": 1})
    book = hardware_book(hardware, load_constants())
    total = estimate(
        Scope("ring", "calibration", "ring"), counts, oscillator_terms(hardware, counts), book
    ).total
    assert total.covers(ring.cycle_energy_j)
    assert 1.5 < total.width < 3.0
    fit = ring_fit()
    expected = (fit.per_width_f_per_um * ring.width_um + fit.fixed_f) * ring.stages * ring.vdd_v**2
    assert total.value_j == near(expected)


def test_the_page_tells_every_candidate():
    page = (Path(__file__).parents[3] / "docs" / "energy_oscillators.md").read_text(encoding="utf-8")
    for form in candidates(RINGS):
        bold = "**" if form.name == "width + fixed" else ""
        outside = ", ".join(f"{100.0 * error:+.0f} %" for error in form.extrapolations)
        numbers = ", ".join(f"{c:.3f}" for c in form.coefficients_ff)
        errors = f"{100.0 * form.leave_one_out_mean:.1f} % | {100.0 * form.leave_one_out_max:.1f} %"
        assert f"| {bold}{form.name}{bold} | {numbers} | {errors} | {outside} |" in page
