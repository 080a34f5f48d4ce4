"""Sums of counts times constants: intervals, sources, tornado; what is refused instead of counted as 0 J."""

import numpy as np
import pytest
from relative import relative

from oscsim.counts import Counts
from oscsim.energy import (
    Book,
    Constant,
    ConstantError,
    EnergyError,
    Interval,
    Refusal,
    Scope,
    Term,
    estimate,
    try_estimate,
)
from oscsim.energy.units import UnitError, quantity
from oscsim.energy.valuation import DRAWS, Draws, draws


def constant(name, value, low, high, unit, how="read", valid=()):
    return Constant(name, value, low, high, unit, None, None, "", valid, "KEY", how, "published", "")


BOOK = Book(
    [
        constant("write", 2e-12, 1e-12, 4e-12, "J/write"),
        constant("spike", 3e-12, 3e-12, 3e-12, "J/spike"),
        constant("vdd", 1.0, 0.5, 2.0, "V"),
        constant("cap", 1e-15, 1e-15, 1e-15, "farad"),
        constant("from_memory", 1e-12, 1e-12, 1e-12, "J/spike", "recalled"),
        constant("guess", 1e-12, 1e-13, 1e-11, "J/spike", "prior"),
        constant("fom", 1e-15, 1e-15, 1e-15, "J/conversion", valid=(("bits", 5.0, 9.0),)),
        Constant(
            "nobody", None, None, None, "J/spike", None, None, "", (), "KEY", "absent", "none", "unpublished"
        ),
    ]
)
COUNTS = Counts({"programming_writes.8": 10, "spikes": 100})
WRITES = Term("writes", "n E", lambda v: quantity(10, "write") * v("write"), ("programming_writes",))
SPIKES = Term("spikes", "n E", lambda v: quantity(100, "spike") * v("spike"), ("spikes",))
SCOPE = Scope("test", "estimate", "nothing")


def spikes_at(name):
    return Term("spikes", "n E", lambda v: quantity(100, "spike") * v(name), ("spikes",))


def test_the_total_is_the_sum_and_its_interval_holds_the_value():
    result = estimate(SCOPE, COUNTS, [WRITES, SPIKES], BOOK)
    assert result.total.value_j == relative(10 * 2e-12 + 100 * 3e-12)
    assert [item.interval.value_j for item in result.items] == relative([2e-11, 3e-10])
    # log-uniform over 1..4: 2.5 % are below 4^0.025
    assert result.total.low_j == relative(1e-11 * 4**0.025 + 3e-10, rel=1e-3)
    assert result.total.high_j == relative(1e-11 * 4**0.975 + 3e-10, rel=1e-3)
    assert set(result.constants) == {"write", "spike"}
    assert result.constants["write"].citation == "KEY"


def test_one_constant_in_two_terms_is_drawn_once():
    """C V^2 twice: the squares must not average out, as they would with independent draws."""
    square = Term("c", "C V^2", lambda v: v("cap") * v("vdd") ** 2, ("oscillators",))
    once = estimate(SCOPE, Counts({"oscillators": 1}), [square], BOOK).total
    twice = estimate(SCOPE, Counts({"oscillators": 1}), [square, square], BOOK).total
    assert twice.width == relative(once.width)
    # 95 % of log-uniform 0.5..2, squared
    assert once.width == relative(4.0 ** (2 * 0.95), rel=1e-2)


@pytest.mark.parametrize("missing", ["programming_writes.8", "spikes"])
def test_an_event_without_a_price_is_an_error_never_zero_joules(missing):
    terms = [SPIKES if missing != "spikes" else WRITES]
    with pytest.raises(EnergyError, match=missing.replace(".", r"\.")):
        estimate(SCOPE, COUNTS, terms, BOOK)


def test_leaving_out_needs_a_reason_that_the_estimate_shows():
    scope = Scope("test", "estimate", "nothing", left_out=(("programming_writes", "done once"),))
    result = estimate(scope, COUNTS, [SPIKES], BOOK)
    assert result.to_json()["left_out"] == [["programming_writes", "done once"]]


