"""Initialisation reaches the wanted locked fraction on inputs it was not measured on."""

import pytest
import torch
from torch.nn import functional

from models.data import load_data
from models.osn import OSNConfig, OSNLanguageModel, SynchronizationAttention, initialise_layer
from models.osn.locked_range import locked_fraction

CHANNELS = [4, 8, 16, 32, 64, 128]
CONTEXT = 128


def _normed(count=8):
    """What a LayerNorm makes of independent random tokens."""
    return functional.layer_norm(torch.randn(count, CONTEXT, 64), (64,))


def _passages(offset):
    train = load_data("alice").train.long()
    return train[offset:].unfold(0, CONTEXT, 16_000)[:8]


@pytest.mark.parametrize("wanted", [0.2, 0.5])
@pytest.mark.parametrize("channels", CHANNELS)
@pytest.mark.parametrize("share", [(0.95, 0.6), (0.05, 0.05)])
def test_fresh_random_inputs_lock_as_wanted(channels, wanted, share):
    """The second share leaves little to the ramp: distances concentrate there, and locking is sharp."""
    torch.manual_seed(channels)
    layer = SynchronizationAttention(64, 2, channels, causal=share[0] > 0.5)
    initialise_layer(layer, _normed(), wanted, position_share=share)
    layer.implementation = "eager"
    assert (locked_fraction(layer, _normed()) - wanted).abs().max() <= 0.05


@pytest.mark.parametrize("wanted", [0.2, 0.5])
@pytest.mark.parametrize("channels", CHANNELS)
def test_fresh_text_locks_as_wanted_in_every_head_of_every_block(channels, wanted):
    torch.manual_seed(channels)
    shape = {"width": 64, "blocks": 4, "heads": 4, "hidden": 128, "context": CONTEXT}
    model = OSNLanguageModel(OSNConfig(**shape, channels=channels, wanted_locked=wanted))
    model.prepare(_passages(0))
    fractions = model.locked_fractions(_passages(5_000))
    assert fractions.shape == (4, 4)
    assert (fractions - wanted).abs().max() <= 0.05


def test_an_untuned_layer_locks_almost_nothing():
    """What the initialisation is for."""
    torch.manual_seed(0)
    layer = SynchronizationAttention(width=64, heads=4, channels=16)
    hidden = torch.randn(4, 64, 64)
    assert locked_fraction(layer, hidden).mean() < 0.05
    initialise_layer(layer, hidden, 0.5)
    assert abs(locked_fraction(layer, hidden).mean() - 0.5) < 0.01


def test_heads_start_with_different_windows():
    torch.manual_seed(0)
    layer = SynchronizationAttention(width=16, heads=4, channels=4)
    initialise_layer(layer, torch.randn(4, 64, 16), 0.4)
    assert layer.alpha.unique().numel() == 4 and layer.ramp.unique().numel() == 4


@pytest.mark.parametrize("wanted", [0.0, 1.0, -0.5, float("nan")])
def test_impossible_fractions_are_refused(wanted):
    from oscsim.errors import SpecError

    layer = SynchronizationAttention(width=8, heads=2, channels=4)
    with pytest.raises(SpecError, match="between 0 and 1"):
        initialise_layer(layer, torch.randn(1, 8, 8), wanted)


@pytest.mark.parametrize(
    ("hidden", "message"), [(torch.randn(3, 1, 8), "N >= 2"), (torch.ones(2, 8, 8), "all alike")]
)
def test_inputs_without_pairs_or_differences_are_refused(hidden, message):
    layer = SynchronizationAttention(width=8, heads=2, channels=4)
    with torch.no_grad():
        layer.ramp.zero_()
    with pytest.raises(ValueError, match=message):
        initialise_layer(layer, hidden, 0.5)
