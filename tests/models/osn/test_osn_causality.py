"""What comes later changes no bit of what came before, in the layer, in a block and in a model."""

import pytest
import torch

from models.osn import OSNBlock, OSNConfig, OSNLanguageModel

CUT, LENGTH = 20, 33


def _block(causal):
    torch.manual_seed(2)
    return OSNBlock(width=12, heads=3, channels=4, hidden=24, context=LENGTH, causal=causal)


@pytest.mark.parametrize("part", ["attention", "block"])
@pytest.mark.parametrize("implementation", ["eager", "native"])
def test_later_inputs_change_no_bit_of_earlier_outputs(part, implementation):
    block = _block(causal=True)
    block.attention.implementation = implementation
    module = block if part == "block" else block.attention
    inputs = torch.randn(2, LENGTH, 12)
    for later in (torch.randn(2, LENGTH - CUT, 12), torch.full((2, LENGTH - CUT, 12), 30.0)):
        changed = torch.cat([inputs[:, :CUT], later], dim=1)
        with torch.no_grad():
            before, after = module(inputs), module(changed)
        assert torch.equal(before[:, :CUT], after[:, :CUT])
        assert not torch.equal(before[:, CUT:], after[:, CUT:])


@pytest.mark.parametrize("implementation", ["eager", "native"])
def test_every_cut_of_a_model(implementation):
    torch.manual_seed(3)
    model = OSNLanguageModel(OSNConfig(width=16, heads=2, hidden=16, context=LENGTH)).eval()
    model.use(implementation)
    tokens = torch.randint(256, (1, LENGTH))
    with torch.no_grad():
        before = model(tokens)
        for cut in range(1, LENGTH):
            changed = tokens.clone()
            changed[:, cut:] = (changed[:, cut:] + 7) % 256
            after = model(changed)
            assert torch.equal(before[:, :cut], after[:, :cut])
            assert not torch.equal(before[:, cut], after[:, cut])


def test_an_encoder_does_see_later_tokens():
    block = _block(causal=False)
    inputs = torch.randn(1, LENGTH, 12)
    changed = inputs.clone()
    changed[:, -1] = torch.randn(12)
    with torch.no_grad():
        before, after = block(inputs), block(changed)
    assert not torch.equal(before[:, 0], after[:, 0])
