"""CPU kernels, every instruction set of this machine, against the normal form in float64."""

import itertools
from dataclasses import replace
from typing import Any

import pytest
import torch
from ssa_oracle import edge_distance, gradients, random_case
from ssa_rounding import tolerances
from torch import Tensor

from hw_targets.triton.ops import eager, native_ssa, ssa_attention
from hw_targets.triton.ops.dropout import keep_mask
from hw_targets.triton.ops.problem import SSAProblem
from oscsim.errors import ConfigError

ENGINES = native_ssa.engines()


def problem(n: int, channels: int = 16, width: int = 16, **fields: Any) -> SSAProblem:
    """Random frequencies of which about a third lock, of two heads."""
    draw = torch.Generator().manual_seed(n + channels + width)
    rows = n if fields.pop("rows", False) else 1
    largest = fields.pop("w", 1.3)
    batch = fields.pop("batch", 1)
    spread = fields.pop("spread", 1.05 / (2 * channels) ** 0.5)
    shape = (batch, 2, rows)
    omega = spread * torch.randn(batch, 2, n, channels, generator=draw, dtype=torch.float64)
    given: dict[str, Any] = {
        "omega": omega.float(),
        "values": torch.randn(batch, 2, n, width, generator=draw),
        "inverse_square": 0.7 + 0.6 * torch.rand(shape, generator=draw, dtype=torch.float64),
        "selectivity": largest * torch.rand(shape, generator=draw, dtype=torch.float64),
        "coupled": torch.ones(shape, dtype=torch.bool),
        "valid": None,
        "causal": False,
        "precision": "accurate",
    }
    return SSAProblem(**(given | fields))


def agrees(given: SSAProblem, engine: str, factor: float = 1.0) -> None:
    """Forward and all gradients within what rounding may do."""
    keep = torch.ones(())
    if given.seed is not None:
        batch, heads, n, _ = given.omega.shape
        every = torch.arange(n)
        keep = keep_mask(given.seed, batch * heads, every, every, given.dropout).view(batch, heads, n, n)
        keep = keep / (1.0 - given.dropout)
    draw = torch.Generator().manual_seed(5)
    d_output = torch.randn(given.values.shape, generator=draw)
    exact, allowed = tolerances(given, d_output, eager.mask(given), keep)
    with native_ssa.using(engine):
        output, total = native_ssa.forward(given)
        grads = native_ssa.backward(given, output, total, d_output)
    found = {"output": output, "total": total, **grads._asdict()}
    if given.selectivity.shape[-1] == 1:
        for name in ("log_inverse_square", "selectivity"):
            found[name] = found[name].double().sum(-1)
    for name, expected in exact.items():
        error = float((found[name].double() - expected).abs().max())
        assert error <= factor * allowed[name], (name, error, allowed[name], float(expected.abs().max()))


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("rows", [False, True])
@pytest.mark.parametrize("n", [1, 3, 17, 63, 130, 257])
def test_every_size(n: int, rows: bool, causal: bool, engine: str) -> None:
    agrees(problem(n, causal=causal, rows=rows), engine)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(("channels", "width"), [(1, 5), (5, 1), (16, 64), (64, 16), (128, 33), (7, 128)])
def test_every_width(channels: int, width: int, engine: str) -> None:
    for causal in (False, True):
        agrees(problem(130, channels, width, causal=causal), engine)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("w", [0.0, 0.9, 2.5, 4.5, 7.0, 60.0])
def test_every_law(w: float, engine: str) -> None:
    for rows in (False, True):
        agrees(problem(100, w=w, rows=rows), engine)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(("edge", "eps"), [("smooth", 0.1), ("clamp", 0.1), ("exact", 0.0)])
@pytest.mark.parametrize("rows", [False, True])
def test_every_rule_at_the_edge(rows: bool, edge: str, eps: float, engine: str) -> None:
    agrees(problem(100, rows=rows, edge=edge, eps=eps), engine)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("causal", [False, True])
def test_padding_and_dropout(causal: bool, engine: str) -> None:
    valid = torch.rand(2, 130, generator=torch.Generator().manual_seed(1)) < 0.7
    valid[1, 96:] = False
    given = problem(130, batch=2, causal=causal, valid=valid)
    agrees(given, engine)
    agrees(replace(given, dropout=0.3, seed=torch.tensor(11)), engine)
    agrees(replace(given, valid=None, dropout=0.3, seed=torch.tensor(2**40 + 11)), engine)


@pytest.mark.parametrize("engine", ENGINES)
def test_padded_tokens_may_hold_anything(engine: str) -> None:
    valid = torch.arange(130)[None] % 3 > 0
    given = problem(130, valid=valid)
    omega, values = given.omega.clone(), given.values.clone()
    omega[:, :, ::3], values[:, :, ::3] = torch.nan, torch.inf
    spoiled = replace(given, omega=omega, values=values)
    d_output = torch.ones_like(values)
    with native_ssa.using(engine):
        clean, dirty = native_ssa.forward(given), native_ssa.forward(spoiled)
        grads = [native_ssa.backward(x, *clean, d_output) for x in (given, spoiled)]
    for a, b in zip((*clean, *grads[0]), (*dirty, *grads[1]), strict=True):
        assert torch.equal(a, b)
    assert not clean.output[:, :, ::3].any() and not grads[0].omega[:, :, ::3].any()


