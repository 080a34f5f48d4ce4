"""The monitor warns, and the regulariser pulls a layer back from either side."""

import warnings
from dataclasses import replace

import pytest
import torch

from models.data import load_data
from models.osn import LockedFractionWarning, OSNConfig, OSNLanguageModel, warn_if_outside
from models.osn.locked_range import locked_fraction_penalty, soft_locked_fraction, watched_range
from models.training import TrainingConfig, train


def _model(scale):
    torch.manual_seed(0)
    model = OSNLanguageModel(OSNConfig(width=16, blocks=1, heads=2, hidden=16, context=48))
    tokens = load_data("alice").train[: 16 * 48].long().view(16, 48)
    model.prepare(tokens)
    with torch.no_grad():
        model.layer(0).ramp.mul_(scale)
        model.layer(0).frequency.weight.mul_(scale)
    return model, tokens


def _penalty(model, tokens, target):
    return locked_fraction_penalty([model.layer(0)], model.layer_inputs(tokens), target)


def test_the_monitor_names_the_head_and_is_silent_inside():
    with pytest.warns(LockedFractionWarning, match=r"step 7: block 1 head 0 locks 10.0%"):
        warn_if_outside(torch.tensor([[0.5, 0.2], [0.1, 0.8]]), 7, watched_range((0.25, 0.75)))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warn_if_outside(torch.tensor([[0.5, 0.21], [0.3, 0.79]]), 7, watched_range((0.25, 0.75)))


@pytest.mark.parametrize("scale", [4.0, 0.25])
def test_a_model_is_watched(scale):
    model, tokens = _model(1.0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.watch(tokens, step=3)
    model, tokens = _model(scale)
    with pytest.warns(LockedFractionWarning, match="step 3: block 0 head"):
        model.watch(tokens, step=3)


def test_soft_fraction_tends_to_the_locked_fraction():
    model, tokens = _model(1.0)
    hidden = model.layer_inputs(tokens)[0]
    hard = model.locked_fractions(tokens)[0]
    gaps = [
        (soft_locked_fraction(model.layer(0), hidden, softness).double() - hard).abs().max().item()
        for softness in (0.5, 0.02)
    ]
    assert gaps[1] < 0.01 and gaps[1] < gaps[0]


@pytest.mark.parametrize("scale", [4.0, 0.25])
def test_the_penalty_brings_a_head_back(scale):
    model, tokens = _model(scale)
    start = model.locked_fractions(tokens)
    assert ((start < 0.2) | (start > 0.8)).all()
    optimiser = torch.optim.Adam(model.layer(0).parameters(), lr=0.02)
    for _ in range(60):
        optimiser.zero_grad()
        _penalty(model, tokens, (0.3, 0.7)).backward()
        optimiser.step()
    end = model.locked_fractions(tokens)
    assert ((end > 0.2) & (end < 0.8)).all()


def test_the_penalty_is_zero_inside_and_finite_for_a_dead_layer():
    model, tokens = _model(1.0)
    assert _penalty(model, tokens, (0.1, 0.9)).item() == 0.0
    with torch.no_grad():
        model.layer(0).gain_raw.fill_(-200.0)
        model.layer(0).ramp.zero_()
    _penalty(model, tokens, (0.1, 0.9)).backward()
    for parameter in model.layer(0).parameters():
        assert parameter.grad is None or torch.isfinite(parameter.grad).all()


def test_a_single_token_has_no_pair_and_no_gradient():
    model, tokens = _model(1.0)
    penalty = _penalty(model, tokens[:, :1], (0.0, 0.9))
    penalty.backward()
    assert penalty.item() == 0.0


def test_a_training_warns_of_heads_out_of_range(tmp_path):
    config = OSNConfig(width=16, blocks=1, heads=2, hidden=16, context=48, locked_weight=0.0)
    narrow = replace(config, wanted_locked=0.02)
    training = TrainingConfig(learning_rate=1e-4, steps=2, batch=2, validation_windows=2)
    with pytest.warns(LockedFractionWarning, match="step 2: block 0 head"):
        train("osn", narrow, training, load_data("alice"), tmp_path / "narrow")
    with warnings.catch_warnings():
        warnings.simplefilter("error", LockedFractionWarning)
        train("osn", config, training, load_data("alice"), tmp_path / "fine")
