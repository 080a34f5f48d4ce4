"""The language model: causality, ablation, phase layers of real passages, refusals."""

import numpy as np
import pytest
import torch

import models
import oscsim
from oscsim.errors import SpecError

PASSAGE = "Alice was beginning to get very tired of sitting by her sister on the\nbank"


@pytest.fixture(scope="module")
def model():
    return models.load_checkpoint()


def test_later_characters_change_no_bit_of_earlier_rows(model):
    tokens = model.encode(PASSAGE).unsqueeze(0)
    changed = tokens.clone()
    changed[:, 40:] = torch.flip(tokens[:, 40:], dims=(1,))
    with torch.no_grad():
        before, after = model(tokens), model(changed)
    assert torch.equal(before[:, :40], after[:, :40])
    assert not torch.equal(before[:, 40:], after[:, 40:])


@pytest.mark.parametrize("block", [0, 1])
def test_double_model_equals_the_reference_on_real_text(block):
    model = models.load_checkpoint().double()
    result = oscsim.solve(model.to_spec(PASSAGE, block=block))
    hidden = model.layer_inputs(model.encode(PASSAGE).unsqueeze(0))[block]
    layer = model.layer(block)
    with torch.no_grad():
        heads = layer.attend(layer.oscillators(hidden))[0].numpy()
    np.testing.assert_allclose(heads, result.output, atol=1e-11)


@pytest.mark.parametrize("block", [0, 1])
def test_single_model_agrees_with_the_double_one(model, block):
    single = oscsim.solve(model.to_spec(PASSAGE, block=block))
    hidden = model.layer_inputs(model.encode(PASSAGE).unsqueeze(0))[block]
    layer = model.layer(block)
    with torch.no_grad():
        heads = layer.attend(layer.oscillators(hidden))[0].numpy()
    assert single.conditioning is not None
    condition = np.minimum(single.conditioning.condition, 1e3)
    scale = np.abs(model.to_spec(PASSAGE, block=block).values).max()
    allowed = 1e-5 * scale * (single.weights * condition).sum(axis=-1, keepdims=True)
    assert np.all(np.abs(heads - single.output) <= np.maximum(allowed, 1e-5 * scale))


def test_spec_of_text_and_of_tokens_are_the_same_layer(model):
    from_text = model.to_spec(PASSAGE, block=1, dynamics="clamped", duration=2.0)
    assert from_text == model.to_spec(model.encode(PASSAGE), block=1, dynamics="clamped", duration=2.0)
    assert from_text != model.to_spec(PASSAGE, block=0, dynamics="clamped", duration=2.0)
    assert (from_text.dynamics, from_text.duration) == ("clamped", 2.0)


def test_to_spec_ignores_dropout_and_leaves_the_mode_alone(model):
    expected = model.to_spec(PASSAGE, block=1)
    model.train()
    try:
        assert model.to_spec(PASSAGE, block=1) == expected
        assert model.training
    finally:
        model.eval()


def test_silencing_one_block_is_zeroing_its_output_projection(model):
    tokens = model.encode(PASSAGE).unsqueeze(0)
    other = models.load_checkpoint()
    with torch.no_grad():
        other.layer(1).output.weight.zero_()
        assert torch.equal(model(tokens, silent={1}), other(tokens))
        assert not torch.equal(model(tokens), other(tokens))


def test_decode_inverts_encode(model):
    assert model.decode(model.encode(PASSAGE)) == PASSAGE


@pytest.mark.parametrize(
    ("passage", "block", "message"),
    [
        ("naïve café", 0, "unknown character.*expected only.*replace or remove"),
        ("", 0, "empty passage"),
        ("Alice", 2, "block 2; expected 0 to 1"),
        ("Alice", -1, "block -1; expected 0 to 1"),
        (torch.tensor([0, 10_000]), 0, "between 0 and 10000; expected 0 to 70"),
        (torch.tensor([-1]), 0, "between -1 and -1"),
        (torch.tensor([[1, 2]]), 0, r"shape \(1, 2\)"),
        (torch.tensor([1.0, 2.0]), 0, "type torch.float32"),
    ],
)
def test_bad_passages_are_refused(model, passage, block, message):
    with pytest.raises(SpecError, match=message):
        model.to_spec(passage, block=block)


def test_unknown_tokens_are_not_decoded(model):
    with pytest.raises(SpecError, match="own vocabulary"):
        model.decode(torch.tensor([71]))
