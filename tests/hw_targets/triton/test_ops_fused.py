"""Triton kernels of selective synchronization attention, interpreted, against the normal form in float64."""

from dataclasses import replace
from typing import Any

import pytest
import torch
from ssa_rounding import tolerances
from torch import Tensor

from hw_targets.triton.ops import eager, fused
from hw_targets.triton.ops.dropout import keep_mask
from hw_targets.triton.ops.fused_table import PLAIN_SELECTIVITY, UNIT, coefficients, degree
from hw_targets.triton.ops.problem import SSAProblem
from oscsim.tolerance import SIXTEEN_BIT_OPERAND

# dL/dS times a frequency is formed from two parts of bfloat16 each: twice 2^-17 of every term
SPLIT = 2.0**-16


def problem(n: int, channels: int = 16, width: int = 16, **fields: Any) -> SSAProblem:
    """Random frequencies of which about a third lock, of two heads."""
    draw = torch.Generator().manual_seed(n + channels + width)
    rows = n if fields.pop("rows", False) else 1
    largest = fields.pop("w", 1.3)
    batch = fields.pop("batch", 1)
    shape = (batch, 2, rows)
    omega = torch.randn(batch, 2, n, channels, generator=draw, dtype=torch.float64) / (2 * channels) ** 0.5
    given: dict[str, Any] = {
        "omega": omega.float(),
        "values": torch.randn(batch, 2, n, width, generator=draw),
        "inverse_square": 0.7 + 0.6 * torch.rand(shape, generator=draw, dtype=torch.float64),
        "selectivity": largest * torch.rand(shape, generator=draw, dtype=torch.float64),
        "coupled": torch.ones(shape, dtype=torch.bool),
        "valid": None,
        "causal": False,
        "precision": "accurate",
        "edge": "smooth",
        "eps": 0.03,
    }
    return SSAProblem(**(given | fields))


def upstream(given: SSAProblem) -> Tensor:
    draw = torch.Generator().manual_seed(5)
    return torch.randn(given.values.shape, generator=draw).to(given.values.dtype)


def computed(given: SSAProblem, module: Any) -> dict[str, Tensor]:
    """Forward and all gradients; sums over rows where a head has one strength."""
    output, total = module.forward(given)
    found = module.backward(given, output, total, upstream(given))._asdict()
    if given.selectivity.shape[-1] == 1:
        for name in ("log_inverse_square", "selectivity"):
            found[name] = found[name].double().sum(-1)
    return {"output": output, "total": total, **found}


def kept(given: SSAProblem) -> Tensor:
    if given.seed is None:
        return torch.ones(())
    batch, heads, n, _ = given.omega.shape
    keep = keep_mask(given.seed, batch * heads, torch.arange(n), torch.arange(n), given.dropout)
    return keep.view(batch, heads, n, n) / (1.0 - given.dropout)


def agrees(given: SSAProblem) -> None:
    """Everything within what rounding may do."""
    exact, allowed = tolerances(given, upstream(given), eager.mask(given), kept(given))
    if given.precision != "fp32":
        split = tolerances(given, upstream(given), eager.mask(given), kept(given), SPLIT)[1]
        allowed["omega"] = split["omega"]
    # a product leaves u_ii with two roundings of 1 (fused_table.PLAIN_SELECTIVITY)
    own = 2.0**-24 * float(given.selectivity.clamp(max=PLAIN_SELECTIVITY).max())
    allowed["total"] += own
    allowed["output"] += own * float(given.values.abs().max())
    found = computed(given, fused)
    for name, expected in exact.items():
        assert found[name].isfinite().all(), name
        error = float((found[name].double() - expected).abs().max())
        assert error <= allowed[name], (name, error, allowed[name], float(expected.abs().max()))


def no_worse_than_twice_eager(given: SSAProblem, operand: float) -> None:
    """Largest errors against the same precision in torch, or a rounding of every term by ``operand``."""
    exact, allowed = tolerances(given, upstream(given), eager.mask(given), kept(given), operand)
    found, reference = computed(given, fused), computed(given, eager)
    for name, expected in exact.items():
        own, other = (float((x[name].double() - expected).abs().max()) for x in (found, reference))
        assert own <= max(2 * other, allowed[name]), (name, own, other, allowed[name])


@pytest.mark.parametrize(
    ("n", "causal", "rows"),
    [
        (1, False, False),
        (1, True, True),
        (3, True, False),
        (17, False, True),
        (63, True, True),
        (130, False, False),
        (130, True, True),
    ],
)
def test_every_size(n: int, causal: bool, rows: bool) -> None:
    agrees(problem(n, causal=causal, rows=rows))


@pytest.mark.parametrize(("channels", "width"), [(1, 5), (20, 1), (128, 33), (7, 128)])
def test_every_width(channels: int, width: int) -> None:
    agrees(problem(70, channels, width, causal=channels == 20))


@pytest.mark.parametrize("w", [0.0, 2.5, 60.0, 1e4])
@pytest.mark.parametrize("rows", [False, True])
def test_every_law(w: float, rows: bool) -> None:
    agrees(problem(40, w=w, rows=rows, causal=rows and w == 2.5))


@pytest.mark.parametrize(("edge", "eps"), [("smooth", 0.1), ("clamp", 0.1), ("exact", 0.0)])
def test_every_rule_at_the_edge(edge: str, eps: float) -> None:
    agrees(problem(40, edge=edge, eps=eps))
    agrees(problem(40, edge=edge, eps=eps, causal=True))


