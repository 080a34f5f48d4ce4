"""Bits per byte: against probabilities known by hand, window by window."""

import math

import pytest
import torch

from models.evaluate import bits_per_byte, standard_error, window_bits
from models.language_model import BYTES, LanguageModel
from oscsim.errors import SpecError


class Config:
    context = 4


class Bigram(LanguageModel):
    """After byte b: b + 1 with probability 1/2, all others share the rest."""

    name = "bigram"

    def __init__(self):
        super().__init__(Config())
        rest = math.log(0.5 / (BYTES - 1))
        self.scores = torch.nn.Parameter(
            torch.full((BYTES, BYTES), rest) + (math.log(0.5) - rest) * torch.eye(BYTES).roll(1, dims=1)
        )

    def forward(self, tokens):
        assert not self.training
        return self.scores[tokens]


# a float32 sum of 256 exponentials: 256 roundings of 2^-24 each, in bits
ROUNDING = 256 * 2**-24 / math.log(2.0)
RIGHT, WRONG = 1.0, math.log2(2 * (BYTES - 1))


def test_each_window_on_its_own():
    # windows 0-4 (4 right), 4-8 (3 right, one wrong), and a remainder that is left out
    tokens = torch.tensor([0, 1, 2, 3, 4, 5, 6, 9, 10, 99], dtype=torch.uint8)
    bits = window_bits(Bigram(), tokens)
    expected = torch.tensor([RIGHT, (3 * RIGHT + WRONG) / 4], dtype=torch.float64)
    torch.testing.assert_close(bits, expected, atol=ROUNDING, rtol=0)
    assert bits_per_byte(Bigram(), tokens) == pytest.approx(expected.mean().item(), abs=ROUNDING)
    half_gap = (expected[1] - expected[0]).item() / 2
    assert standard_error(bits) == pytest.approx(half_gap, abs=ROUNDING)


@pytest.mark.parametrize("batch", [1, 3, 17])
def test_the_batch_changes_nothing(batch):
    tokens = torch.randint(0, 256, (45,), generator=torch.Generator().manual_seed(0))
    torch.testing.assert_close(window_bits(Bigram(), tokens, batch), window_bits(Bigram(), tokens))


def test_limit_takes_evenly_spaced_windows():
    tokens = torch.randint(0, 256, (41,), generator=torch.Generator().manual_seed(0))
    torch.testing.assert_close(
        window_bits(Bigram(), tokens, limit=5), window_bits(Bigram(), tokens)[torch.arange(0, 10, 2)]
    )


def test_the_mode_is_put_back():
    model = Bigram().train()
    bits_per_byte(model, torch.zeros(5).byte())
    assert model.training
    model.eval()
    bits_per_byte(model, torch.zeros(5).byte())
    assert not model.training


def test_one_window_has_no_standard_error():
    assert math.isnan(standard_error(torch.ones(1)))


def test_too_few_bytes():
    with pytest.raises(SpecError, match="more than 4 bytes"):
        bits_per_byte(Bigram(), torch.zeros(4).byte())
