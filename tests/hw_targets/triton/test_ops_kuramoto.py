"""Kuramoto attention: increments and every gradient of every implementation against the definition."""

from dataclasses import replace

import pytest
import torch
from kuramoto_oracle import NAMES, Case, answer, random_case

from hw_targets.triton.ops import kuramoto_attention
from oscsim.tolerance import SIXTEEN_BIT_PRODUCT, kuramoto_error

IMPLS = pytest.mark.parametrize("impl", ["eager", "native", "triton"])
# batch, heads, N, k; causal, padded
SHAPES = [
    ((1, 2, 1, 8), True, False),
    ((2, 1, 3, 8), False, True),
    ((2, 2, 17, 24), True, True),
    ((1, 2, 63, 13), False, False),
    ((1, 1, 130, 8), True, False),
    ((2, 1, 70, 8), True, True),
]


def run(case: Case, d_increment: torch.Tensor, dtype: torch.dtype = torch.float32, **options: object):
    """Increments and gradients."""
    leaves = case.leaves(dtype)
    padding = None if case.valid is None else ~case.valid
    tensors = [leaves[name] for name in NAMES[:4]]
    value = kuramoto_attention(*tensors, tau=leaves["tau"], causal=case.causal, padding=padding, **options)
    gradients = torch.autograd.grad(value, list(leaves.values()), d_increment.to(dtype))
    return value.detach(), dict(zip(leaves, gradients, strict=True))


def direction(case: Case, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    generator = torch.Generator().manual_seed(9)
    return torch.randn(case.theta.shape, generator=generator).to(dtype)


def agree(case: Case, **options: object) -> None:
    """Every element within the rounding of its terms; results finite."""
    d_increment = direction(case)
    expected = answer(case, d_increment)
    value, gradients = run(case, d_increment, **options)
    allowed = kuramoto_error(expected.score_size)
    assert value.isfinite().all()
    assert (value - expected.increment).abs().max() <= allowed
    for name, gradient in gradients.items():
        error = (gradient - expected.gradients[name]).abs() / expected.sizes[name]
        assert gradient.dtype == torch.float32 and error.max() <= allowed, (name, error.max(), allowed)


@IMPLS
@pytest.mark.parametrize(("shape", "causal", "padded"), SHAPES)
def test_forward_and_every_gradient_equal_the_definition(impl, shape, causal, padded):
    agree(random_case(*shape, causal=causal, padded=padded, seed=shape[2]), impl=impl)


def test_ieee_products_equal_the_definition():
    agree(random_case(1, 2, 17, 8, padded=True), impl="triton", precision="fp32")
    agree(random_case(1, 2, 17, 8, padded=True), impl="native", precision="fp32")


def test_widest_and_narrow_heads():
    agree(random_case(1, 1, 17, 128), impl="triton")
    agree(random_case(1, 1, 17, 64), impl="triton")
    agree(random_case(1, 2, 17, 1), impl="native")


@pytest.mark.parametrize("causal", [True, False])
@pytest.mark.parametrize("padded", [True, False])
def test_eager_gradcheck(causal, padded):
    case = random_case(2, 2, 5, 3, causal=causal, padded=padded)
    leaves = list(case.leaves(torch.float64).values())
    padding = None if case.valid is None else ~case.valid

    def function(theta, gate_q, gate_k, drift, tau):
        return kuramoto_attention(
            theta, gate_q, gate_k, drift, tau=tau, causal=causal, padding=padding, impl="eager"
        )

    assert torch.autograd.gradcheck(function, leaves)


def test_eager_in_float64_equals_the_definition_to_its_rounding():
    case = random_case(2, 2, 17, 5, padded=True)
    expected = answer(case, direction(case))
    value, gradients = run(case, direction(case), torch.float64, impl="eager")
    assert (value - expected.increment).abs().max() < 1e-13
    for name, gradient in gradients.items():
        assert ((gradient - expected.gradients[name]).abs() / expected.sizes[name]).max() < 1e-12, name


def rms(error: torch.Tensor) -> float:
    return error.double().square().mean().sqrt().item()


@pytest.mark.parametrize("impl", ["native", "triton"])
@pytest.mark.parametrize(
    ("dtype", "precision"),
    [(torch.float32, "fast"), (torch.bfloat16, "accurate"), (torch.float16, "accurate")],
)
def test_16_bit_products_err_at_most_twice_as_much_as_plain_torch(impl, dtype, precision):
    case = random_case(2, 2, 65, 8, dtype=dtype)
    d_increment = direction(case, dtype)
    expected = answer(case, d_increment)
    value, gradients = run(case, d_increment, dtype, impl=impl, precision=precision)
    plain, plain_gradients = run(case, d_increment, dtype, impl="eager", precision=precision)
    assert value.dtype == dtype
    assert rms(value - expected.increment) <= 2.0 * rms(plain - expected.increment)
    for name in ("theta", "gate_q", "gate_k", "drift"):
        limit = 2.0 * rms(plain_gradients[name] - expected.gradients[name])
        assert rms(gradients[name] - expected.gradients[name]) <= limit, name
    # tau has one number per head: a plain error of it can be small by luck
    error = (gradients["tau"] - expected.gradients["tau"]).abs() / expected.sizes["tau"]
    assert error.max() <= SIXTEEN_BIT_PRODUCT * (1.0 + expected.score_size)


def test_fp32_keeps_float32_products_of_16_bit_inputs():
    case = random_case(1, 1, 33, 8, dtype=torch.bfloat16)
    exact = answer(case, direction(case)).increment
    for impl in ("eager", "native", "triton"):
        value, _ = run(case, direction(case), torch.bfloat16, impl=impl, precision="fp32")
        # half a step of the result's own type, below 1
        assert (value - exact).abs().max() <= 1.01 * 2.0**-9


@IMPLS
def test_temperature_zero_and_negative(impl):
    case = random_case(1, 2, 17, 8)
    for tau in (0.0, -1.5):
        agree(replace(case, tau=torch.full_like(case.tau, tau)), impl=impl)


def test_accurate_is_far_better_than_fast():
    case = random_case(1, 1, 33, 8)
    exact = answer(case, direction(case)).increment
    errors = [
        rms(run(case, direction(case), impl="triton", precision=p)[0] - exact) for p in ("accurate", "fast")
    ]
    assert errors[0] < 1e-6
    assert 1e-5 < errors[1] < 2e-3
