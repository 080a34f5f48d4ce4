"""Where floats end: every implementation stays finite, and right where right means something."""

import math

import pytest
import torch
from ssa_oracle import Case, attention

from hw_targets.triton.ops import COUPLING_FLOOR, ssa_attention

EDGE = (1.0, 1.0 - 1e-7, 1.0 + 1e-7, math.nextafter(1.0, 0.0))
LAYOUTS = {
    "identical": (0.0, 0.0, 0.0),
    "spread": (0.0, 0.3, 0.8),
    "edge": (0.0, *EDGE),
    "far": (0.0, 1e4, -1e4),
    "beyond float32 squares": (0.0, 1e25, -1e30),
    "tiny": (0.0, 1e-30, 3e-38),
    "one token": (0.5,),
}
IMPLEMENTATIONS = ("eager", "native", "triton")


@pytest.mark.parametrize("impl", IMPLEMENTATIONS)
@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_outputs_and_gradients_are_finite_in_every_regime(layout: str, causal: bool, impl: str) -> None:
    places = torch.tensor(LAYOUTS[layout])
    omega = places.view(1, 1, -1, 1).expand(1, 6, -1, 1).clone().requires_grad_()
    values = torch.randn(1, 6, len(places), 3, generator=torch.Generator().manual_seed(0)).requires_grad_()
    gain = torch.tensor([0.0, 1e-38, 1e-9, 1e-3, 1.0, 1e6]).requires_grad_()
    alpha = torch.tensor([0.0, 0.7, 1e3, 0.0, 0.0, 1e20]).requires_grad_()
    order = torch.ones(1, 6, requires_grad=True)
    # what the edge does to a gradient does not depend on the mask: the slow interpreter takes all edges once
    for edge in ("exact",) if impl == "triton" and not causal else ("smooth", "clamp", "exact"):
        output = ssa_attention(
            omega, values, alpha=alpha, gain=gain, order_parameter=order, causal=causal, edge=edge, impl=impl
        )
        assert output.isfinite().all() and (output.abs() <= values.abs().amax() * (1 + 1e-6)).all()
        for leaf in torch.autograd.grad(output.sum(), (omega, values, alpha, gain, order)):
            assert leaf.isfinite().all()


@pytest.mark.parametrize("impl", IMPLEMENTATIONS)
@pytest.mark.parametrize("far", [1e5, 1e9, 1e30])
def test_an_outlier_changes_no_gradient_of_the_others(far: float, impl: str) -> None:
    omega = 0.3 * torch.randn(1, 1, 64, 3, generator=torch.Generator().manual_seed(0))
    values = torch.randn(1, 1, 64, 5, generator=torch.Generator().manual_seed(1))
    omega[:, :, -1] += far
    omega.requires_grad_()
    options = {"alpha": 0.5, "gain": 1.0, "order_parameter": 1.0, "edge": "clamp", "eps": 0.1, "impl": impl}
    ssa_attention(omega, values, **options).square().sum().backward()
    near = omega.detach()[:, :, :-1].double().requires_grad_()
    ssa_attention(near, values[:, :, :-1].double(), **{**options, "impl": "eager"}).square().sum().backward()
    assert not omega.grad[:, :, -1].any()
    assert (omega.grad[:, :, :-1] - near.grad).abs().max() < 1e-3 * near.grad.abs().max()


@pytest.mark.parametrize("impl", IMPLEMENTATIONS)
def test_float64_outliers_do_not_coarsen_the_others(impl: str) -> None:
    omega = 0.3 * torch.randn(1, 1, 40, 3, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    values = torch.randn(1, 1, 40, 5, generator=torch.Generator().manual_seed(1))
    options = {"alpha": 0.5, "gain": 1.0, "order_parameter": 1.0}
    omega[:, :, 0] += 1e15
    output = ssa_attention(omega, values, **options, impl=impl)
    expected = ssa_attention(omega, values.double(), **options, impl="eager")
    assert (output - expected).abs().max() < 1e-4


@pytest.mark.parametrize("impl", IMPLEMENTATIONS)
def test_padded_tokens_may_hold_anything(impl: str) -> None:
    draw = torch.Generator().manual_seed(0)
    omega, values = 0.3 * torch.randn(1, 2, 40, 4, generator=draw), torch.randn(1, 2, 40, 5, generator=draw)
    options = {"alpha": 0.7, "gain": 1.3, "order_parameter": 0.9, "impl": impl}
    clean = ssa_attention(omega, values, lengths=torch.tensor([25]), **options)
    omega[:, :, 25:], values[:, :, 25:] = float("nan"), float("inf")
    omega.requires_grad_(), values.requires_grad_()
    output = ssa_attention(omega, values, lengths=torch.tensor([25]), **options)
    assert torch.equal(output, clean) and not output[:, :, 25:].any()
    output.sum().backward()
    assert omega.grad.isfinite().all() and values.grad.isfinite().all()


@pytest.mark.parametrize("impl", IMPLEMENTATIONS)
def test_without_coupling_only_identical_oscillators_lock(impl: str) -> None:
    omega = torch.tensor([0.0, 1e-15, 0.0, 2.0, 2.0]).view(1, 1, 5, 1)
    values = torch.eye(5).view(1, 1, 5, 5)
    output = ssa_attention(omega, values, alpha=1.0, gain=0.0, order_parameter=1.0, impl=impl)
    same = (omega[0, 0] == omega[0, 0].T).float()
    assert torch.allclose(output[0, 0], same / same.sum(dim=1, keepdim=True), atol=1e-7)


@pytest.mark.parametrize("impl", IMPLEMENTATIONS)
def test_weak_coupling_above_the_floor_still_locks_what_is_close_enough(impl: str) -> None:
    gain = 4 * COUPLING_FLOOR
    omega = (torch.tensor([0.0, 0.3, 0.99, 3.0]) * gain).view(1, 1, 4, 1)
    values = torch.eye(4).view(1, 1, 4, 4)
    output = ssa_attention(omega, values, alpha=0.0, gain=gain, order_parameter=1.0, impl=impl)
    one = torch.ones(1, dtype=torch.float64)
    expected = attention(Case(omega.double(), values.double(), 0 * one, gain * one, one[None]))
    assert (output - expected).abs().max() < 1e-5


@pytest.mark.parametrize("impl", IMPLEMENTATIONS)
def test_the_exact_edge_is_unlocked_or_rounding(impl: str) -> None:
    omega = torch.tensor([0.0, *EDGE]).view(1, 1, 5, 1)
    values = torch.eye(5).view(1, 1, 5, 5)
    output = ssa_attention(omega, values, alpha=0.0, gain=1.0, order_parameter=1.0, impl=impl)
    # S at 1 - 1e-7 is sqrt(2e-7); rounding of u in float32 (2^-24 per operation) may add as much
    assert output[0, 0, 0, 1:].max() < 2e-3 and output[0, 0, 0, 0] > 0.99
