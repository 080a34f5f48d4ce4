"""The dense reference and the public op around it, against the definition in float64."""

from dataclasses import replace

import pytest
import torch
from ssa_oracle import Case, attention, gradients, random_case, synchronization

from hw_targets.triton.ops import ssa_attention
from hw_targets.triton.ops.normal_form import lambert_w, normal_form
from oscsim.errors import ConfigError

MASKS = [(causal, rows) for causal in (False, True) for rows in (False, True)]


def run(case: Case, dtype: torch.dtype = torch.float64, **options: object) -> tuple[torch.Tensor, dict]:
    """Output, and the leaves that get gradients."""
    given = case.arguments(dtype)
    leaves = {name: x for name, x in given.items() if isinstance(x, torch.Tensor) and x.requires_grad}
    omega, values = given.pop("omega"), given.pop("values")
    return ssa_attention(omega, values, **given, impl="eager", **options), leaves


def relative(value: torch.Tensor, reference: torch.Tensor) -> float:
    return ((value - reference).abs().max() / reference.abs().max().clamp(min=1e-12)).item()


@pytest.mark.parametrize(("causal", "rows"), MASKS)
@pytest.mark.parametrize("n", [1, 3, 17, 63])
def test_forward_and_every_gradient_equal_the_definition(n: int, causal: bool, rows: bool) -> None:
    case = random_case(n, causal=causal, rows=rows, seed=n)
    if n > 3:
        valid = torch.ones(2, n, dtype=torch.bool)
        valid[0, 5], valid[1, n - 4 :] = False, False
        case = replace(case, valid=valid)
    expected, (output, leaves) = attention(case), run(case, edge="exact")
    d_output = torch.linspace(-1, 1, expected.numel(), dtype=torch.float64).view(expected.shape)
    output.backward(d_output)
    reference = gradients(case, d_output)
    assert relative(output, expected) < 1e-13
    for name, leaf in leaves.items():
        # 1/S amplifies rounding: the smallest S of these cases is above 1e-3
        assert relative(leaf.grad, reference[name.removesuffix("_parameter")]) < 1e-10, name


def test_gradients_pass_torch_gradcheck() -> None:
    case = random_case(5, channels=2, width=2, batch=1, heads=2, causal=True, rows=True, seed=3)
    given = case.arguments(torch.float64)
    names = [name for name, x in given.items() if isinstance(x, torch.Tensor)]

    def call(*tensors: torch.Tensor) -> torch.Tensor:
        named = dict(zip(names, tensors, strict=True))
        omega, values = named.pop("omega"), named.pop("values")
        return ssa_attention(omega, values, **named, causal=True, edge="exact", impl="eager")

    assert torch.autograd.gradcheck(call, [given[name] for name in names], eps=1e-7, atol=1e-5)


@pytest.mark.parametrize(("edge", "eps"), [("smooth", 0.05), ("clamp", 0.2), ("smooth", None)])
def test_edge_rules_replace_the_slope_as_documented(edge: str, eps: float | None) -> None:
    case = random_case(33, seed=2)
    sync = synchronization(case)
    width = 0.03 if eps is None else eps
    inverse = sync / (sync**2 + width**2) if edge == "smooth" else 1 / sync.clamp(min=width)
    # the same chain rule with S^2 as the differentiated quantity and the rule in place of 1/S
    omega = case.omega.clone().requires_grad_(True)
    total = synchronization(replace(case, omega=omega)).square()
    factor = torch.where(sync > 0, 0.5 * inverse, 0.0)
    weights = sync / sync.sum(-1, keepdim=True)
    slope = (case.values[:, :, None] - (weights @ case.values)[:, :, :, None]).sum(-1)
    slope = slope / sync.sum(-1, keepdim=True)
    (total * (slope * factor)).sum().backward()
    output, leaves = run(case, edge=edge, **({} if eps is None else {"eps": eps}))
    output.sum().backward()
    assert relative(leaves["omega"].grad, omega.grad) < 1e-10


def test_without_coupling_only_identical_tokens_lock_and_nothing_has_a_gradient() -> None:
    case = random_case(6, seed=1)
    omega = case.omega.clone()
    omega[:, :, 4] = omega[:, :, 1]
    case = replace(case, omega=omega, gain=torch.zeros(2, dtype=torch.float64))
    output, leaves = run(case)
    assert torch.equal(output, attention(case))
    output.sum().backward()
    for name in ("omega", "alpha", "gain", "order_parameter"):
        assert not leaves[name].grad.any(), name


def test_a_pair_exactly_at_the_edge_is_finite_under_every_rule() -> None:
    case = random_case(2, channels=1, batch=1, heads=1)
    one = torch.ones(1, dtype=torch.float64)
    omega = torch.tensor([0.0, 1.0], dtype=torch.float64).view(1, 1, 2, 1)
    case = replace(case, omega=omega, alpha=0 * one, gain=one, order=one[None])
    for edge in ("smooth", "clamp", "exact"):
        output, leaves = run(case, edge=edge)
        output.sum().backward()
        assert all(leaf.grad.isfinite().all() for leaf in leaves.values())


