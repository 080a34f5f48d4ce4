"""Initialisation reaches the wanted locked fraction on text it was not measured on."""

import pytest
import torch

import models
from oscsim.errors import SpecError


@pytest.fixture(scope="module")
def tokens():
    text = models.load_text()
    return models.Vocabulary.of(text).encode(text)[: 160 * 64].view(160, 64)


@pytest.mark.parametrize("wanted", [0.2, 0.5, 0.8])
def test_every_head_of_every_block_starts_at_the_wanted_fraction(tokens, wanted):
    torch.manual_seed(0)
    model = models.OSNLanguageModel(models.OSNConfig(blocks=3), models.Vocabulary.of(models.load_text()))
    models.initialise_model(model, tokens[::10], wanted)
    fractions = models.locked_fractions(model, tokens[5::10])
    assert fractions.shape == (3, 4)
    assert (fractions - wanted).abs().max() <= 0.05


def test_an_untuned_layer_locks_almost_nothing_or_everything(tokens):
    """What the initialisation is for: default linear layers do not land between."""
    torch.manual_seed(0)
    layer = models.SynchronizationAttention(width=64, heads=4, channels=16)
    below = torch.ones(64, 64).tril(-1).bool()
    hidden = torch.randn(4, 64, 64)
    assert layer.locked(hidden)[..., below].float().mean() < 0.05
    models.initialise_layer(layer, hidden, 0.5)
    assert abs(layer.locked(hidden)[..., below].float().mean() - 0.5) < 0.01


def test_heads_start_with_different_windows(tokens):
    torch.manual_seed(0)
    layer = models.SynchronizationAttention(width=16, heads=4, channels=4)
    models.initialise_layer(layer, torch.randn(4, 64, 16), 0.4)
    assert layer.alpha.unique().numel() == 4 and layer.ramp.unique().numel() == 4


@pytest.mark.parametrize("wanted", [0.0, 1.0, -0.5, float("nan")])
def test_impossible_fractions_are_refused(wanted):
    layer = models.SynchronizationAttention(width=8, heads=2, channels=4)
    with pytest.raises(SpecError, match="between 0 and 1"):
        models.initialise_layer(layer, torch.randn(1, 8, 8), wanted)


def test_a_passage_without_pairs_is_refused():
    layer = models.SynchronizationAttention(width=8, heads=2, channels=4)
    with pytest.raises(SpecError, match="N >= 2"):
        models.initialise_layer(layer, torch.randn(3, 1, 8), 0.5)


def test_inputs_without_any_difference_are_refused():
    layer = models.SynchronizationAttention(width=8, heads=2, channels=4)
    with pytest.raises(SpecError, match="all alike"):
        models.initialise_layer(layer, torch.ones(2, 8, 8), 0.5)