@pytest.mark.parametrize("name", ["from_memory", "nobody", "not_there"])
def test_constants_that_must_not_be_used_give_a_refusal(name):
    with pytest.raises(ConstantError, match=name):
        estimate(SCOPE, Counts({"spikes": 1}), [spikes_at(name)], BOOK)
    refused = try_estimate(SCOPE, Counts({"spikes": 1}), [spikes_at(name)], BOOK)
    assert isinstance(refused, Refusal)
    assert name in refused.reason


def test_a_recalled_constant_can_be_allowed_and_is_then_named():
    book = Book(BOOK.values(), allow_recalled=True)
    result = estimate(SCOPE, Counts({"spikes": 1}), [spikes_at("from_memory")], book)
    assert any("from memory" in note and "from_memory" in note for note in result.notes)


def test_a_prior_is_named_as_not_measured():
    result = estimate(SCOPE, Counts({"spikes": 1}), [spikes_at("guess")], BOOK)
    assert any("not measured" in note and "guess" in note for note in result.notes)
    assert result.total.uninformative, "1e-13 .. 1e-11 is wider than 30"
    assert "uninformative" in str(result.total)


def test_a_term_that_is_no_energy_is_an_error():
    wrong = Term("wrong", "C V", lambda v: v("cap") * v("vdd"), ("spikes",))
    with pytest.raises(UnitError, match="expected J"):
        estimate(SCOPE, Counts({"spikes": 1}), [wrong], BOOK)


def test_a_price_of_another_event_is_an_error():
    wrong = Term("wrong", "n E", lambda v: quantity(3, "spike") * v("write"), ("spikes",))
    with pytest.raises(UnitError, match="expected J"):
        estimate(SCOPE, Counts({"spikes": 1}), [wrong], BOOK)


def test_validity_is_checked_where_a_constant_is_used():
    for bits, words in ((12, "given bits = 12"), (None, "say which it is")):
        given = {} if bits is None else {"bits": bits}
        with pytest.raises(ConstantError, match=words):
            BOOK.usable("fom", **given)
    assert BOOK.usable("fom", bits=7).name == "fom"


def test_the_tornado_moves_one_constant_at_a_time_and_sorts_by_swing():
    terms = [WRITES, Term("c", "C V^2", lambda v: v("cap") * v("vdd") ** 2 * 1e4, ("spikes",))]
    levers = estimate(SCOPE, COUNTS, terms, BOOK).levers
    assert [lever.constant for lever in levers] == ["vdd", "write"], "constants without a range are no levers"
    by_name = {lever.constant: lever for lever in levers}
    assert by_name["vdd"].low_j == relative(2e-11 + 0.25e-11)
    assert by_name["vdd"].high_j == relative(2e-11 + 4e-11)
    assert by_name["write"].low_j == relative(1e-11 + 1e-11)


def test_draws_depend_on_name_and_range_alone():
    assert np.array_equal(draws("a", 1, 2), draws("a", 1, 2))
    assert not np.array_equal(draws("a", 1, 2), draws("b", 1, 2))
    assert abs(np.corrcoef(draws("a", 1, 2), draws("b", 1, 2))[0, 1]) < 4 / DRAWS**0.5
    assert np.array_equal(Draws(BOOK)("vdd").magnitude, Draws(BOOK)("vdd").magnitude)


def test_an_option_becomes_a_constant_that_names_it():
    book = BOOK.chosen("vdd", 1.5, "V", "--vdd")
    result = estimate(
        SCOPE,
        Counts({"spikes": 1}),
        [Term("c", "C V^2", lambda v: v("cap") * v("vdd") ** 2, ("spikes",))],
        book,
    )
    assert result.total.low_j == result.total.high_j == relative(2.25e-15)
    assert result.constants["vdd"].citation == "option --vdd"


@pytest.mark.parametrize(("best", "draw"), [(float("inf"), 1.0), (1.0, float("nan")), (1.0, float("inf"))])
def test_what_is_not_finite_is_no_energy(best, draw):
    with pytest.raises(EnergyError, match="expected finite numbers"):
        Interval.of(quantity(best, "J"), quantity([1.0, draw], "J"))