def test_top_k_keeps_the_largest_of_a_row() -> None:
    case = random_case(19, seed=4)
    sync = synchronization(case)
    threshold = sync.topk(3, dim=-1).values[..., -1:]
    kept = torch.where(sync >= threshold, sync, 0.0)
    output, _ = run(case, top_k=3)
    assert relative(output, kept @ case.values / kept.sum(-1, keepdim=True)) < 1e-13


def test_dropout_scales_what_it_keeps_and_follows_the_generator() -> None:
    case = random_case(65, seed=5)
    torch.manual_seed(1)
    first, _ = run(case, dropout=0.5)
    torch.manual_seed(1)
    again, _ = run(case, dropout=0.5)
    other, _ = run(case, dropout=0.5)
    assert torch.equal(first, again) and not torch.equal(first, other)
    many = torch.stack([run(case, dropout=0.5)[0] for _ in range(200)]).mean(0)
    assert (many - attention(case)).abs().max() < 0.6 and relative(many, attention(case)) < 0.3


def test_fast_precision_is_a_rounded_twin() -> None:
    case = random_case(40, seed=6)
    exact, _ = run(case, torch.float32)
    fast, _ = run(case, torch.float32, precision="fast")
    assert 1e-4 < relative(fast, exact) < 0.1


def test_lambert_w_solves_its_equation_over_the_whole_range() -> None:
    w = torch.cat([torch.zeros(1), torch.logspace(-8, 1.9, 200)]).double()
    assert relative(lambert_w(w * w.exp()), w) < 1e-15
    assert ((lambert_w(w * w.exp()) - w).abs() <= 1e-14 * w + 1e-300).all()


def test_the_lock_radius_is_where_a_pair_just_locks() -> None:
    alpha, gain = torch.tensor([0.0, 0.7, 50.0]).double(), torch.tensor([1.3, 1.3, 2.0]).double()
    radius = normal_form(alpha, gain, torch.ones(1, 3, 1)).inverse_square[0, :, 0].rsqrt()
    assert torch.allclose(radius, gain * torch.exp(-alpha * radius**2), rtol=1e-14)


OMEGA, VALUES = torch.zeros(1, 2, 3, 4), torch.zeros(1, 2, 3, 5)
FINE = {"alpha": 1.0, "gain": 1.0, "order_parameter": 1.0, "impl": "eager"}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"alpha": -1.0}, "alpha: given -1"),
        ({"gain": float("nan")}, "gain: given nan"),
        ({"alpha": torch.ones(3)}, r"alpha: given shape \(3,\)"),
        ({"order_parameter": torch.ones(1, 3)}, "order_parameter: given shape"),
        ({"precision": "half"}, "precision: given 'half'"),
        ({"edge": "soft"}, "edge: given 'soft'"),
        ({"edge": "exact", "eps": 0.1}, "eps: given 0.1"),
        ({"eps": 1e-30}, "eps: given 1e-30"),
        ({"dropout": 1.0}, "dropout: given 1.0"),
        ({"top_k": 0}, "top_k: given 0"),
        ({"top_k": 2, "impl": "native"}, "top_k: given 2 with impl='native'"),
        ({"impl": "cuda"}, "impl: given 'cuda'"),
        ({"padding": torch.zeros(1, 3)}, "padding: given"),
        ({"lengths": torch.ones(1)}, "lengths: given"),
        ({"lengths": torch.ones(1).int(), "padding": torch.zeros(1, 3).bool()}, "given both"),
    ],
)
def test_bad_options_are_refused_with_what_was_given(change: dict, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        ssa_attention(OMEGA, VALUES, **{**FINE, **change})


@pytest.mark.parametrize(
    ("omega", "values", "message"),
    [
        (OMEGA[0], VALUES, "expected .batch, heads, N, D."),
        (OMEGA, VALUES[:, :, :2], "expected .batch, heads, N, D."),
        (OMEGA[:, :, :0], VALUES[:, :, :0], "N, D, D_v >= 1"),
        (OMEGA.long(), VALUES, "expected floating point"),
        (OMEGA, VALUES.double(), "values: given float64, impl='native'"),
        (torch.zeros(1, 2, 3, 129), VALUES, "given D = 129"),
    ],
)
def test_bad_shapes_are_refused(omega: torch.Tensor, values: torch.Tensor, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        ssa_attention(omega, values, **{**FINE, "impl": "native"})


def test_more_heads_than_a_grid_holds_are_refused() -> None:
    many = torch.zeros(65536, 1, 1, 1)
    with pytest.raises(ConfigError, match="at most 65535"):
        ssa_attention(many, many, **{**FINE, "impl": "triton"})


def test_an_empty_batch_gives_an_empty_output() -> None:
    assert ssa_attention(OMEGA[:0], VALUES[:0], **FINE).shape == (0, 2, 3, 5)
