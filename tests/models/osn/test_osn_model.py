"""The language model: phase layers of real passages, losses, optimiser groups, refusals."""

from dataclasses import asdict, replace

import numpy as np
import pytest
import torch
from torch.nn import functional

import oscsim
from models.data import load_data
from models.osn import OSNConfig, OSNLanguageModel, locked_range
from oscsim.errors import SpecError

PASSAGE = "Alice was beginning to get very tired of sitting by her sister on the\nbank"
SHAPE = OSNConfig(width=32, blocks=3, heads=2, channels=4, hidden=48, context=64)


def _model(config=SHAPE):
    torch.manual_seed(8)
    model = OSNLanguageModel(config)
    model.prepare(_passages())
    return model.eval()


def _passages(count=8, offset=0):
    return load_data("alice").train[offset:].long().unfold(0, SHAPE.context, 5000)[:count]


@pytest.fixture(scope="module")
def model():
    return _model()


def _heads(model, block):
    layer = model.layer(block)
    with torch.no_grad():
        hidden = model.layer_inputs(model.encode(PASSAGE).unsqueeze(0))[block]
        return layer.attend(layer.oscillators(hidden))[0].numpy()


@pytest.mark.parametrize("causal", [True, False])
def test_double_model_equals_the_reference_on_real_text(causal):
    model = _model(replace(SHAPE, causal=causal)).double()
    model.use("eager")
    for block in range(SHAPE.blocks):
        spec = model.to_spec(PASSAGE, block=block)
        assert spec.mask == ("causal" if causal else "full")
        np.testing.assert_allclose(_heads(model, block), oscsim.solve(spec).output, atol=1e-11)


@pytest.mark.parametrize("block", range(3))
def test_single_model_agrees_with_the_double_one(model, block):
    spec = model.to_spec(PASSAGE, block=block)
    single = oscsim.solve(spec)
    assert single.conditioning is not None
    condition = np.minimum(single.conditioning.condition, 1e3)
    scale = np.abs(spec.values).max()
    allowed = 1e-5 * scale * (single.weights * condition).sum(axis=-1, keepdims=True)
    assert np.all(np.abs(_heads(model, block) - single.output) <= np.maximum(allowed, 1e-5 * scale))


def test_spec_of_text_of_bytes_and_of_tokens_are_the_same_layer(model):
    from_text = model.to_spec(PASSAGE, block=1, dynamics="clamped", duration=2.0)
    for passage in (PASSAGE.encode(), model.encode(PASSAGE)):
        assert from_text == model.to_spec(passage, block=1, dynamics="clamped", duration=2.0)
    assert from_text != model.to_spec(PASSAGE, block=0, dynamics="clamped", duration=2.0)
    assert (from_text.dynamics, from_text.duration) == ("clamped", 2.0)


def test_to_spec_ignores_dropout_and_implementation_and_leaves_the_mode_alone(model):
    expected = model.to_spec(PASSAGE, block=1)
    model.train()
    model.use("native")
    try:
        assert model.to_spec(PASSAGE, block=1) == expected
        assert model.training and model.layer(1).implementation == "native"
    finally:
        model.eval()
        model.use(None)


def test_implementations_agree(model):
    tokens = _passages(2, offset=777)
    with torch.no_grad():
        model.use("eager")
        eager = model(tokens)
        model.use(None)
        own = model(tokens)
    # 1e-5 per condition and layer; a pair near its edge has a condition of up to 100
    assert not torch.equal(eager, own)
    torch.testing.assert_close(eager, own, atol=1e-3, rtol=0)


def test_losses_are_the_cross_entropy_and_the_weighted_penalty():
    model = _model(replace(SHAPE, locked_target=(0.9, 1.0), locked_weight=3.0))
    passages = _passages(8)
    tokens, targets = passages[:, :-1], passages[:, 1:]
    losses = model.losses(tokens, targets)
    expected = functional.cross_entropy(model(tokens).transpose(1, 2), targets)
    torch.testing.assert_close(losses.cross_entropy, expected)
    layers = [model.layer(block) for block in range(SHAPE.blocks)]
    quarter = [hidden[:2] for hidden in model.layer_inputs(tokens)]
    soft = torch.stack(
        [
            locked_range.soft_locked_fraction(layer, hidden, 0.2)
            for layer, hidden in zip(layers, quarter, strict=True)
        ]
    )
    torch.testing.assert_close(losses.penalty, 3.0 * (0.9 - soft).square().sum())
    (losses.cross_entropy + losses.penalty).backward()
    assert all(p.grad is not None and p.grad.isfinite().all() for p in model.parameters())


def test_groups_hold_every_parameter_once_and_slow_what_sets_locking(model):
    groups = model.parameter_groups(0.8, 0.1)
    held = [parameter for group in groups for parameter in group["params"]]
    assert sorted(map(id, held)) == sorted(map(id, model.parameters()))
    assert [(group["lr"], group["weight_decay"]) for group in groups] == [(0.2, 0.0), (0.8, 0.1), (0.8, 0.0)]
    slow = {id(parameter) for parameter in groups[0]["params"]}
    names = {name.split(".", 2)[2] for name, p in model.named_parameters() if id(p) in slow}
    assert names == {
        "attention.frequency.weight",
        *(f"attention.{n}" for n in ("ramp", "alpha_raw", "gain_raw")),
    }
    assert all(p.dim() > 1 for p in groups[1]["params"]) and all(p.dim() <= 1 for p in groups[2]["params"])


def test_an_encoder_has_outputs_but_no_next_byte_loss():
    model = _model(replace(SHAPE, causal=False))
    tokens = _passages(2)
    assert model(tokens).shape == (2, SHAPE.context, 256)
    with pytest.raises(SpecError, match="next byte is part of what"):
        model.losses(tokens[:, :-1], tokens[:, 1:])


def test_prepare_uses_the_configured_fraction():
    model = _model(replace(SHAPE, wanted_locked=0.3))
    assert (model.locked_fractions(_passages(8)) - 0.3).abs().max() < 0.02


@pytest.mark.parametrize(
    ("passage", "block", "message"),
    [
        ("", 0, "empty passage"),
        ("Alice", 3, "block 3; expected 0 to 2"),
        ("Alice", -1, "block -1; expected 0 to 2"),
        (torch.tensor([0, 256]), 0, "between 0 and 256; expected bytes"),
        (torch.tensor([[1, 2]]), 0, r"shape \(1, 2\)"),
        (torch.tensor([1.0, 2.0]), 0, "type torch.float32"),
    ],
)
def test_bad_passages_are_refused(model, passage, block, message):
    with pytest.raises(SpecError, match=message):
        model.to_spec(passage, block=block)


@pytest.mark.parametrize(
    "changes",
    [
        {"width": 30, "heads": 4},
        {"channels": 1},
        {"blocks": 0},
        {"context": 0},
        {"dropout": 1.0},
        {"wanted_locked": 1.0},
        {"frequency_rate": -1.0},
        {"locked_weight": float("nan")},
        {"locked_target": (0.8, 0.2)},
        {"locked_target": (0.2,)},
    ],
)
def test_impossible_configurations_are_refused(changes):
    with pytest.raises(SpecError, match=rf"{next(iter(changes))}: given .*expected"):
        OSNConfig(**changes)


def test_a_configuration_survives_json():
    import json

    assert OSNConfig(**json.loads(json.dumps(asdict(SHAPE)))) == SHAPE
