"""A block on its own, in place of a transformer block, over all tokens or the earlier ones."""

import pytest
import torch

from models.osn import OSNBlock, initialise_layer
from models.osn.locked_range import locked_fraction


@pytest.mark.parametrize("causal", [True, False])
def test_a_new_block_locks_half_the_pairs_of_random_inputs_and_learns(causal):
    torch.manual_seed(4)
    block = OSNBlock(width=32, heads=2, channels=16, hidden=64, context=64, causal=causal)
    inputs = torch.randn(8, 64, 32)
    fractions = locked_fraction(block.attention, block.attention_norm(inputs))
    assert (fractions - 0.5).abs().max() <= 0.05
    block(inputs).square().mean().backward()
    for name, parameter in block.named_parameters():
        assert parameter.grad is not None and parameter.grad.isfinite().all(), name
        assert parameter.grad.abs().max() > 0 or name == "attention.phase.bias", name


def test_equal_tokens_of_an_encoder_without_ramp_are_interchangeable():
    """Position enters through the ramp alone: without it the layer is permutation-equivariant."""
    torch.manual_seed(5)
    block = OSNBlock(width=8, heads=2, channels=4, hidden=8, context=17, causal=False).double()
    block.attention.implementation = "eager"
    with torch.no_grad():
        block.attention.ramp.zero_()
    inputs, order = torch.randn(1, 17, 8, dtype=torch.float64), torch.randperm(17)
    with torch.no_grad():
        torch.testing.assert_close(block(inputs)[:, order], block(inputs[:, order]), atol=1e-13, rtol=0)
        block.attention.ramp.fill_(0.5)
        assert (block(inputs)[:, order] - block(inputs[:, order])).abs().max() > 1e-3


def test_dropout_is_of_training_only():
    torch.manual_seed(6)
    block = OSNBlock(width=8, heads=2, channels=4, hidden=8, context=17, dropout=0.5)
    inputs = torch.randn(1, 17, 8)
    assert not torch.equal(block(inputs), block(inputs))
    block.eval()
    assert torch.equal(block(inputs), block(inputs))


def test_initialising_an_encoder_layer_counts_all_other_tokens():
    torch.manual_seed(7)
    block = OSNBlock(width=16, heads=2, channels=8, hidden=8, context=32, causal=False)
    inputs = torch.randn(4, 32, 16)
    initialise_layer(block.attention, inputs, 0.2)
    off_diagonal = ~torch.eye(32, dtype=torch.bool)
    share = block.attention.locked(inputs)[..., off_diagonal].float().mean()
    assert abs(share - 0.2) < 0.01
