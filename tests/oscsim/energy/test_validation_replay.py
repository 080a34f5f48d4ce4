"""Published devices against the model: what is predicted, what it is worth, and what is never claimed."""

import math
from dataclasses import replace

import pytest
from relative import relative

from oscsim.energy import load_constants
from oscsim.energy.noise import replay_phase_noise
from oscsim.energy.ring_fit import ring_fit
from oscsim.energy.rings import load_rings
from oscsim.energy.validation.chip_counts import counts_per_second, mean_span
from oscsim.energy.validation.chips import predicted_power, replay, role_of
from oscsim.energy.validation.devices import CHIP_COLUMNS, load_chips
from oscsim.energy.validation.replay import replay as replay_all
from oscsim.energy.validation.rings import cycle_energies
from oscsim.energy.validation.row import QUANTITIES, Range, Row
from oscsim.energy.validation.summary import NOT_VALIDATED, brief, sentence, summaries

BOOK = load_constants()
MADE_UP = """\
ring of nobody,2031,10.0/a,45,1.0,128,448,4,5e8,2e-3,1e-7,2e-10,
tank of nobody,2031,10.0/b,28,0.9,16,120,5,5e9,0.05,,,LC
node of nobody,2031,10.0/c,,1.0,16,120,5,5e9,0.05,1e-6,5e-8,ROSC
gates of nobody,2031,10.0/d,28,0.9,500,1000,5,5e7,0.5,1e-6,5e-7,an FPGA
rusty ROSC,2031,10.0/e,2000,5.0,16,120,5,5e6,0.05,,,
vague ring,2031,10.0/f,65,,64,128,,1e9,3e-3,<2e-7,5e-10,
same chip again,2031,https://doi.org/10.1038/S41928-022-00749-3,65,,1968,7607,2,1.0e9,0.042,5e-8,2.1e-9,ROSC
silent ring,2031,10.0/g,65,1.1,64,128,3,1e9,,,,
lone ring,2031,10.0/i,65,1.1,1,0,,1e9,2e-5,,,
bare ring,2031,10.0/h,65,1.1,64,,3,,1e-3,,,
"""


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    path = tmp_path_factory.mktemp("chips") / "made_up.csv"
    path.write_text(",".join(CHIP_COLUMNS) + "\n" + MADE_UP)
    return replay_all(BOOK, path)


def rows_of(found, device):
    return [row for row in found.rows if row.device == device]


def chip(**changes):
    return replace(load_chips()[0], name="other", doi="10.0/x", vdd_v=1.0, coupling_bits=3.0, **changes)


def test_rings_are_predicted_by_the_others():
    rows = cycle_energies(load_rings())
    assert [row.role for row in rows] == ["calibration"] * 5 + ["extrapolation"] * 2
    ratios = [row.ratio - 1.0 for row in rows]
    fit = ring_fit()
    assert ratios[:5] == relative([residual.error for residual in fit.leave_one_out])
    assert ratios[5:] == relative([residual.error for residual in fit.extrapolations])
    one = summaries(rows)[0]
    assert (one.n_used_in_fit, one.n_independent, one.n_extrapolation) == (5, 0, 2)
    assert one.fit_error_mean <= 0.20 and one.fit_error_max <= 0.30
    assert one.verdict.startswith(NOT_VALIDATED) and one.share_covered is None


def test_a_ring_does_not_predict_itself():
    rings = load_rings()
    for place in (2, 6):
        changed = list(rings)
        changed[place] = replace(rings[place], supply_a=7.0 * rings[place].supply_a)
        before, after = (
            {row.device: row for row in cycle_energies(some)}[f"ring {rings[place].index}"]
            for some in (rings, changed)
        )
        assert after.predicted == before.predicted
        assert after.published == relative(7.0 * before.published)


def test_phase_noise_with_a_constant_from_the_same_paper_is_not_independent(found):
    rows = [row for row in found.rows if row.quantity == "ring_phase_noise"]
    assert len(rows) == 7 and {row.role for row in rows} == {"same paper"}
    for row, one in zip(rows, replay_phase_noise(BOOK), strict=True):
        assert row.predicted.median == one.median != one.predicted  # of the draws
    assert all(abs(10.0 * math.log10(row.ratio)) < 6.0 for row in rows)
    one = summaries(found.rows)[1]
    assert (one.n_independent, one.n_same_paper, one.same_paper_covered) == (0, 7, 5)
    assert one.verdict.startswith("not validated: 0 independent devices; covers 5 of 7 measured in a paper")
    assert "phase noise at 1 MHz (covers 5 of 7 with a constant from the same paper)" in brief([one])


