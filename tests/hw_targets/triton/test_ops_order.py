"""Order parameters of prefixes: every implementation against float64 sums, forwards and backwards."""

import numpy as np
import pytest
import torch

from hw_targets.triton.ops.order import order_parameter, prefix_order_op, prefix_order_parameter
from oscsim.errors import ConfigError
from oscsim.tolerance import PREFIX_ORDER_ERROR

EVERY = pytest.mark.parametrize("impl", ["eager", "native", "triton"])
SHAPES = pytest.mark.parametrize("shape", [(1, 1, 1, 1), (2, 3, 17, 3), (1, 2, 130, 40), (2, 1, 64, 64)])


def phases(shape, seed=0, scale=3.0):
    return scale * torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def some_padding(batch, n, seed=1):
    return torch.rand(batch, n, generator=torch.Generator().manual_seed(seed)) < 0.3


def by_loops(theta, padding):
    """r_i in float64, one prefix after the other."""
    batch, heads, n, _ = theta.shape
    order = np.zeros((batch, heads, n))
    unit = np.exp(1j * theta.numpy().astype(np.float64))
    for b in range(batch):
        taken = np.ones(n, bool) if padding is None else ~padding[b].numpy()
        for i in range(n):
            kept = unit[b][:, : i + 1][:, taken[: i + 1]]
            if kept.shape[1]:
                order[b, :, i] = np.abs(kept.mean(axis=1)).mean(axis=-1)
    return order


@EVERY
@SHAPES
@pytest.mark.parametrize("padded", [False, True])
def test_values_and_gradients_in_float32_match_float64(impl, shape, padded):
    padding = some_padding(shape[0], shape[2]) if padded else None
    exact = phases(shape).float().double().requires_grad_()
    weight = phases(shape[:3], seed=2)
    (prefix_order_parameter(exact, padding=padding, impl="eager") * weight).sum().backward()
    theta = exact.detach().float()
    if padded:  # what is padded may hold anything
        theta[padding[:, None].expand(shape[:3])] = torch.nan
    theta.requires_grad_()
    order = prefix_order_parameter(theta, padding=padding, impl=impl)
    tolerance = PREFIX_ORDER_ERROR
    assert order.dtype == torch.float32
    np.testing.assert_allclose(order.detach(), by_loops(exact.detach(), padding), rtol=0, atol=tolerance)
    (order * weight.float()).sum().backward()
    error = (theta.grad - exact.grad).abs()
    assert torch.all(error <= 4.0 * tolerance * gradient_scale(exact.detach(), padding, weight))
    if padded:
        assert not theta.grad[padding[:, None].expand(shape[:3])].any()


def gradient_scale(theta, padding, weight):
    """How far an error of 1 in the mean phasors moves the gradient: it turns a mean of size m by 1/m."""
    taken = torch.ones(theta.shape[0], theta.shape[2]) if padding is None else (~padding).double()
    taken = taken[:, None, :, None].double()
    count = taken.cumsum(2).clamp(min=1)
    mean = torch.polar(taken.expand(theta.shape), theta).cumsum(2).abs() / count
    pull = weight.abs()[..., None] / (theta.shape[3] * count) / mean.clamp(min=1e-3)
    return pull.flip(2).cumsum(2).flip(2)


@pytest.mark.parametrize("impl", ["eager", "native"])
def test_gradients_in_float64(impl):
    theta, padding = phases((2, 2, 17, 3)).requires_grad_(), some_padding(2, 17)
    assert torch.autograd.gradcheck(lambda x: prefix_order_parameter(x, padding=padding, impl=impl), theta)
    assert torch.autograd.gradcheck(lambda x: order_parameter(x, padding=padding), theta)