def layouts(n: int = 200) -> dict[str, Tensor]:
    """Frequencies in float64 whose products would cancel, in units of the lock radius."""
    draw = torch.Generator().manual_seed(3)
    noise = torch.randn(1, 2, n, 4, generator=draw, dtype=torch.float64)
    signs = torch.where(torch.rand(1, 2, n, 1, generator=draw) < 0.5, -100.0, 100.0)
    ramp = torch.arange(65536 - n, 65536, dtype=torch.float64).view(1, 1, n, 1) / 40
    near = torch.linspace(-1, 1, n, dtype=torch.float64).view(1, 1, n, 1) * 2e-3
    return {
        "clusters at 100 with spread 0.02": (signs + 0.02 * noise) / 0.05,
        "ramp up to 65,536": ramp + 0.2 * noise,
        "offset 1e6": 1e6 + 0.4 * noise,
        "near the edge": torch.where(torch.arange(n).view(1, 1, n, 1) % 2 == 0, 0.5 + near, near).repeat(
            1, 2, 1, 4
        ),
        "identical": torch.zeros(1, 2, n, 4, dtype=torch.float64),
        "nothing locked": 1e3 * noise,
        "everything locked": 1e-3 * noise,
    }


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("name", layouts())
def test_frequencies_that_cancel(name: str, engine: str) -> None:
    omega = layouts()[name]
    for dtype, causal in itertools.product((torch.float32, torch.float64), (False, True)):
        given = problem(omega.shape[2], 4, 8, causal=causal, omega=omega.to(dtype))
        agrees(replace(given, inverse_square=torch.ones_like(given.inverse_square)), engine)


@pytest.mark.parametrize("engine", ENGINES)
def test_uncoupled_heads_and_rows(engine: str) -> None:
    given = problem(130, 2, 8)
    omega = given.omega.clone()
    omega[:, :, 60:100] = omega[:, :, 20:60]
    for causal in (False, True):
        one = replace(given, omega=omega, causal=causal, coupled=torch.tensor([[[True], [False]]]))
        agrees(replace(one, inverse_square=given.inverse_square * one.coupled), engine)
        some = problem(130, 2, 8, rows=True, omega=omega, causal=causal)
        coupled = (torch.arange(130) % 4 > 0).expand_as(some.coupled)
        agrees(replace(some, coupled=coupled, inverse_square=some.inverse_square * coupled), engine)


@pytest.mark.parametrize("engine", ENGINES)
def test_differences_only(engine: str) -> None:
    agrees(problem(130, precision="fp32"), engine, factor=0.5)
    agrees(problem(130, precision="fp32", rows=True, causal=True), engine, factor=0.5)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
@pytest.mark.parametrize("engine", ENGINES)
def test_sixteen_bit_values_are_no_worse_than_twice_eager(engine: str, dtype: torch.dtype) -> None:
    given = problem(200, causal=True)
    given = replace(given, values=given.values.to(dtype))
    draw = torch.Generator().manual_seed(5)
    d_output = torch.randn(given.values.shape, generator=draw).to(dtype)
    exact, _ = tolerances(given, d_output, eager.mask(given), torch.ones(()))
    reference = eager.forward(given)
    by_eager = eager.backward(given, *reference, d_output)
    with native_ssa.using(engine):
        found = native_ssa.forward(given)
        grads = native_ssa.backward(given, *found, d_output)
    assert found.output.dtype == grads.values.dtype == dtype
    for own, other, name in (
        (found.output, reference.output, "output"),
        (grads.values, by_eager.values, "values"),
        (grads.omega, by_eager.omega, "omega"),
    ):
        expected = getattr(exact, name)
        assert (own.double() - expected).abs().max() <= 2 * (other.double() - expected).abs().max(), name


@pytest.mark.parametrize("engine", ENGINES)
def test_the_public_op_differentiates_by_everything_learned(engine: str) -> None:
    for rows in (False, True):
        case = random_case(130, rows=rows, causal=rows, seed=5).rounded(torch.float32)
        given = case.arguments(torch.float32)
        leaves = {name: x for name, x in given.items() if isinstance(x, Tensor)}
        omega, values = given.pop("omega"), given.pop("values")
        d_output = torch.randn(values.shape, generator=torch.Generator().manual_seed(1))
        with native_ssa.using(engine):
            ssa_attention(omega, values, **given, edge="exact", impl="native").backward(d_output)
        exact = gradients(case, d_output.double())
        # a gradient has 1/S, and S^2 four roundings of u
        tolerance = 4 * 2.0**-24 / float(edge_distance(case)) ** 2
        for name, leaf in leaves.items():
            expected = exact[name.removesuffix("_parameter")]
            assert (leaf.grad - expected).abs().max() <= tolerance * expected.abs().max(), name


def test_what_it_cannot_do_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"D = 129.*at most 128.*impl='eager'"):
        native_ssa.forward(problem(3, channels=129))
    with pytest.raises(ConfigError, match=r"top_k: given 2.*impl='eager'"):
        native_ssa.forward(problem(3, top_k=2))
    with (
        pytest.raises(ConfigError, match=r"engine: given 'mmx', expected one of portable"),
        native_ssa.using("mmx"),
    ):
        pass
