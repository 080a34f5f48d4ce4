"""The GPU at its best: which unit bounds it, power laws in joules, and what it says about itself."""

from dataclasses import replace

import pytest
from relative import relative

from oscsim.counts import Counts
from oscsim.energy import EnergyError, Estimate, Refusal, load_constants
from oscsim.energy.baselines import gpu_estimate

BOOK = load_constants()
PRODUCTS = {"multiply_accumulates.bfloat16": 1e9, "bytes.hbm": 10.0}
MOVES = {"bytes.hbm": 1e9, "multiply_accumulates.bfloat16": 10.0}


def joules(counts: dict[str, float], device: str = "h200") -> float:
    result = gpu_estimate(Counts(counts), BOOK, device)
    assert isinstance(result, Estimate), result
    return result.total.value_j


def value(name: str) -> float:
    number = BOOK[name].value
    assert number is not None
    return number


@pytest.mark.parametrize("device", ["h200", "a100"])
def test_the_high_end_is_the_maximum_power_for_two_operations_per_product(device: str) -> None:
    best = gpu_estimate(Counts(PRODUCTS), BOOK, device)
    assert isinstance(best, Estimate)
    expected = value(f"{device}_tdp") * 2e9 / value(f"{device}_bf16_peak")
    lever = best.levers[0]
    assert lever.constant == "gpu_power_share"
    assert lever.high_j == relative(expected, rel=1e-12)
    assert best.total.low_j < best.total.value_j < best.total.high_j <= expected


def test_joules_per_operation_at_the_maximum_are_the_published_ratio() -> None:
    for device in ("h200", "a100"):
        lever = gpu_estimate(Counts(PRODUCTS), BOOK, device).levers[0]  # type: ignore[union-attr]
        assert lever.high_j / 2e9 == relative(value(f"{device}_bf16_flop"), rel=0.01)


@pytest.mark.parametrize("counts", [PRODUCTS, MOVES])
def test_energy_is_proportional_to_what_bounds_it(counts: dict[str, float]) -> None:
    bound = next(iter(counts))
    doubled = {**counts, bound: 2 * counts[bound]}
    assert joules(doubled) == relative(2 * joules(counts), rel=1e-12)
    other = next(name for name in counts if name != bound)
    assert joules({**counts, other: 2 * counts[other]}) == joules(counts)


def test_float32_products_are_slower_than_products_of_sixteen_bits() -> None:
    ratio = joules({"multiply_accumulates.float32": 1e9}) / joules({"multiply_accumulates.bfloat16": 1e9})
    assert ratio == relative(989 / 67, rel=1e-12)
    assert joules({"multiply_accumulates.float16": 1e9}) == joules({"multiply_accumulates.bfloat16": 1e9})
    sixth = {"additions.float32": 1e9, "multiplications.float32": 2e9, "special_functions.float32": 3e9}
    assert joules(sixth) == relative(3 * joules({"multiply_accumulates.float32": 1e9}), rel=1e-12)


def test_units_work_side_by_side() -> None:
    parts = {"multiply_accumulates.bfloat16": 1e9, "additions.float32": 5e7, "bytes.hbm": 1e6}
    assert joules(parts) == max(joules({name: number}) for name, number in parts.items())


def test_it_says_what_it_is() -> None:
    result = gpu_estimate(Counts({**PRODUCTS, "bytes.l2": 1e12}), BOOK, accuracy=1e-5)
    assert isinstance(result, Estimate)
    assert result.kind == "best case" and result.boundary.startswith("board") and result.accuracy == 1e-5
    assert [name for name, _ in result.left_out] == ["bytes.l2"]
    notes = "; ".join(result.notes)
    coarse = gpu_estimate(Counts(PRODUCTS), BOOK, accuracy=0.016, asked=0.01)
    assert "promises 0.016, asked 0.01" in "; ".join(getattr(coarse, "notes", ()))
    assert "less accurate" not in notes and result.name == "triton on H200 at its best"
    assert "best case of this kernel" in notes and "no bound of every kernel" in notes
    assert "launch of kernels" in notes and "bound by tensor cores" in notes and "not measured" in notes


def test_what_it_does_not_know_is_no_joule() -> None:
    with pytest.raises(EnergyError, match=r"multiply_accumulates\.float64"):
        gpu_estimate(Counts({"multiply_accumulates.float64": 1.0}), BOOK)
    with pytest.raises(EnergyError, match="spikes"):
        gpu_estimate(Counts({"spikes": 1.0}), BOOK)
    with pytest.raises(EnergyError, match="expected one of h200, a100"):
        gpu_estimate(Counts(PRODUCTS), BOOK, "v100")


def test_every_missing_constant_is_named() -> None:

    names = ("h200_tdp", "h200_hbm_bandwidth")
    result = gpu_estimate(Counts(PRODUCTS), BOOK.replaced(replace(BOOK[n], how="recalled") for n in names))
    assert isinstance(result, Refusal)
    assert all(name in result.reason for name in names)