@EVERY
def test_a_vanishing_sum_has_no_gradient_and_nothing_is_nan(impl):
    theta = torch.tensor([0.0, np.pi, 0.0, np.pi], dtype=torch.float64).view(1, 1, 4, 1).requires_grad_()
    order = prefix_order_parameter(theta, impl=impl)
    np.testing.assert_allclose(order.detach().flatten(), [1.0, 0.0, 1 / 3, 0.0], atol=1e-7)
    order[..., 1].sum().backward()
    assert not theta.grad.any()
    assert order_parameter(theta[:, :, :2]).item() == 0.0
    padding = torch.ones(1, 4, dtype=torch.bool)
    nothing = prefix_order_parameter(theta, padding=padding, impl=impl)
    nothing.sum().backward()
    assert not nothing.any() and not theta.grad.any()


@EVERY
def test_later_tokens_change_no_bit(impl):
    theta = phases((1, 2, 150, 20)).float()
    order = prefix_order_parameter(theta, impl=impl)
    for cut in (1, 63, 64, 100):
        other = theta.clone()
        other[:, :, cut:] = 1e3 * torch.randn(
            1, 2, 150 - cut, 20, generator=torch.Generator().manual_seed(cut)
        )
        assert torch.equal(prefix_order_parameter(other, impl=impl)[..., :cut], order[..., :cut])
        assert torch.equal(prefix_order_parameter(theta[:, :, :cut], impl=impl), order[..., :cut])


@EVERY
def test_batched_equals_one_by_one(impl):
    theta, padding = phases((3, 2, 70, 5)).float(), some_padding(3, 70)
    together = prefix_order_parameter(theta, padding=padding, impl=impl)
    for b in range(3):
        alone = prefix_order_parameter(theta[b : b + 1], padding=padding[b : b + 1], impl=impl)
        assert torch.equal(together[b : b + 1], alone)


@pytest.mark.parametrize("impl", ["native", "triton"])
def test_long_sequences_lose_nothing(impl):
    # the interpreter is slow: fewer channels and tokens there
    shape = (1, 1, 65536, 16) if impl == "native" else (1, 1, 4160, 2)
    theta = phases(shape, scale=1.5).float()
    weight = phases(shape[:3], seed=3)
    given, twin = theta.clone().requires_grad_(), theta.double().requires_grad_()
    order, exact = prefix_order_parameter(given, impl=impl), prefix_order_parameter(twin, impl="eager")
    assert (order - exact).abs().max() <= PREFIX_ORDER_ERROR
    (order * weight.float()).sum().backward()
    (exact * weight).sum().backward()
    error = (given.grad - twin.grad).abs()
    assert torch.all(error <= 4.0 * PREFIX_ORDER_ERROR * gradient_scale(twin.detach(), None, weight))
    exact = exact.detach()
    np.testing.assert_allclose(exact[..., -1], order_parameter(theta.double()), rtol=1e-12)


def test_native_float64_and_huge_phases_match_eager():
    theta = phases((1, 2, 100, 6), scale=1e5)
    theta[0, 0, ::7, 3] = 3e9
    eager, native = (prefix_order_parameter(theta, impl=impl) for impl in ("eager", "native"))
    np.testing.assert_allclose(native, eager, rtol=0, atol=1e-13)


@EVERY
def test_the_op_obeys_torch(impl):
    for padding in (None, some_padding(1, 20)):
        theta = phases((1, 2, 20, 3)).float().requires_grad_()
        torch.library.opcheck(prefix_order_op, (theta, padding, impl))


def test_compiles_in_one_graph_and_refuses_vmap_and_wrong_shapes():
    theta = phases((1, 2, 20, 3)).float().requires_grad_()
    compiled = torch.compile(
        lambda x: prefix_order_parameter(x, impl="native"), backend="aot_eager", fullgraph=True
    )
    assert torch.equal(compiled(theta), prefix_order_parameter(theta, impl="native"))
    with pytest.raises(ConfigError, match=r"torch\.vmap"):
        torch.vmap(lambda x: prefix_order_parameter(x, impl="eager"))(theta[None])
    with pytest.raises(ConfigError, match=r"theta: given \(2, 20, 3\)"):
        prefix_order_parameter(theta[0])
    with pytest.raises(ConfigError, match="padding: given"):
        prefix_order_parameter(theta, padding=torch.zeros(2, 20, dtype=torch.bool))
    assert prefix_order_parameter(theta[:, :, :0], impl="eager").shape == (1, 2, 0)