def test_new_devices_without_code(found):
    power, energy = rows_of(found, "ring of nobody")
    assert (power.quantity, energy.quantity) == ("chip_power", "chip_energy_per_solution")
    assert power.role == "independent" and power.compared and power.unit == "W"
    assert energy.predicted.median == relative(1e-7 * power.predicted.median)
    assert energy.role == "repeated"  # 2 mW times 100 ns is what was published
    (tank,) = rows_of(found, "tank of nobody")
    assert tank.predicted.low < tank.predicted.median < tank.predicted.high


@pytest.mark.parametrize(
    ("device", "words"),
    [
        ("node of nobody", "not predictable: technology node unknown"),
        ("gates of nobody", "not predictable: no oscillator circuit: FPGA"),
        ("rusty ROSC", "not predictable: "),
        ("bare ring", "not predictable: couplings, oscillation frequency unknown"),
    ],
)
def test_what_cannot_be_predicted_says_why(found, device, words):
    rows = rows_of(found, device)
    assert rows and all(row.predicted is None and row.reason.startswith(words) for row in rows)
    assert all(row.covered is None and row.ratio is None and not row.compared for row in rows)


def test_unknown_fields_come_from_priors(found):
    power, energy = rows_of(found, "vague ring")
    assert any("supply unknown" in note for note in power.notes)
    assert any("coupling bits unknown: 1 to 8 (prior)" in note for note in power.notes)
    assert energy.notes[0].startswith("settling time is an upper bound") and energy.role == "independent"
    vague = chip(n_osc=64, n_couplings=128)
    wide = predicted_power(replace(vague, coupling_bits=None), BOOK)[0]
    ends = [predicted_power(replace(vague, coupling_bits=bits), BOOK)[0] for bits in (1.0, 8.0)]
    assert (wide.low, wide.high) == (min(e.low for e in ends), max(e.high for e in ends))
    levels = [predicted_power(replace(vague, coupling_bits=bits), BOOK)[0].median for bits in (2.0, 2.3, 3.0)]
    assert levels == sorted(set(levels))


def test_nothing_published_is_nothing_to_compare(found):
    (row,) = rows_of(found, "silent ring")
    assert row.reason == "nothing to compare" and row.predicted is not None and row.published is None
    silent = [c for c in load_chips() if c.power_w is None and c.energy_per_solution_j is None]
    assert silent and all(
        [row.reason.partition(";")[0] for row in replay(chip, BOOK)] == ["nothing to compare"]
        for chip in silent
    )


def test_oscillators_without_couplings_say_nothing_of_couplers(found):
    (row,) = rows_of(found, "lone ring")
    assert (row.quantity, row.role, row.compared) == ("oscillator_power", "independent", True)
    assert not any("coupl" in note for note in row.notes)


def test_calibration_never_validates(found):
    assert {row.role for row in rows_of(found, "same chip again")} == {"calibration"}
    moy = load_chips()[0]
    assert role_of(moy) == role_of(replace(moy, doi="")) == role_of(replace(moy, name="x")) == "calibration"
    assert (
        role_of(replace(moy, name="x", doi="10.1038/s41928-022-00749-4", citation="", n_osc=1024))
        == "independent"
    )
    ours = replay_all(BOOK)
    power, energy = summaries(ours.rows)[3:]
    assert (power.n_used_in_fit, power.n_independent, energy.n_used_in_fit, energy.n_independent) == (
        1,
        0,
        1,
        0,
    )
    assert power.verdict.startswith("not validated: 0 independent devices; for the one it has seen")
    (segment,) = ours.splits
    assert segment.label == "prior, not measured" and segment.oscillator_j[0] < segment.oscillator_j[1]
    assert any("prior, not measured" in note for note in rows_of(ours, moy.name)[0].notes)
    assert sentence(ours.summaries).count(NOT_VALIDATED) == 4
    assert brief(ours.summaries).count(NOT_VALIDATED) == 1
    assert all("predicts 0.13 of what was published" in said(ours.summaries) for said in (sentence, brief))


