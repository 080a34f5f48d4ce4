"""What must hold to the last bit of the Triton kernels: causality, sparsity, batches, memory left unset."""

from dataclasses import replace
from typing import Any

import pytest
import torch
from torch import Tensor

from hw_targets.triton.ops import block_map, fused, fused_operands
from hw_targets.triton.ops.normal_form import normal_form
from hw_targets.triton.ops.problem import SSAProblem


def problem(n: int = 150, batch: int = 1, rows: bool = False, **fields: Any) -> SSAProblem:
    """A noisy ramp, so rows of every level: near the centre, steep, and far away."""
    draw = torch.Generator().manual_seed(0)
    omega = 0.1 * torch.randn(batch, 2, n, 3, generator=draw)
    omega[..., 0] += torch.arange(n) / 25
    shape = (batch, 2, n if rows else 1)
    given: dict[str, Any] = {
        "omega": omega,
        "values": torch.randn(batch, 2, n, 5, generator=draw).half(),
        "inverse_square": 0.8 + 0.4 * torch.rand(shape, generator=draw, dtype=torch.float64),
        "selectivity": 3.0 * torch.rand(shape, generator=draw, dtype=torch.float64),
        "coupled": torch.ones(shape, dtype=torch.bool),
        "valid": None,
        "causal": False,
        "precision": "accurate",
        "edge": "smooth",
        "eps": 0.03,
    }
    return SSAProblem(**(given | fields))


def both_passes(given: SSAProblem) -> list[Tensor]:
    result = fused.forward(given)
    d_output = torch.randn(given.values.shape, generator=torch.Generator().manual_seed(9)).half()
    return [*result, *fused.backward(given, *result, d_output)]


def equal(first: list[Tensor], second: list[Tensor]) -> bool:
    return all(torch.equal(a, b) and bool(a.isfinite().all()) for a, b in zip(first, second, strict=True))


@pytest.mark.parametrize("rows", [False, True])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_later_tokens_change_no_bit_of_a_causal_row(dtype: torch.dtype, rows: bool) -> None:
    given = problem(rows=rows, causal=True)
    given = replace(given, omega=given.omega.to(dtype))
    before = fused.forward(given)
    for cut in (1, 65, 140):
        omega, values = given.omega.clone(), given.values.clone()
        omega[:, :, cut:] = 3.0 * omega[:, :, cut:].flip(2) - 100.0
        values[:, :, cut:] = 1e3
        changed = replace(given, omega=omega, values=values)
        if rows:
            c, w = given.inverse_square.clone(), given.selectivity.clone()
            c[..., cut:], w[..., cut:] = 50.0, 30.0
            changed = replace(changed, inverse_square=c, selectivity=w)
        after = fused.forward(changed)
        assert torch.equal(before.output[:, :, :cut], after.output[:, :, :cut])
        assert torch.equal(before.total[:, :, :cut], after.total[:, :, :cut])


@pytest.mark.parametrize("first", [1, 70, 149])
def test_last_rows_alone_are_those_of_the_whole(first: int) -> None:
    given = problem(rows=True, causal=True)
    whole, part = fused.forward(given), fused.forward(replace(given, first_row=first))
    assert torch.equal(part.output, whole.output[:, :, first:])
    assert torch.equal(part.total, whole.total[:, :, first:])


@pytest.mark.parametrize(("causal", "rows"), [(False, False), (True, False), (False, True), (True, True)])
def test_sparse_equals_dense(causal: bool, rows: bool) -> None:
    n = 300
    valid = torch.arange(n)[None] % 7 > 0
    alpha, gain = torch.tensor([0.9]), torch.tensor([1.1])
    order = torch.linspace(1.0, 0.6, n if rows else 1).expand(1, 1, -1).contiguous()
    form = normal_form(alpha, gain, order)
    given = problem(n, rows=rows, causal=causal, valid=valid)
    given = replace(given, omega=given.omega[:, :1], values=given.values[:, :1], **form._asdict())
    mapped = block_map(
        given.omega,
        alpha=alpha,
        gain=gain,
        order_parameter=order,
        causal=causal,
        padding=~valid,
        impl="triton",
        value_width=5,
    )
    assert mapped.active_share < 0.9
    assert equal(both_passes(given), both_passes(replace(given, tiles=mapped)))


@pytest.mark.parametrize(("causal", "rows"), [(False, False), (True, True)])
def test_batched_equals_looped_and_runs_repeat(causal: bool, rows: bool) -> None:
    given = problem(n=70, batch=2, rows=rows, causal=causal)
    together = both_passes(given)
    assert equal(together, both_passes(given))
    d_output = torch.randn(given.values.shape, generator=torch.Generator().manual_seed(9)).half()
    for b, h in ((0, 0), (1, 1)):
        one = {
            name: getattr(given, name)[b : b + 1, h : h + 1]
            for name in ("omega", "values", "inverse_square", "selectivity", "coupled")
        }
        alone = replace(given, **one)
        result = fused.forward(alone)
        grads = fused.backward(alone, *result, d_output[b : b + 1, h : h + 1])
        assert equal([*result, *grads], [x[b : b + 1, h : h + 1] for x in together])


def poisoned(shape: tuple[int, ...], dtype: torch.dtype, device: torch.device) -> Tensor:
    if dtype.is_floating_point:
        return torch.full(shape, torch.nan, dtype=dtype, device=device)
    return torch.full(shape, 2**20, dtype=dtype, device=device)


@pytest.mark.parametrize("padding", [False, True])
@pytest.mark.parametrize("n", [1, 17, 70])
def test_every_number_that_is_read_was_written(monkeypatch, n: int, padding: bool) -> None:
    valid = torch.arange(n)[None] % 5 != 1 if padding else None
    cases = [
        problem(n, valid=valid),
        problem(n, rows=True, causal=True, valid=valid),
    ]
    clean = [[*both_passes(given), fused.synchronization(given)] for given in cases]
    monkeypatch.setattr(fused, "empty", poisoned)
    monkeypatch.setattr(fused_operands, "empty", poisoned)
    for given, expected in zip(cases, clean, strict=True):
        assert equal([*both_passes(given), fused.synchronization(given)], expected)


@pytest.mark.parametrize("causal", [False, True])
def test_padded_tokens_may_hold_anything(causal: bool) -> None:
    valid = torch.arange(70)[None] % 3 > 0
    given = problem(70, valid=valid, causal=causal)
    omega, values = given.omega.clone(), given.values.clone()
    omega[:, :, ::3], values[:, :, ::3] = torch.nan, torch.inf
    spoiled = replace(given, omega=omega, values=values)
    clean = fused.forward(given)
    assert equal([*clean], [*fused.forward(spoiled)])
    d_output = torch.ones_like(values)
    grads = fused.backward(given, *clean, d_output)
    d_output[:, :, ::3] = torch.nan
    assert equal([*grads], [*fused.backward(spoiled, *clean, d_output)])
    assert not clean.output[:, :, ::3].any() and not grads.omega[:, :, ::3].any()


def test_rows_of_every_level_are_tested() -> None:
    levels = [fused_operands.prepare(problem(rows=True), backward=b).tensors["level"] for b in (False, True)]
    assert all(set(level[:, :150].flatten().tolist()) == {0, 1, 2} for level in levels)
