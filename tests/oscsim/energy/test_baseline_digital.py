"""Eight-bit integers at 7 nm: how well they compute S, what they count, power laws in joules, refusals."""

from dataclasses import replace

import numpy as np
import pytest
from relative import relative

from oscsim.energy import Estimate, Refusal, Scope, estimate, load_constants
from oscsim.energy.baselines import digital_estimate, digital_rest, rest_left_out
from oscsim.energy.baselines.digital import BOUNDARY, REST, synchronization_counts
from oscsim.energy.baselines.int8 import int8_error, int8_row
from oscsim.pair_terms import coupling
from oscsim.spec import ExplicitCoupling, FixedOrder, FrequencyCoupling, PhaseLayerSpec

BOOK = load_constants()


def layer(count: int = 16, channels: int = 4, width: int = 0, *, mask: str = "full", heads: int = 1, **more):
    generator = np.random.default_rng(0)
    shape = (heads, count, channels)
    options = {
        "omega": generator.normal(0.0, 0.3, shape),
        "theta": generator.normal(0.0, 0.2, shape),
        "gain": np.full(heads, 1.3),
        "coupling": FrequencyCoupling(np.full(heads, 0.5)),
        "order_parameter": FixedOrder(np.full(heads, 0.9)),
        "values": generator.normal(size=(heads, count, width)) if width else None,
        "mask": mask,
        "dynamics": "pair",
    }
    return PhaseLayerSpec(**{**options, **more})


def joules(spec: PhaseLayerSpec) -> dict[str, float]:
    result = digital_estimate(spec, BOOK, 0.02)
    assert isinstance(result, Estimate), result
    return {item.name: item.interval.value_j for item in result.items}


def test_error_is_about_one_unit_of_the_last_place() -> None:
    spec = layer(40)
    errors = {bits: int8_error(spec, bits) for bits in (8, 10, 12)}
    for bits, error in errors.items():
        assert 0.2 * 2.0**-bits < error < 3.0 * 2.0**-bits
    assert errors[8] / errors[12] == relative(16.0, rel=0.6)


def test_integers_know_who_locks() -> None:
    spec = layer(24, 3)
    j = coupling(spec)
    d = np.sqrt(np.square(spec.omega[0, 5] - spec.omega[0]).sum(axis=1))
    ratio = d / (1.3 * 0.9 * j[0, 5])
    row = int8_row(spec, j, 0, 5)
    assert np.all(row[ratio < 0.95] > 0.0) and np.all(row[ratio > 1.05] == 0.0)
    assert row[5] == 1.0
    assert {bool(x) for x in ratio < 0.95} == {True, False}


def test_a_common_offset_costs_no_digit() -> None:
    spec = layer(24, 3)
    far = layer(24, 3, omega=spec.omega + 100.0)
    assert int8_error(far) == relative(int8_error(spec), rel=0.5)


def test_explicit_coupling_without_drive_locks_only_the_equal() -> None:
    matrix = np.random.default_rng(1).normal(size=(1, 6, 6))
    spec = layer(6, 2, coupling=ExplicitCoupling(matrix), gain=np.zeros(1))
    assert int8_error(spec) == 0.0


@pytest.mark.parametrize(("mask", "cells"), [("full", 2 * 9 * 9), ("causal", 2 * 45)])
def test_counts_are_those_of_the_formula(mask: str, cells: int) -> None:
    counts = synchronization_counts(layer(9, 5, mask=mask, heads=2))
    assert counts["multiply_accumulates.int8"] == 5 * cells
    assert counts["additions.int32"] == 6 * cells
    assert counts["special_functions.int8"] == 2 * cells
    stored = np.ones((2, 9, 9))
    explicit = synchronization_counts(layer(9, 5, mask=mask, heads=2, coupling=ExplicitCoupling(stored)))
    assert explicit["special_functions.int8"] == cells
    assert explicit["bytes.sram"] == counts["bytes.sram"] + cells


def test_padding_is_not_computed() -> None:
    padding = np.array([False] * 7 + [True] * 3)
    padded, short = layer(10, padding=padding), layer(7)
    assert synchronization_counts(padded) == synchronization_counts(short)


