"""Kuramoto attention and the order parameter far from 1: scores beyond float32's steps, phases of 1e8 rad."""

from dataclasses import replace

import pytest
import torch
from kuramoto_oracle import NAMES, Case, answer, random_case

from hw_targets.triton.ops import kuramoto_attention, kuramoto_blocks, prefix_order_parameter
from hw_targets.triton.ops.problem import Implementation
from oscsim.tolerance import kuramoto_error

IMPLS = pytest.mark.parametrize("impl", ["eager", "native", "triton"])


def run(
    case: Case, upstream: torch.Tensor, impl: Implementation
) -> tuple[torch.Tensor, dict[str, torch.Tensor]]:
    leaves = case.leaves()
    padding = None if case.valid is None else ~case.valid
    tensors = [leaves[name] for name in NAMES[:4]]
    value = kuramoto_attention(*tensors, tau=leaves["tau"], causal=case.causal, padding=padding, impl=impl)
    gradients = torch.autograd.grad(value, list(leaves.values()), upstream)
    return value.detach(), dict(zip(leaves, gradients, strict=True))


def uniform_gates(size: float, n: int, causal: bool) -> Case:
    """Gates uniform in 0..size, tau 1: scores up to size^2 / sqrt(k)."""
    case, generator = random_case(1, 2, n, 8, causal=causal), torch.Generator().manual_seed(1)
    gates = [(size * torch.rand(1, 2, n, 8, generator=generator)).double() for _ in range(2)]
    return replace(case, gate_q=gates[0], gate_k=gates[1], tau=torch.ones(2, dtype=torch.float64))


@IMPLS
@pytest.mark.parametrize("causal", [True, False])
@pytest.mark.parametrize("size", [1e3, 1e4, 1e5, 1e8, 1e15])
def test_large_gates_give_finite_results_and_gradients(impl, causal, size):
    case = uniform_gates(size, 19, causal)
    value, gradients = run(case, torch.linspace(-1, 1, case.theta.numel()).view(case.theta.shape), impl)
    assert value.abs().max() <= 1.0 + 1e-6
    assert all(x.isfinite().all() for x in gradients.values())
    # one source wins every row: the increment is a sine of a difference
    if size >= 1e5:
        expected = answer(case, torch.ones(case.theta.shape))
        assert (value - expected.increment).abs().max() < 2e-6


@pytest.mark.parametrize("size", [1e5, 1e8])
def test_native_gradients_of_a_row_that_one_source_wins_are_those_of_its_sine(size):
    case = uniform_gates(size, 19, causal=True)
    upstream = torch.linspace(-1, 1, case.theta.numel()).view(case.theta.shape)
    expected = answer(case, upstream).gradients
    _, found = run(case, upstream, "native")
    for name in NAMES:
        assert (found[name] - expected[name]).abs().max() < 1e-5, name


@pytest.mark.parametrize(("causal", "padded"), [(True, False), (False, True), (True, True)])
def test_the_blockwise_backward_equals_the_definition(monkeypatch, causal, padded):
    monkeypatch.setattr(kuramoto_blocks, "LARGEST_SCORE", -1.0)
    monkeypatch.setattr(kuramoto_blocks, "ROWS", 16)
    case = random_case(2, 2, 35, 8, causal=causal, padded=padded)
    upstream = torch.randn(case.theta.shape, generator=torch.Generator().manual_seed(9))
    expected = answer(case, upstream)
    _, found = run(case, upstream, "native")
    for name in NAMES:
        error = (found[name] - expected.gradients[name]).abs() / expected.sizes[name]
        assert error.max() <= kuramoto_error(expected.score_size), name


def test_blocks_are_taken_where_scores_may_be_large_only():
    one = torch.ones(1, 1, 3, 4)
    assert not kuramoto_blocks.needed(one, one, scale=2.0**18)
    assert kuramoto_blocks.needed(one, one, scale=2.0**18 + 1)
    assert not kuramoto_blocks.needed(one[:, :, :0], one[:, :, :0], scale=1e30)


def phases_to_1e8(batch: int, heads: int, n: int, k: int) -> torch.Tensor:
    """Phases of either sign, the largest 1e8 rad."""
    theta = 2e8 * torch.rand(batch, heads, n, k, generator=torch.Generator().manual_seed(2)) - 1e8
    theta[0, 0, 0] = 1e8
    return theta


@IMPLS
def test_phases_of_1e8_rad_keep_float32_accuracy(impl):
    case = replace(random_case(1, 2, 17, 8), theta=phases_to_1e8(1, 2, 17, 8).double())
    upstream = torch.ones(case.theta.shape)
    expected = answer(case, upstream)
    value, gradients = run(case, upstream, impl)
    allowed = kuramoto_error(expected.score_size)
    assert (value - expected.increment).abs().max() < allowed
    for name in NAMES:
        error = (gradients[name] - expected.gradients[name]).abs() / expected.sizes[name]
        assert error.max() <= allowed, name


@IMPLS
def test_the_prefix_order_parameter_of_phases_of_1e8_rad(impl):
    theta = phases_to_1e8(1, 2, 33, 4)
    exact = prefix_order_parameter(theta.double(), impl="eager")
    assert (prefix_order_parameter(theta, impl=impl) - exact).abs().max() < 1e-6
