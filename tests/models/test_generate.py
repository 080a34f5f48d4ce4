"""Generation: what is drawn, from what, and that it can be repeated."""

import math

import pytest
import torch

from models.generate import generate
from models.language_model import BYTES, LanguageModel
from models.registry import config_class, model_class
from oscsim.errors import SpecError, TargetRunError


class Config:
    context = 4


class Table(LanguageModel):
    """Scores that depend on the last byte only; remembers what it was shown."""

    name = "table"

    def __init__(self, scores):
        super().__init__(Config())
        self.scores = torch.nn.Parameter(scores)
        self.seen = []

    def forward(self, tokens):
        self.seen.append(bytes(tokens[0].tolist()))
        assert not self.training
        return self.scores[tokens]


def counter():
    """After byte b the likeliest is b + 1, by far."""
    return Table(20.0 * torch.eye(BYTES).roll(1, dims=1))


def test_greedy_takes_the_likeliest_byte_and_the_window_slides():
    model = counter()
    assert generate(model, "abc", 4, temperature=0.0) == b"defg"
    assert model.seen == [b"abc", b"abcd", b"bcde", b"cdef"]
    assert model.training  # as it was before


def test_an_empty_prompt_starts_after_a_line_break():
    model = counter()
    assert generate(model, "", 2, temperature=0.0) == b"\x0b\x0c"
    assert model.seen[0] == b"\n"


def test_a_prompt_in_utf8_is_bytes():
    model = counter()
    generate(model, "né", 1, temperature=0.0)
    assert model.seen == ["né".encode()]


@pytest.mark.parametrize("temperature", [0.5, 1.0, 2.0])
def test_frequencies_follow_the_softmax(temperature):
    scores = torch.full((BYTES, BYTES), -math.inf)
    scores[:, :3] = torch.tensor([0.0, 1.0, 2.0])
    # masked bytes are not finite; a large negative number is as good
    model, count = Table(scores.clamp(min=-1e4)), 4000
    drawn = torch.tensor(list(generate(model, "x", count, temperature, seed=5)))
    expected = (torch.tensor([0.0, 1.0, 2.0]) / temperature).softmax(dim=0)
    shares = torch.bincount(drawn, minlength=3) / count
    # standard error of a share <= 1/(2 sqrt(count)); 4 of them fail once in 16,000 seeds
    torch.testing.assert_close(shares, expected, atol=4 * 0.5 / math.sqrt(count), rtol=0)


def test_a_seed_repeats_and_another_differs():
    model = Table(torch.zeros(BYTES, BYTES))
    first = generate(model, "x", 30, seed=1)
    assert first == generate(model, "x", 30, seed=1) != generate(model, "x", 30, seed=2)
    before = torch.get_rng_state()
    generate(model, "x", 3, seed=9)
    assert torch.equal(before, torch.get_rng_state())


def test_extreme_temperatures_stay_numbers():
    assert generate(counter(), "a", 3, temperature=1e-300) == b"bcd"
    assert len(generate(counter(), "a", 3, temperature=1e300)) == 3


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        ((1, -0.1), "temperature"),
        ((1, math.nan), "temperature"),
        ((1, math.inf), "temperature"),
        ((-1, 1.0), "bytes"),
        ((1, 1.0, -1), "seed"),
        ((1, 1.0, 2**63), "seed"),
    ],
)
def test_bad_arguments(arguments, word):
    with pytest.raises(SpecError, match=f"{word}: given"):
        generate(counter(), "a", *arguments)


def test_a_broken_model_is_named_as_such():
    with pytest.raises(TargetRunError, match="not finite"):
        generate(Table(torch.full((BYTES, BYTES), math.nan)), "a", 1)


@pytest.mark.parametrize("name", ["transformer", "kuramoto", "osn"])
def test_every_model_writes_from_one_byte_to_beyond_its_context(name):
    torch.manual_seed(0)
    model = model_class(name)(config_class(name)(width=16, heads=2, blocks=1, hidden=16, context=8))
    written = generate(model, "", 12, seed=3)
    assert len(written) == 12
    assert written == generate(model, "", 12, seed=3)