def test_what_overflows_is_not_predicted():
    power, reason, _ = predicted_power(chip(n_osc=10**300, n_couplings=10), BOOK)
    assert power is None and reason.startswith("not predictable: event 'oscillator_cycles': given inf")


def test_power_laws():
    base = predicted_power(chip(n_osc=400, n_couplings=1200), BOOK)[0]
    twice = predicted_power(chip(n_osc=800, n_couplings=2400), BOOK)[0]
    assert (twice.low, twice.median, twice.high) == relative(
        (2.0 * base.low, 2.0 * base.median, 2.0 * base.high)
    )
    more = predicted_power(chip(n_osc=400, n_couplings=2400), BOOK)[0]
    assert base.median < more.median < twice.median
    assert predicted_power(replace(chip(n_osc=400, n_couplings=1200), f_osc_hz=2e9), BOOK)[0].low > base.low


def test_counts_of_a_second():
    counts = counts_per_second(chip(n_osc=64, n_couplings=2016), 3)
    assert counts["oscillator_cycles"] == 64e9 and counts["coupling_cycles.3"] == 2016e9
    assert counts["wire_spans"] == relative(2016 * 2 / 3 * 8)
    assert mean_span(1968, 7607) == 1.0 and mean_span(100, 0) == 1.0
    assert mean_span(10000, 120000) == relative(5 / 3)  # two rings: (8 * 1 + 16 * 2) / 24
    spans = [mean_span(100, couplings) for couplings in range(0, 5051, 50)]
    assert spans == sorted(spans) and spans[-1] == relative(20 / 3)
    assert counts_per_second(chip(n_osc=64, n_couplings=2016), 2.3)["couplers.2_3"] == 2016
    with pytest.raises(ValueError, match="unknown"):
        counts_per_second(chip(n_osc=None), 3)


def made_up(low, median, high, published, quantity="chip_power", role="independent"):
    return Row(f"{low} {high} {published}", quantity, Range(low, median, high), published, role)


def test_rows_and_summaries():
    row = made_up(1.0, 2.0, 4.0, 4.0)
    assert (row.covered, row.ratio, row.uninformative) == (True, 0.5, False)
    assert not made_up(1.0, 2.0, 4.0, 4.01).covered and made_up(1.0, 2.0, 30.1, 2.0).uninformative
    decibels = made_up(-120.0, -110.0, -105.1, -113.0, "ring_phase_noise")
    assert decibels.ratio == relative(10**0.3) and decibels.uninformative
    assert not made_up(-119.8, -110.0, -105.1, -113.0, "ring_phase_noise").uninformative
    rows = [
        row,
        made_up(1.0, 2.0, 40.0, 3.0),
        made_up(1.0, 2.0, 4.0, 8.0),
        made_up(1.0, 2.0, 4.0, 2.0, role="repeated"),
    ]
    one = {found.quantity: found for found in summaries(rows)}["chip_power"]
    assert (one.n_independent, one.covered, one.uninformative, one.n_repeated) == (3, 2, 1, 1)
    assert one.share_covered == relative(2 / 3) and one.median_ratio == 0.5
    assert one.verdict == "covers 2 of 3 independent devices, 1 of them with an uninformative interval"
    assert [empty.quantity for empty in summaries([])] == list(QUANTITIES)
    assert all(empty.verdict.startswith(NOT_VALIDATED) for empty in summaries([]))


def test_energy_published_as_power_times_a_bound_is_one():
    (moy,) = [
        row for row in replay_all(BOOK).rows if row.quantity == "chip_energy_per_solution" and row.bound
    ]
    assert moy.published_bound and not made_up(1.0, 2.0, 4.0, 4.0).published_bound


def test_one_chip_that_was_seen_counts_once():
    rows = [
        replace(made_up(1.0, 2.0, 4.0, published, role="calibration"), source=source)
        for published, source in ((1.0, "a"), (4.0, "a"), (8.0, "b"))
    ]
    one = {found.quantity: found for found in summaries(rows)}["chip_power"]
    assert (one.n_used_in_fit, one.fit_covered) == (2, 1)
    assert one.fit_ratio == relative((1.25 + 0.25) / 2.0)  # of the medians 1.25 and 0.25
    alone = {found.quantity: found for found in summaries(rows[:2])}["chip_power"]
    assert "for the one it has seen 1.2 times" in alone.verdict
