"""frequency_order: attention in it equals attention in the given order, with fewer tiles."""

import pytest
import torch

from hw_targets.triton.ops import block_map, frequency_order, padded_last, reorder, restore, ssa_attention
from oscsim.errors import ConfigError
from oscsim.tolerance import FLOAT32_EPSILON

MAKE = torch.Generator().manual_seed(0)


def shuffled_clusters(n, channels=4):
    centres = 3.0 * torch.randn(1, 2, 7, channels, generator=MAKE)
    which = torch.randint(7, (n,), generator=MAKE)
    return centres[:, :, which] + 0.02 * torch.randn(1, 2, n, channels, generator=MAKE)


@pytest.mark.parametrize("impl", ["eager", "native"])
def test_attention_does_not_depend_on_the_order(impl):
    n = 700
    omega = shuffled_clusters(n).requires_grad_()
    values = torch.randn(1, 2, n, 5, generator=MAKE)
    r = 0.5 + 0.5 * torch.rand(1, 2, n, generator=MAKE)
    padding = torch.rand(1, n, generator=MAKE) < 0.1
    options = {"alpha": 0.1, "gain": 1.0, "impl": impl}
    plain = ssa_attention(omega, values, order_parameter=r, padding=padding, **options)
    (expected,) = torch.autograd.grad(plain.square().sum(), omega)
    order = frequency_order(omega, padding=padding, impl=impl)
    moved, strength, last = reorder(omega, order), reorder(r, order), padded_last(padding)
    tiles = block_map(moved, order_parameter=strength, padding=last, value_width=5, **options)
    sparse = ssa_attention(
        moved, reorder(values, order), order_parameter=strength, padding=last, block_map=tiles, **options
    )
    restored = restore(sparse, order)
    torch.testing.assert_close(restored, plain, rtol=0, atol=10 * FLOAT32_EPSILON)
    (gradient,) = torch.autograd.grad(restored.square().sum(), omega)
    torch.testing.assert_close(gradient, expected, rtol=0, atol=100 * FLOAT32_EPSILON * expected.abs().max())
    unsorted = block_map(omega, order_parameter=r, padding=padding, value_width=5, **options)
    assert unsorted.active_share == 1.0 and tiles.active_share < 0.7


@pytest.mark.parametrize("n", [1, 3, 96, 97, 1000])
def test_every_token_has_one_place_and_padded_ones_the_last(n):
    omega = torch.randn(2, 3, n, 4, generator=MAKE)
    padding = torch.rand(2, n, generator=MAKE) < 0.3
    omega[padding[:, None].expand(2, 3, n)] = torch.nan
    order = frequency_order(omega, padding=padding)
    assert torch.equal(order.sort(dim=-1).values, torch.arange(n).expand(2, 3, n))
    moved = padding[:, None].expand(2, 3, n).gather(2, order)
    assert torch.equal(moved, padded_last(padding)[:, None].expand(2, 3, n))
    assert torch.equal(restore(reorder(order, order), order), order)


def test_a_ramp_comes_out_sorted_whatever_the_other_channels_do():
    omega = torch.randn(1, 1, 1000, 6, generator=MAKE)
    omega[..., 4] = torch.randperm(1000, generator=MAKE)
    order = frequency_order(omega)
    assert torch.equal(reorder(omega, order)[0, 0, :, 4], torch.arange(1000.0))


def test_a_wrong_shape_is_refused():
    with pytest.raises(ConfigError, match=r"omega: given \(3, 4\)"):
        frequency_order(torch.zeros(3, 4))