@pytest.mark.parametrize("causal", [False, True])
def test_padding_and_dropout(causal: bool) -> None:
    valid = torch.rand(2, 100, generator=torch.Generator().manual_seed(1)) < 0.7
    valid[1, 64:] = False
    agrees(problem(100, batch=2, causal=causal, valid=valid))
    agrees(problem(67, causal=causal, dropout=0.3, seed=torch.tensor(2**40 + 11)))


def layouts(n: int = 70) -> dict[str, Tensor]:
    """Frequencies whose products would cancel, in units of the lock radius."""
    draw = torch.Generator().manual_seed(3)
    noise = torch.randn(1, 2, n, 4, generator=draw, dtype=torch.float64)
    signs = torch.where(torch.rand(1, 2, n, 1, generator=draw) < 0.5, -100.0, 100.0)
    ramp = torch.arange(65536 - n, 65536, dtype=torch.float64).view(1, 1, n, 1) / 40
    near = torch.linspace(-1, 1, n, dtype=torch.float64).view(1, 1, n, 1) * 2e-3
    outlier = torch.arange(n).view(1, 1, n, 1) % 9 == 0
    return {
        "clusters at 100 with spread 0.02": (signs + 0.02 * noise) / 0.05,
        "ramp up to 65,536": ramp + 0.2 * noise,
        "offset 1e6": 1e6 + 0.4 * noise,
        "near the edge": torch.where(torch.arange(n).view(1, 1, n, 1) % 2 == 0, 0.5 + near, near).repeat(
            1, 2, 1, 4
        ),
        "outliers among many": torch.where(outlier, 40.0 + 0.3 * noise, 0.3 * noise),
        "identical": torch.zeros(1, 2, n, 4, dtype=torch.float64),
        "nothing locked": 1e3 * noise,
        "everything locked": 1e-3 * noise,
    }


@pytest.mark.parametrize("name", layouts())
@pytest.mark.parametrize(("dtype", "causal"), [(torch.float64, False), (torch.float32, True)])
def test_frequencies_that_cancel(name: str, dtype: torch.dtype, causal: bool) -> None:
    omega = layouts()[name]
    given = problem(omega.shape[2], 4, 8, causal=causal, omega=omega.to(dtype))
    agrees(replace(given, inverse_square=torch.ones_like(given.inverse_square)))


def test_uncoupled_heads_and_rows() -> None:
    given = problem(70, 2, 8)
    omega = given.omega.clone()
    omega[:, :, 40:60] = omega[:, :, 20:40]
    one = replace(given, omega=omega, coupled=torch.tensor([[[True], [False]]]))
    agrees(replace(one, inverse_square=given.inverse_square * one.coupled))
    some = problem(70, 2, 8, rows=True, omega=omega, causal=True)
    coupled = (torch.arange(70) % 4 > 0).expand_as(some.coupled)
    agrees(replace(some, coupled=coupled, inverse_square=some.inverse_square * coupled))


def test_strengths_of_one_head_may_differ_a_thousandfold() -> None:
    given = problem(70, 4, 8, rows=True, causal=True)
    agrees(replace(given, inverse_square=given.inverse_square * torch.logspace(-2, 5, 70).double()))


def test_ieee_products() -> None:
    agrees(problem(130, precision="fp32"))


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize(
    ("dtype", "precision"),
    [
        (torch.float16, "accurate"),
        (torch.bfloat16, "accurate"),
        (torch.bfloat16, "fast"),
        (torch.float32, "fast"),
    ],
)
def test_sixteen_bit_numbers_are_no_worse_than_twice_plain_torch(
    dtype: torch.dtype, precision: str, causal: bool
) -> None:
    given = problem(100, causal=causal, precision=precision)
    no_worse_than_twice_eager(replace(given, values=given.values.to(dtype)), SIXTEEN_BIT_OPERAND)


@pytest.mark.parametrize("precision", ["fast", "accurate", "fp32"])
@pytest.mark.parametrize("causal", [False, True])
def test_the_matrix_is_what_the_attention_weighs_by(precision: str, causal: bool) -> None:
    valid = torch.arange(70)[None] % 7 > 0
    given = problem(70, rows=causal, causal=causal, precision=precision, valid=valid, w=3.0)
    matrix = fused.synchronization(given)
    assert torch.allclose(matrix.sum(-1), fused.forward(given).total, rtol=1e-5)
    exact = eager.scores(replace(given, omega=given.omega.double(), precision="accurate")).sync
    assert (matrix[exact == 0] < 0.1).all()
    assert (matrix - exact).abs().mean() < (2e-3 if precision == "fast" else 2e-6)


@pytest.mark.parametrize("precision", ["fast", "accurate"])
def test_polynomial_stands_for_the_law(precision: str) -> None:
    order = degree(precision)
    w = torch.tensor([0.0, 0.3, 2.0 if order == 3 else 1.5], dtype=torch.float64)
    z = torch.linspace(1e-4, 1, 999, dtype=torch.float64)[:, None]
    exact = (torch.exp(-w * (1 - z)) - (1 - z) * torch.exp(-w)).sqrt()
    powers = (UNIT * z[..., None]) ** torch.arange(5)
    found = (UNIT * z).sqrt() * (powers * coefficients(w, order)).sum(-1)
    assert (found / exact - 1).abs().max() < (1.3e-4 if order == 3 else 9e-7)
