"""The packaged map: it is what this program computes, and agrees with an earlier, independent study."""

import hashlib
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest

from oscsim.regime import CONVENTIONS, Grid, packaged_map, read_csv, rows_of, simulate, sweep
from oscsim.regime.figure import caption, png

# mean |S error| at N = 32, K = alpha = 1.313 over 8 seeds, measured before this program existed with other
# draws and another integrator; and the range its 4-seed means covered
TABLE = {"steady": {0.1: 0.001, 0.3: 0.045, 0.5: 0.099, 1.0: 0.076},
         "given": {0.1: 0.34, 0.3: 0.46, 0.5: 0.26, 1.0: 0.07}}  # fmt: skip
FOUR_SEED_MEANS = {0.1: (0.0, 0.0015), 0.3: (0.027, 0.053), 0.5: (0.056, 0.104), 1.0: (0.045, 0.089)}


@pytest.fixture(scope="module")
def rows():
    return packaged_map()


def test_the_map_is_the_default_grid(rows):
    assert [row.cell for row in rows[:: len(CONVENTIONS)]] == Grid().cells
    assert all(row.seeds == Grid().seeds for row in rows)
    assert [row.convention for row in rows] == list(CONVENTIONS) * len(Grid().cells)


def test_three_cells_drawn_from_the_map_are_computed_again(rows):
    """Two small ones and one of 32 oscillators; which ones follows from the file itself."""
    text = files("oscsim.regime").joinpath("map.csv").read_bytes()
    rng = np.random.default_rng(list(hashlib.sha256(text).digest()))
    small = sorted({row.cell for row in rows if row.n in (2, 8)}, key=str)
    quick = sorted({row.cell for row in rows if row.n == 32 and row.change < 1e-3}, key=str)
    for cell in [*rng.choice(small, 2, replace=False), rng.choice(quick)]:
        again = rows_of(cell, [run for block in Grid().blocks for run in simulate(cell, block)])
        for new, old in zip(again, [row for row in rows if row.cell == cell], strict=True):
            assert new.convention == old.convention
            # of two machines each average is as uncertain as its change; r adds as much to the closed form
            allowed = 4.0 * old.change + 1e-5
            for name in ("mean_error", "low_error", "high_error", "mean_sync"):
                assert abs(getattr(new, name) - getattr(old, name)) <= allowed, (cell, name)
            assert (new.at_rest, new.unsettled, new.oracle) == (old.at_rest, old.unsettled, old.oracle)
            if old.max_change < 1e-3:
                assert abs(new.lock_agreement - old.lock_agreement) < 1e-5


def test_the_earlier_figures_lie_within_the_seeds(rows):
    for name, table in TABLE.items():
        for spread, value in table.items():
            (row,) = [r for r in rows if (*_key(r), r.convention) == (32, spread, 1.313, 1.313, name)]
            assert row.low_error - 5e-4 <= value <= row.high_error + 5e-4, (name, spread)
            if name == "steady":
                low, high = FOUR_SEED_MEANS[spread]
                assert low <= row.mean_error <= high


def _key(row):
    return row.n, row.spread, row.gain, row.alpha


def test_exact_answers_hold_wherever_there_are_any(rows):
    for row in rows:
        if row.n == 2:
            assert row.oracle == 1.0
            if row.convention == "one":
                assert row.max_error == row.oracle_error < 1e-6 and row.lock_agreement == 1.0
        else:
            assert row.oracle == row.at_rest <= row.lockable
        if row.oracle_error is not None:
            assert row.oracle_error < 1e-6
        assert row.unsettled == 0.0 or row.change > 0.0
        assert 0 < row.mean_sync <= 1
        assert row.low_error <= row.mean_error <= row.high_error <= row.max_error


def test_the_rules_of_docs_regime_hold_in_the_map(rows):
    by_cell = {(row.cell, row.convention): row for row in rows}
    others = [row for row in rows if row.convention in ("steady", "one", "self-consistent") and row.n >= 8]
    rules = ((0.97, 0.015, 0.04, 0.003), (0.9, 0.055, 0.17, 0.02), (0.84, 0.085, 0.17, 0.025))
    for least, error, seed, apart in rules:
        within = [row for row in others if by_cell[row.cell, "self-consistent"].order >= least]
        assert len(within) >= 30
        for row in within:
            means = [by_cell[row.cell, name].mean_error for name in ("steady", "one", "self-consistent")]
            assert max(means) - min(means) <= apart, row.cell
            if row.convention == "self-consistent":
                assert row.mean_error <= error and row.high_error <= seed, row.cell
    assert any(row.mean_error > 0.3 for row in others)
    assert any(row.mean_error > row.mean_sync for row in others if row.convention == "steady")


def test_the_figures_without_frequency_coupling_are_in_docs():
    path = Path(__file__).parents[3] / "docs" / "regime" / "alpha0.csv"
    rows = read_csv(path)
    assert [row.cell for row in rows[:: len(CONVENTIONS)]] == Grid(n=(2, 8, 32), alpha=(0.0,)).cells
    own = [row for row in rows if row.convention == "self-consistent" and row.n >= 8]
    for least, error in ((0.97, 0.006), (0.9, 0.045), (0.84, 0.06)):
        assert all(row.mean_error <= error for row in own if row.order >= least)


def test_seeds_change_the_numbers_and_settings_keep_the_draws():
    one, two = (simulate(cell, [0, 1]) for cell in Grid(n=(3,), spread=(0.1, 0.2), gain=(1.0,)).cells)
    assert one[0].agreement["given"].order == two[0].agreement["given"].order
    assert one[0].agreement["given"].order != one[1].agreement["given"].order


def test_the_picture_shows_and_says_everything(rows):
    assert png(rows).startswith(b"\x89PNG")
    for text in CONVENTIONS.values():
        assert text in caption(rows)
    few = sweep(Grid(n=(2,), spread=(0.1,), gain=(1.0,), seeds=1))
    assert png(few).startswith(b"\x89PNG") and "over 1 seed" in caption(few)
