"""The shipped checkpoint is what its record says, and its synchronization is used."""

import pytest
import torch

import models
from models.evaluate import measure, passages
from models.fit import split_text
from models.text import text_digest


@pytest.fixture(scope="module")
def shipped():
    model = models.load_checkpoint()
    text = models.load_text()
    held_out = model.encode(split_text(text, model.record["training"]["held_out"])[1])
    return model, text, held_out


@pytest.fixture(scope="module")
def measured(shipped):
    model, _, held_out = shipped
    return measure(model, held_out)


def test_it_is_small_and_has_several_heads(shipped):
    assert models.shipped_checkpoint_path().stat().st_size < 2_000_000
    assert shipped[0].config.heads >= 2 and shipped[0].config.blocks >= 2


def test_it_was_trained_on_the_shipped_text_with_the_documented_command(shipped):
    model, text, _ = shipped
    assert model.record["text_sha256"] == text_digest(text)
    assert model.vocabulary == models.Vocabulary.of(text)
    given = {**model.record["training"], "locked_target": tuple(model.record["training"]["locked_target"])}
    assert models.TrainingConfig(**given) == models.TrainingConfig()
    assert model.config == models.OSNConfig()


def test_every_head_of_every_block_locks_between_a_fifth_and_four_fifths(shipped, measured):
    model, _, _ = shipped
    fractions = torch.tensor(measured["locked_fraction"])
    assert fractions.shape == (model.config.blocks, model.config.heads)
    assert ((fractions > 0.2) & (fractions < 0.8)).all()


def test_zeroing_the_synchronization_path_costs_bits(measured):
    bits = measured["bits_per_character"]
    assert bits < 2.3
    assert measured["bits_without_synchronization"] - bits >= 0.1
    assert all(alone - bits >= 0.1 for alone in measured["bits_without_block"])


def test_the_record_tells_what_is_measured_again(shipped, measured):
    record = shipped[0].record
    for key in ("bits_per_character", "bits_without_synchronization", "bits_without_block"):
        assert measured[key] == pytest.approx(record[key], abs=1e-3)
    for again, recorded in zip(measured["locked_fraction"], record["locked_fraction"], strict=True):
        assert again == pytest.approx(recorded, abs=2e-3)


def test_bits_are_counted_on_characters_with_at_least_half_a_context(shipped):
    """An independent count, one passage at a time, of the first few passages."""
    model, _, held_out = shipped
    some = held_out[:161]
    total, count = 0.0, 0
    for passage in passages(some, 65, 32):
        with torch.no_grad():
            logits = model(passage[None, :-1])[0].double()
        for position in range(32, 64):
            total -= torch.log2(torch.softmax(logits[position], dim=0)[passage[position + 1]]).item()
            count += 1
    assert count == 128
    assert models.bits_per_character(model, some) == pytest.approx(total / count, abs=1e-6)