def test_power_laws_in_joules() -> None:
    mac, small = "multiply_accumulates.int8", joules(layer(16, 4))
    assert joules(layer(32, 4))[mac] == relative(4 * small[mac], rel=1e-12)
    assert joules(layer(16, 8))[mac] == relative(2 * small[mac], rel=1e-12)
    assert joules(layer(16, 4, heads=3))[mac] == relative(3 * small[mac], rel=1e-12)
    values = [joules(layer(16, 4, width))[mac] - small[mac] for width in (5, 10)]
    assert values[1] == relative(2 * values[0], rel=1e-9)


def test_a_multiply_accumulate_is_a_product_a_sum_and_a_movement() -> None:
    items = joules(layer())
    cells = 16 * 16
    price = (BOOK["int8_mul_7nm"].value or 0.0) + (BOOK["int32_add_7nm"].value or 0.0)
    assert items["multiply_accumulates.int8"] == relative(4 * cells * price, rel=1e-12)
    result = digital_estimate(layer(), BOOK, 0.02)
    assert isinstance(result, Estimate)
    access, reuse = BOOK["sram_8KB_64b_7nm"].value or 0.0, BOOK["operand_reuse"].value or 0.0
    assert items["bytes.operand"] == relative(2 * 4 * cells / 8 * access / reuse, rel=1e-12)
    # S of every cell and the own frequencies of every row; S again and weights of every cell
    assert items["bytes.sram"] == relative((3 * cells + 2 * 16 * 4) / 8 * access, rel=1e-12)
    lever = next(lever for lever in result.levers if lever.constant == "operand_reuse")
    assert lever.low_j > result.total.value_j > lever.high_j


def test_a_larger_layer_needs_a_larger_memory() -> None:
    names = {name for count in (16, 120, 300) for name in _memories(count)}
    assert names == {"sram_8KB_64b_7nm", "sram_32KB_64b_7nm", "sram_1MB_64b_7nm"}


def _memories(count: int) -> set[str]:
    _, terms = digital_rest(layer(count))
    counts, scope = digital_rest(layer(count))[0], Scope("rest", "estimate", BOUNDARY)
    items = {item.name: item for item in estimate(scope, counts, terms, BOOK).items}
    return {constant.name for constant in items["bytes.sram"].constants}


def test_what_eight_bits_cannot_give_is_refused() -> None:
    result = digital_estimate(layer(), BOOK, 1e-4)
    assert isinstance(result, Refusal) and "asked 0.0001" in result.reason and "eight bits" in result.reason
    other = digital_estimate(layer(dynamics="network"), BOOK, 0.02)
    assert isinstance(other, Refusal) and "network" in other.reason


def test_every_missing_constant_is_named_and_memory_can_be_allowed() -> None:
    names = ("int8_mul_7nm", "int32_add_7nm", "sram_8KB_64b_7nm")
    changed = BOOK.replaced(replace(BOOK[name], how="recalled") for name in names)
    result = digital_estimate(layer(), changed, 0.02)
    assert isinstance(result, Refusal) and all(name in result.reason for name in names)
    changed.allow_recalled = True
    allowed = digital_estimate(layer(), changed, 0.02)
    assert isinstance(allowed, Estimate)
    assert any("from memory" in note and all(name in note for name in names) for note in allowed.notes)


def test_the_rest_is_left_out_by_name_where_it_has_no_price() -> None:
    assert rest_left_out(layer(width=3), BOOK) == ()
    absent = BOOK.replaced([replace(BOOK["int32_add_7nm"], how="recalled")])
    ((name, reason),) = rest_left_out(layer(width=3), absent)
    assert name == REST and "int32_add_7nm" in reason


def test_the_rest_of_a_layer_with_and_without_values() -> None:
    with_values, without = digital_rest(layer(12, width=5))[0], digital_rest(layer(12))[0]
    assert with_values["multiply_accumulates.int8"] == 12 * 12 * 5
    assert with_values["multiplications.int8"] == 12 * 5 and without["multiplications.int8"] == 12 * 12
    assert without["multiply_accumulates.int8"] == 0.0


@pytest.mark.parametrize("gain", [1.3, 13.0, 130.0])
def test_strong_coupling_costs_no_digit_where_frequencies_decide(gain: float) -> None:
    """With alpha > 0 nothing beyond d* locks, however large K r is: the digits belong to what can."""
    spec = layer(40, gain=np.array([gain]), coupling=FrequencyCoupling(np.array([3.0])))
    assert int8_error(spec) < 3.0 * 2.0**-8
