"""The shipped checkpoint is what its record says, and its synchronization is used."""

from copy import deepcopy
from dataclasses import replace

import pytest
import torch

import models
from models.presets import preset
from models.training.batches import windows


@pytest.fixture(scope="module")
def shipped():
    return models.load_checkpoint()


@pytest.fixture(scope="module")
def alice():
    return models.load_data("alice")


@pytest.fixture(scope="module")
def held_out(alice):
    return torch.cat([alice.validation, alice.test])


def without(model, blocks):
    """A copy of a model in which the synchronization of these blocks adds nothing."""
    silenced = deepcopy(model)
    for block in blocks:
        torch.nn.init.zeros_(silenced.layer(block).output.weight)
    return silenced


def test_it_is_small_and_has_several_heads(shipped):
    assert models.shipped_checkpoint_path().stat().st_size < 2_000_000
    assert shipped.config.heads >= 2 and shipped.config.blocks >= 2


def test_it_was_trained_on_the_shipped_text_with_the_documented_command(shipped, alice):
    config, training = preset("osn", "tiny")
    changed = {"blocks": 2, "hidden": 192, "context": 64, "dropout": 0.1, "locked_target": (0.25, 0.75)}
    assert shipped.config == replace(config, **changed)
    given = {**shipped.record["training"], "betas": tuple(shipped.record["training"]["betas"])}
    assert models.TrainingConfig(**given) == replace(training, steps=2500, learning_rate=8e-3, seed=2026)
    assert shipped.record["data"]["sha256"] == alice.digest


def test_every_head_of_every_block_locks_between_a_fifth_and_four_fifths(shipped, held_out):
    passages = windows(held_out, shipped.config.context)[:, :-1].long()
    fractions = shipped.locked_fractions(passages)
    assert fractions.shape == (shipped.config.blocks, shipped.config.heads)
    assert ((fractions > 0.2) & (fractions < 0.8)).all()


def test_silencing_the_synchronization_costs_bits(shipped, held_out):
    bits = models.bits_per_byte(shipped, held_out)
    assert bits < 2.4
    blocks = range(shipped.config.blocks)
    for silenced in ([block] for block in blocks):
        assert models.bits_per_byte(without(shipped, silenced), held_out) - bits >= 0.1
    assert models.bits_per_byte(without(shipped, blocks), held_out) - bits >= 0.5


def test_the_record_tells_what_is_measured_again(shipped, alice):
    for part in ("validation", "test"):
        again = models.bits_per_byte(shipped, getattr(alice, part))
        assert again == pytest.approx(shipped.record[f"{part}_bits_per_byte"], abs=1e-3)
