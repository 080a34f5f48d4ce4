"""What must hold to the last bit on the CPU: causality, sparsity, threads, batches, no memory left unset."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pytest
import torch
from torch import Tensor

from hw_targets.triton.ops import block_map, native_ssa
from hw_targets.triton.ops.normal_form import normal_form
from hw_targets.triton.ops.problem import SSAProblem

ENGINES = native_ssa.engines()
N = 1000  # six tiles of 192, two groups of up to four


def problem(n: int = N, heads: int = 2, batch: int = 1, rows: bool = False, **fields: Any) -> SSAProblem:
    """A noisy ramp: neighbouring tiles lock, distant ones do not."""
    draw = torch.Generator().manual_seed(0)
    omega = 0.2 * torch.randn(batch, heads, n, 8, generator=draw)
    omega[..., 0] += torch.arange(n) / 60
    shape = (batch, heads, n if rows else 1)
    given: dict[str, Any] = {
        "omega": omega,
        "values": torch.randn(batch, heads, n, 24, generator=draw),
        "inverse_square": 0.8 + 0.4 * torch.rand(shape, generator=draw, dtype=torch.float64),
        "selectivity": 6.0 * torch.rand(shape, generator=draw, dtype=torch.float64),
        "coupled": torch.ones(shape, dtype=torch.bool),
        "valid": None,
        "causal": False,
        "precision": "accurate",
    }
    return SSAProblem(**(given | fields))


def both_passes(given: SSAProblem) -> list[Tensor]:
    result = native_ssa.forward(given)
    d_output = torch.randn(given.values.shape, generator=torch.Generator().manual_seed(9))
    return [*result, *native_ssa.backward(given, *result, d_output)]


def equal(first: list[Tensor], second: list[Tensor]) -> bool:
    return all(torch.equal(a, b) and bool(a.isfinite().all()) for a, b in zip(first, second, strict=True))


@contextmanager
def threads(count: int) -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(count)
    try:
        yield
    finally:
        torch.set_num_threads(before)


KINDS = pytest.mark.parametrize(
    ("causal", "rows"), [(False, False), (True, False), (False, True), (True, True)]
)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("rows", [False, True])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_later_tokens_change_no_bit_of_a_causal_row(dtype: torch.dtype, rows: bool, engine: str) -> None:
    given = problem(n=300, rows=rows, causal=True)
    given = replace(given, omega=given.omega.to(dtype))
    with native_ssa.using(engine):
        before = native_ssa.forward(given)
        for cut in (1, 97, 193, 288):
            omega, values = given.omega.clone(), given.values.clone()
            omega[:, :, cut:] = 3.0 * omega[:, :, cut:].flip(2) - 100.0
            values[:, :, cut:] = 1e3
            changed = replace(given, omega=omega, values=values)
            if rows:
                c, w = given.inverse_square.clone(), given.selectivity.clone()
                c[..., cut:], w[..., cut:] = 50.0, 30.0
                changed = replace(changed, inverse_square=c, selectivity=w)
            after = native_ssa.forward(changed)
            assert torch.equal(before.output[:, :, :cut], after.output[:, :, :cut])
            assert torch.equal(before.total[:, :, :cut], after.total[:, :, :cut])


@pytest.mark.parametrize("engine", ENGINES)
@KINDS
def test_sparse_equals_dense(causal: bool, rows: bool, engine: str) -> None:
    valid = torch.arange(N)[None] % 7 > 0
    alpha, gain, order = (
        torch.tensor([0.3, 0.9]),
        torch.tensor([1.1, 1.4]),
        torch.ones(1, 2, N if rows else 1),
    )
    order *= torch.linspace(1.0, 0.6, order.shape[-1])
    form = normal_form(alpha, gain, order)
    given = replace(problem(rows=rows, causal=causal, valid=valid), **form._asdict())
    tiles = block_map(
        given.omega,
        alpha=alpha,
        gain=gain,
        order_parameter=order,
        causal=causal,
        padding=~valid,
        impl="native",
        value_width=24,
    )
    assert tiles.active_share < 0.7
    dropped = {"dropout": 0.2, "seed": torch.tensor(3)}
    with native_ssa.using(engine):
        assert equal(both_passes(given), both_passes(replace(given, tiles=tiles)))
        assert equal(
            both_passes(replace(given, **dropped)), both_passes(replace(given, tiles=tiles, **dropped))
        )


@pytest.mark.parametrize("engine", ENGINES)
@KINDS
def test_the_number_of_threads_changes_nothing(causal: bool, rows: bool, engine: str) -> None:
    for heads in (1, 3):
        given = problem(heads=heads, rows=rows, causal=causal)
        with native_ssa.using(engine):
            results = []
            for count in (1, 2, 3):
                with threads(count):
                    results.append(both_passes(given))
        assert equal(results[0], results[1]) and equal(results[0], results[2])


@pytest.mark.parametrize("engine", ENGINES)
@KINDS
def test_batched_equals_looped(causal: bool, rows: bool, engine: str) -> None:
    given = problem(n=200, batch=2, heads=2, rows=rows, causal=causal)
    with native_ssa.using(engine):
        together = both_passes(given)
        for b in range(2):
            for h in range(2):
                one = {
                    name: getattr(given, name)[b : b + 1, h : h + 1]
                    for name in ("omega", "values", "inverse_square", "selectivity", "coupled")
                }
                d_output = torch.randn(given.values.shape, generator=torch.Generator().manual_seed(9))
                alone = replace(given, **one)
                result = native_ssa.forward(alone)
                grads = native_ssa.backward(alone, *result, d_output[b : b + 1, h : h + 1])
                assert equal([*result, *grads], [x[b : b + 1, h : h + 1] for x in together])


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("n", [1, 17, 192, 193])
def test_every_output_is_written(n: int, engine: str, monkeypatch: pytest.MonkeyPatch) -> None:
    empty = torch.empty
    monkeypatch.setattr(torch, "empty", lambda *shape: empty(*shape).fill_(torch.nan))
    valid = torch.arange(n)[None] % 5 < 4
    with native_ssa.using(engine):
        for causal in (False, True):
            assert all(bool(x.isfinite().all()) for x in both_passes(problem(n, causal=causal, valid=valid)))
            nobody = problem(n, causal=causal, valid=torch.zeros(1, n, dtype=torch.bool))
            assert not any(x.any() for x in both_passes(nobody))


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("causal", [False, True])
def test_the_last_rows_alone_are_those_of_all_rows(causal: bool, engine: str) -> None:
    given = problem(n=300, rows=True, causal=causal)
    with native_ssa.using(engine):
        whole = native_ssa.forward(given)
        for first in (1, 191, 192, 250, 299):
            part = native_ssa.forward(replace(given, first_row=first))
            assert part.output.shape[2] == 300 - first
            if engine == "portable":  # BLAS chooses its own order of sums by the size of a product
                assert torch.allclose(part.output, whole.output[:, :, first:], rtol=0, atol=1e-5)
            else:
                assert equal(list(part), [x[:, :, first:] for x in whole])


def test_no_tokens_and_no_heads_give_empty_results() -> None:
    for shape in ((0, 2, 5, 3), (1, 2, 0, 3)):
        rows = (*shape[:2], 1)
        given = problem(
            omega=torch.zeros(shape),
            values=torch.zeros(shape),
            inverse_square=torch.ones(rows, dtype=torch.float64),
            selectivity=torch.ones(rows, dtype=torch.float64),
            coupled=torch.ones(rows, dtype=torch.bool),
        )
        assert [x.numel() for x in both_passes(given)] == [0] * 6
